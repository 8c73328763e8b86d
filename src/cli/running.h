/* The topologies that this user runs: whoever has a socket in the folder for them ($XDG_RUNTIME_DIR/gale, or /tmp/gale-UID).
 *
 * What:    a socket is NAME.PID.sock. One that nobody listens at, and whose process has gone, is removed by whoever finds it. A run is meant by its name,
 *          by its number, or by both ("word-count.4711"); where one name is two runs', only a number will do.
 * Threads: one at a time. Errors: GALE_NOT_FOUND, GALE_EXISTS (more than one is meant), GALE_INVALID (the folder is not ours alone), GALE_IO.
 * Limits:  GX_RUNNING_MAX.
 */
#ifndef GX_CLI_RUNNING_H
#define GX_CLI_RUNNING_H

#include "serve/door.h"

enum { GX_RUNNING_MAX = 256 };

typedef struct gx_running {
    char path[GX_DOOR_PATH];
    char name[GX_DOOR_PATH]; /* of a long one the beginning */
    uint64_t pid;
} gx_running;

typedef struct gx_runnings {
    gx_running list[GX_RUNNING_MAX]; /* by name, then by number */
    size_t count;
    bool more; /* than there is room for */
} gx_runnings;

int gx_running_list(gx_runnings *ret_all, gale_error *error);

/* `wanted` NULL: the only one. */
int gx_running_find(const char *wanted, gx_running *ret_running, gale_error *error);

/* Reads "NAME.PID.sock". False: it is nothing of ours. */
bool gx_running_read(const char *file, gx_running *ret_running);

#endif
