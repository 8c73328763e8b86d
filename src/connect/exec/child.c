#include "connect/exec/child.h"

#include "base/os/time.h"
#include "base/str.h"

#include <gale/watch.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { OWN_SETTINGS = 2 };

/* --- What it is made of ---------------------------------------------------------------------------------------------- */

static size_t environment_size(const gx_exec_settings *settings) {
    return (settings->changes + OWN_SETTINGS + 1) * sizeof(char *);
}

static void fill_environment(gx_exec_child *child) {
    const gale_context *context = child->context;
    const gx_exec_settings *settings = child->settings;
    snprintf(child->numbers[0], sizeof child->numbers[0], "GALE_TASK=%u", context->task_index);
    snprintf(child->numbers[1], sizeof child->numbers[1], "GALE_TASKS=%u", context->task_count);
    for (size_t i = 0; i < OWN_SETTINGS; i++) child->environment[i] = child->numbers[i];
    if (settings->changes)
        memcpy(child->environment + OWN_SETTINGS, settings->run.environment, settings->changes * sizeof(char *));
    child->environment[OWN_SETTINGS + settings->changes] = NULL;
}

int gx_exec_child_init(gx_exec_child *child, const gx_exec_settings *settings, gx_instance *instance,
                       gale_collector *out, void (*ended)(void *user), void *user) {
    *child = (gx_exec_child){ .settings = settings,
                              .context = instance->context,
                              .out = out,
                              .heap = &instance->heap,
                              .process = GX_PROCESS_NONE,
                              .last = GALE_ERROR_INIT,
                              .ended = ended,
                              .user = user };
    gx_exec_said_init(&child->said, child->context, settings->name, settings->run.errors == GALE_EXEC_LOG);
    child->environment = gx_alloc(child->heap, GX_TAG_OTHER, environment_size(settings));
    if (!child->environment) return GALE_NO_MEMORY;
    fill_environment(child);
    return 0;
}

void gx_exec_child_fini(gx_exec_child *child) {
    gx_process_fini(&child->process);
    gx_exec_said_end(&child->said, child->out);
    if (child->environment) gx_free(child->heap, GX_TAG_OTHER, child->environment, environment_size(child->settings));
    child->environment = NULL;
}

/* --- Its life -------------------------------------------------------------------------------------------------------- */

static int64_t now(const gx_exec_child *child) {
    return gale_context_now(child->context);
}

static void note_end(gx_exec_child *child) {
    if (child->watch) (void)gale_watch_free(child->out, child->watch);
    child->watch = 0;
    gx_exec_said_end(&child->said, child->out);
    gx_process_fini(&child->process); /* its descriptor goes behind its watch */
    child->runs = false;
}

/* Where the kernel does not tell, it is looked after. */
static int told(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    gx_exec_child *child = user;
    (void)events;
    if (!gx_process_ended(&child->process))
        return child->process.pidfd >= 0 ? 0 : gale_watch_set(out, watch, 0, now(child) + GX_PROCESS_LOOK);
    note_end(child);
    child->ended(child->user);
    return 0;
}

static int watch_end(gx_exec_child *child) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.fd = child->process.pidfd;
    if (options.fd >= 0)
        options.events = GALE_WATCH_READ;
    else
        options.at = now(child) + GX_PROCESS_LOOK;
    options.always = true;
    options.call = told;
    options.user = child;
    return gale_watch_new(child->out, &options, &child->watch);
}

static int explain_watch(gx_exec_child *child, int rc) {
    const char *why = rc == GALE_UNSUPPORTED ? "where this runs, no descriptors are watched" : gale_error_text(rc);
    return gale_error_set(&child->last, rc, "command '%s' cannot be run: %s", child->settings->name, why);
}

int gx_exec_child_abandon(gx_exec_child *child, int rc) {
    note_end(child);
    return explain_watch(child, rc);
}

static int listen_to(gx_exec_child *child, int fd) {
    int rc = gx_exec_said_begin(&child->said, child->out, fd);
    if (rc == 0) rc = watch_end(child);
    return rc == 0 ? 0 : gx_exec_child_abandon(child, rc);
}

int gx_exec_child_begin(gx_exec_child *child, gx_process_fd *pipe) {
    const gale_exec_command *run = &child->settings->run;
    gx_process_fd fds[] = { *pipe, { .at = 2, .kind = GX_PROCESS_WRITES } };
    gx_process_options options = { .words = run->words,
                                   .command = run->command,
                                   .environment = child->environment,
                                   .folder = run->folder,
                                   .fds = fds,
                                   .fd_count = 2 };
    child->last = (gale_error)GALE_ERROR_INIT;
    child->began = now(child);
    int rc = gx_process_start(&child->process, child->heap, &options, &child->last);
    if (rc < 0) return rc;
    *pipe = fds[0];
    rc = listen_to(child, fds[1].fd);
    child->runs = rc == 0;
    return rc;
}

