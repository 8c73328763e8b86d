#include "cli/manager.h"

#include "base/os/time.h"
#include "base/str.h"
#include "base/visible.h"

#include <gale/clock.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FEEDS = 4 }; /* in the time that the dog waits */

static const int64_t more_time = 10 * GALE_SECOND;

/* --- The environment ------------------------------------------------------------------------------------------------ */

static bool read_number(const char *name, uint64_t *ret_number) {
    const char *text = getenv(name);
    return text && gx_str_number(gx_str(text), 10, INT64_MAX / 1000, ret_number);
}

/* The dog may be another process's. */
static int64_t read_watchdog(void) {
    uint64_t pid, microseconds;
    if (read_number("WATCHDOG_PID", &pid) && pid != (uint64_t)getpid()) return 0;
    return read_number("WATCHDOG_USEC", &microseconds) ? (int64_t)microseconds * 1000 : 0;
}

void gx_manager_begin(gx_manager *manager, const gale_logger *logger) {
    gale_error error = GALE_ERROR_INIT;
    const char *address = getenv("NOTIFY_SOCKET");
    *manager = (gx_manager){ .notify = GX_NOTIFY_INIT };
    if (address && gx_notify_open(&manager->notify, address, &error) < 0)
        gale_log(logger, GALE_LOG_WARN, NULL, "NOTIFY_SOCKET: %s", error.text);
    if (manager->notify.fd >= 0) manager->watchdog = read_watchdog();
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
}

void gx_manager_end(gx_manager *manager) {
    gx_notify_close(&manager->notify);
}

/* --- What is told --------------------------------------------------------------------------------------------------- */

/* Without what would make another line of it. */
static void tell(gx_manager *manager, const char *what, const char *status) {
    char lines[500];
    if (status) gx_visible_copy(manager->status, sizeof manager->status, status);
    snprintf(lines, sizeof lines, "%s%s%s%s", what, *what && status ? "\n" : "", status ? "STATUS=" : "",
             status ? manager->status : "");
    (void)gx_notify_send(&manager->notify, lines);
}

void gx_manager_ready(gx_manager *manager, const char *status) {
    tell(manager, "READY=1", status);
}

void gx_manager_status(gx_manager *manager, const char *status) {
    char line[sizeof manager->status];
    if (strcmp(gx_visible_copy(line, sizeof line, status), manager->status) != 0) tell(manager, "", status);
}

void gx_manager_reloading(gx_manager *manager) {
    char lines[80];
    snprintf(lines, sizeof lines, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, gx_os_monotonic() / 1000);
    tell(manager, lines, NULL);
}

void gx_manager_stopping(gx_manager *manager, int64_t now, int64_t until) {
    char lines[60];
    if (!manager->stopping) tell(manager, "STOPPING=1", NULL);
    manager->stopping = true;
    snprintf(lines, sizeof lines, "EXTEND_TIMEOUT_USEC=%" PRId64, more_time / 1000);
    if (now < until) tell(manager, lines, NULL);
}

/* --- The dog -------------------------------------------------------------------------------------------------------- */

static void tell_starving(gx_manager *manager, const gx_pulse *pulse, const gale_logger *logger) {
    if (manager->starves) return;
    manager->starves = true;
    gale_log(logger, GALE_LOG_ERROR, pulse->component,
             "executor %u is in a call of '%s' (task %u) for %.1f s: the service manager's watchdog is not fed",
             pulse->executor, pulse->component, pulse->task, (double)pulse->lasts / 1e9);
}

void gx_manager_feed(gx_manager *manager, const gale_runtime *runtime, const gale_logger *logger, int64_t now) {
    gx_pulse pulse;
    if (!manager->watchdog || now < manager->next_feed) return;
    manager->next_feed = now + manager->watchdog / FEEDS;
    if (gx_pulse_feel(runtime, manager->watchdog / 2, &pulse)) {
        tell(manager, "WATCHDOG=1", NULL);
        manager->starves = false;
    } else {
        tell_starving(manager, &pulse, logger);
    }
}
