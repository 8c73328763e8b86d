/* What a service manager (systemd) is told of a run: that it is ready, how it is in a line, that it moves, that it ends.
 *
 * What:    READY=1 when all is open; STATUS= a line a second, when it has changed; WATCHDOG=1 as long as the run moves: an executor that does not
 *          come back from a component's call for half of WATCHDOG_USEC has the dog starve, and the log says which (a component that says that
 *          it blocks may); RELOADING=1 with MONOTONIC_USEC, and READY=1 again; STOPPING=1, and then EXTEND_TIMEOUT_USEC as long as
 *          the end is on its way within its own bound.
 *          $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID are taken out of the environment: commands that a topology starts do not speak for it.
 * Threads: the main thread; gx_manager_begin before any other is started.
 */
#ifndef GX_CLI_MANAGER_H
#define GX_CLI_MANAGER_H

#include "base/os/notify.h"
#include "cli/pulse.h"

#include <gale/log.h>

typedef struct gx_manager {
    gx_notify notify;
    int64_t watchdog; /* ns; 0: none is kept */
    int64_t next_feed;
    bool starves;  /* and the log was told */
    bool stopping; /* and the manager was told */
    char status[400];
} gx_manager;

/* From the environment. What cannot be is told by the log, and nobody is told anything. */
void gx_manager_begin(gx_manager *manager, const gale_logger *logger);
void gx_manager_end(gx_manager *manager);

/* `status`: a line, or NULL. */
void gx_manager_ready(gx_manager *manager, const char *status);
void gx_manager_status(gx_manager *manager, const char *status);
void gx_manager_reloading(gx_manager *manager);

/* Ends are told once; each time, that one that goes on until `until` (gx_os_monotonic) needs time. */
void gx_manager_stopping(gx_manager *manager, int64_t now, int64_t until);

/* Feeds the dog when it is time for that. */
void gx_manager_feed(gx_manager *manager, const gale_runtime *runtime, const gale_logger *logger, int64_t now);

#endif