bool gx_exec_child_succeeded(const gx_exec_child *child) {
    return !child->last.length && gx_process_succeeded(&child->process);
}

int gx_exec_child_words(const gx_exec_child *child, int code, gale_error *error) {
    char how[GX_PROCESS_WORDS], said[2 * GX_EXEC_LAST];
    const char *last = gx_exec_said_last(&child->said, said);
    if (child->last.length) return gale_error_set(error, code, "%s", child->last.text);
    return gale_error_set(error, code, "command '%s' %s%s%s", child->settings->name,
                          gx_process_words(&child->process, how), *last ? ": " : "", last);
}

/* --- Again ----------------------------------------------------------------------------------------------------------- */

static int64_t pause_of(const gx_exec_child *child) {
    const gx_exec_settings *settings = child->settings;
    int64_t pause = settings->wait;
    for (uint32_t i = 1; i < child->failed && pause < settings->wait_max; i++) pause *= 2;
    if (pause > settings->wait_max) pause = settings->wait_max;
    return pause / 2 + (int64_t)(gale_context_random(child->context) % (uint64_t)(pause / 2 + 1));
}

/* One that has failed, and its place in a row of them. */
static bool may_fail_so_often(gx_exec_child *child) {
    const gx_exec_settings *settings = child->settings;
    if (now(child) - child->began >= settings->wait_max) child->failed = 0;
    child->failed++;
    return !settings->run.restart_max || child->failed <= settings->run.restart_max;
}

bool gx_exec_child_again(gx_exec_child *child, int64_t *ret_due) {
    int32_t restart = child->settings->run.restart;
    gale_error error = GALE_ERROR_INIT;
    bool succeeded = gx_exec_child_succeeded(child);
    if (succeeded) child->failed = 0;
    if (restart == GALE_EXEC_NEVER || (succeeded && restart != GALE_EXEC_ALWAYS)) return false;
    if (!succeeded && !may_fail_so_often(child)) return false;
    int64_t pause = pause_of(child);
    *ret_due = now(child) + pause;
    (void)gx_exec_child_words(child, GALE_COMPONENT, &error);
    if (!succeeded) gale_health(child->out, error.text);
    child->unwell = !succeeded;
    gale_log(child->context->logger, GALE_LOG_INFO, child->context->component, "%s: it is started again in %.3g s",
             error.text, (double)pause / (double)GALE_SECOND);
    return true;
}

void gx_exec_child_tell_well(gx_exec_child *child) {
    child->unwell = false;
    gale_health(child->out, NULL);
}

/* --- Its end --------------------------------------------------------------------------------------------------------- */

int64_t gx_exec_child_urge(gx_exec_child *child) {
    int64_t again = gx_process_end(&child->process, now(child), child->settings->stop_wait);
    if (!child->runs || !gx_process_ended(&child->process)) return again;
    note_end(child);
    child->ended(child->user);
    return INT64_MAX;
}

bool gx_exec_child_await(gx_exec_child *child, int64_t until) {
    while (child->runs && !gx_process_ended(&child->process)) {
        int64_t left = until - gx_os_monotonic();
        if (left <= 0) return false;
        struct pollfd news[] = { { .fd = child->process.pidfd, .events = POLLIN },
                                 { .fd = child->said.fd, .events = POLLIN } };
        int64_t pause = news[0].fd < 0 && left > GX_PROCESS_LOOK ? GX_PROCESS_LOOK : left;
        int64_t milliseconds = pause / GALE_MILLISECOND + 1;
        int ready = poll(news, 2, milliseconds < INT32_MAX ? (int)milliseconds : INT32_MAX);
        if (ready > 0 && news[1].revents && !gx_exec_said_read(&child->said) && (news[1].revents & POLLHUP))
            gx_exec_said_end(&child->said, child->out); /* it would be readable for ever */
    }
    if (child->runs) note_end(child);
    return true;
}

static int64_t later(int64_t pause) {
    int64_t moment = gx_os_monotonic();
    return pause > INT64_MAX - moment ? INT64_MAX : moment + pause;
}

bool gx_exec_child_end(gx_exec_child *child, int64_t patience) {
    if (child->runs && !child->process.told) (void)gx_process_end(&child->process, gx_os_monotonic(), patience);
    if (gx_exec_child_await(child, later(patience))) return false;
    note_end(child);
    return true;
}
