/* Turns of a drain: components that hold tuples because more may come are asked to go on without it
 * (gale_bolt_ops.drain).
 *
 * What:    while a run drains and nothing moves but for what is held, the control gives a turn to the first
 * component, in the order of ranks, that
 *          holds something and can be asked. When that has got on, it begins again with the first; when it has not,
 *          the next one
 *          is asked; and none any more until a tuple is executed or answered. So a sink whose server is away is
 *          asked once.
 * Threads: executor 0's gives turns; each executor takes them in its steps. */
#ifndef GX_RUNTIME_DRAIN_TURN_H
#define GX_RUNTIME_DRAIN_TURN_H

#include "runtime/shown.h"

typedef struct gx_drain_turn {
    gx_shown_before still; /* that nothing moves but for what is held */
    uint64_t progress;     /* when the last turn was given */
    uint32_t next;         /* rank: those before have been asked since */
    bool waits;            /* somebody could be asked, and nothing may move */
} gx_drain_turn;

/* What executors have executed and answered so far. */
uint64_t gx_drain_progress(gx_shared *shared);

/* Gives a turn, if it is time. Returns how much was done. */
size_t gx_drain_turn_give(gx_drain_turn *turn, gx_shared *shared);

/* Takes a turn that was given; 0: there is none. */
size_t gx_drain_turn_ask(gx_executor *ex, uint64_t given);

GX_INLINE size_t gx_drain_turn_take(gx_executor *ex) {
    uint64_t given = gx_load_acquire(&ex->shared->drain_turn);
    return GX_LIKELY(given == ex->drain_turn) ? 0 : gx_drain_turn_ask(ex, given);
}

#endif
