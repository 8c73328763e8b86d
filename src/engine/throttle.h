/* How long a spout task was kept from emitting, and by what.
 *
 * What:    a spout that would emit is held by flow control (a task that it feeds, or that a cycle above it leads to, is
 *          congested; its output to another executor has not found room; most of the last burst is not worked off
 *          yet, so that it emits only what takes the place of that), or by topology.max.spout.pending. A hold is noted
 *          when it begins, changes and ends, never while a spout emits.
 *          Of the tasks that hold it, GX_HOLDERS are told apart; where there were more, a newcomer takes the place of
 *          the one that held it least, with its time: "mostly by" is then an estimate.
 * Threads: the executor's own; gx_throttle_read any. It reads a sum before what is in progress: a figure may lag, and is
 *          never too large.
 */
#ifndef GX_ENGINE_THROTTLE_H
#define GX_ENGINE_THROTTLE_H

#include "base/atomic.h"

enum { GX_HOLDERS = 8 };

typedef enum gx_throttle_reason { GX_THROTTLE_NONE, GX_THROTTLE_FLOW, GX_THROTTLE_PENDING } gx_throttle_reason;

typedef struct gx_throttle {
    uint8_t reason;      /* gx_throttle_reason */
    uint16_t by;         /* flow: the task, 0 if it is none */
    uint32_t epoch;      /* of flow control, when `by` was last looked for */
    gx_atomic64 since;   /* ns + 1; 0: not held */
    gx_atomic32 what;    /* reason << 16 | by, for readers */
    gx_atomic64 flow;    /* ns, holds that have ended */
    gx_atomic64 pending; /* the same */
    struct {
        gx_atomic32 task; /* 0: nobody */
        gx_atomic64 time; /* ns */
    } holders[GX_HOLDERS];
} gx_throttle;

/* Held from now on, if it was not for the same reason by the same task already. GX_THROTTLE_NONE: not any more. */
void gx_throttle_set(gx_throttle *throttle, gx_throttle_reason reason, uint16_t by, int64_t now);

typedef struct gx_throttle_reading {
    uint64_t flow, pending; /* ns, what is in progress included */
    uint16_t by;            /* who held it longest; 0: nobody */
    uint64_t by_time;       /* ns */
    gx_throttle_reason now; /* why it is held, by whom, and since when (ns) */
    uint16_t now_by;
    int64_t since;
} gx_throttle_reading;

void gx_throttle_read(const gx_throttle *throttle, int64_t now, gx_throttle_reading *ret_reading);

#endif
