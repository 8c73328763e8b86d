/* What a child says on its standard error: lines for the log, and its last words.
 *
 * What:    all that comes is read, whatever the task may do, so that the child is never held back; little of it is logged:
 *          GX_EXEC_SAID_MAX bytes of a line, GX_EXEC_SAID_RATE lines a second, made fit to be read. What is left out is counted and told.
 * Threads: the task's. Owner: the task's; the descriptor is its own from gx_exec_said_begin on. Allocates nothing. */
#ifndef GX_CONNECT_EXEC_SAID_H
#define GX_CONNECT_EXEC_SAID_H

#include "base/port.h"

#include <gale/component.h>

enum { GX_EXEC_SAID_MAX = 1000, GX_EXEC_SAID_RATE = 10, GX_EXEC_LAST = 200 };

typedef struct gx_exec_said {
    const gale_context *context;
    const char *name; /* of the command */
    bool logs;
    int fd;         /* -1: its end has come */
    uint64_t watch; /* gale_watch; 0: none */
    int64_t second; /* when the one began that `logged` counts in */
    uint32_t logged;
    uint64_t left_out;
    size_t size; /* of the line that has no end yet */
    char line[GX_EXEC_SAID_MAX + 1];
    char last[GX_EXEC_LAST]; /* line that was not empty */
    size_t last_size;
} gx_exec_said;

void gx_exec_said_init(gx_exec_said *said, const gale_context *context, const char *name, bool logs);

/* A new child's. Errors of gale_watch_new: the descriptor is closed. */
int gx_exec_said_begin(gx_exec_said *said, gale_collector *out, int fd);

/* The last line that was not empty, cut, and fit to be read; "": none. Returns `to`. */
const char *gx_exec_said_last(const gx_exec_said *said, char to[2 * GX_EXEC_LAST]);

/* Takes some of what there is. False when there is nothing now, or no more. */
bool gx_exec_said_read(gx_exec_said *said);

/* The child has ended: takes what it has left, and closes. */
void gx_exec_said_end(gx_exec_said *said, gale_collector *out);

#endif
