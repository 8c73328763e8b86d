/* So many items a second, by the task's clock. Items fall due at even distances; what could not go out in time is
 * caught up with, but never more than 100 ms of it, so that a pause is not followed by a flood. Threads: one at a time.
 * Limits: above 10^9 items a second there is no pace. */
#ifndef GX_KIT_PACE_H
#define GX_KIT_PACE_H

#include "base/port.h"

#include <gale/component.h>

#define GX_PACE_BACKLOG (100 * GALE_MILLISECOND)

typedef struct gx_pace {
    const gale_context *context;
    double rate;            /* of the context, as it was last seen */
    uint64_t step;          /* between two items, in ns; with `step_fraction` 0: no pace */
    uint32_t step_fraction; /* in units of 2^-32 ns */
    uint32_t fraction;
    int64_t due; /* of the next item; INT64_MIN before the first */
} gx_pace;

/* By the context's `rate`, also when that is set anew; 0 is no pace. */
void gx_pace_init(gx_pace *pace, const gale_context *context);

/* May an item go out now? If not, `*ret_until` is when. */
bool gx_pace_wait(gx_pace *pace, int64_t *ret_until);

/* The context's rate is another one now: the next item goes out at once, what follows by that. */
void gx_pace_change(gx_pace *pace);

GX_INLINE bool gx_pace_ready(gx_pace *pace, int64_t *ret_until) {
    if (GX_UNLIKELY(pace->rate != pace->context->rate)) gx_pace_change(pace);
    if (GX_LIKELY(!pace->step && !pace->step_fraction)) return true;
    return gx_pace_wait(pace, ret_until);
}

/* Is there a pace? */
GX_INLINE bool gx_pace_any(const gx_pace *pace) {
    return pace->step || pace->step_fraction;
}

/* One has gone out. */
void gx_pace_step(gx_pace *pace);

/* Goes on from when another one was due. */
GX_INLINE void gx_pace_resume(gx_pace *pace, int64_t due, uint32_t fraction) {
    pace->due = due;
    pace->fraction = fraction;
}

#endif
