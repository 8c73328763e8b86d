/* An answer without an end: bytes on their way from a thread that writes to a door's thread, which sends them.
 *
 * What:    who writes never waits: it looks at how much waits, and leaves out what is too much (gx_outflow_waiting). Who sends and finds
 *          nothing goes to sleep, and is woken by the next that is written, or by the end.
 * Threads: one that writes, one that sends. Owner: both; it goes when both have left, gx_outflow_end and gx_outflow_leave.
 * Limits:  the writer's. Errors: what there is no memory for is not written.
 */
#ifndef GX_SERVE_OUTFLOW_H
#define GX_SERVE_OUTFLOW_H

#include "base/port.h"

#include <gale/base.h>

typedef struct gx_outflow gx_outflow;

/* NULL when memory is out. */
gx_outflow *gx_outflow_new(void);

/* --- Who writes --- */

/* All of it, or false. */
bool gx_outflow_write(gx_outflow *flow, gale_str bytes);
size_t gx_outflow_waiting(gx_outflow *flow); /* bytes that are not taken yet */
bool gx_outflow_is_left(gx_outflow *flow);   /* nobody sends them any more */
void gx_outflow_end(gx_outflow *flow);       /* nothing more comes */

/* --- Who sends --- */

/* How it goes to sleep, and is woken: both are called under a lock, so that no waking is lost. */
typedef struct gx_outflow_sleep {
    void (*sleep)(void *user);
    void (*wake)(void *user);
    void *user;
} gx_outflow_sleep;

void gx_outflow_begin(gx_outflow *flow, const gx_outflow_sleep *sleep);

/* As many as there are and fit; 0: none now, it was put to sleep; -1: all has been sent, and nothing more comes. */
int64_t gx_outflow_take(gx_outflow *flow, char *to, size_t room);
void gx_outflow_leave(gx_outflow *flow); /* NULL is allowed */

#endif
