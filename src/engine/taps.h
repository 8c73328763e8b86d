/* Taps: who looks at what a component emits.
 *
 * What:    a tap is of a component, or of one stream of it. Its executors go over it once a step: one that is due is armed, and the
 *          tasks' emits are shown from then on; a tap with a rate is armed for the next tuple only, and due again when its
 *          next slice of time begins, on whichever executor is the first. So a tap with a rate costs next to nothing between
 *          its events, and one that there is not costs nothing.
 *          What is tapped is a set, which is made anew when a tap begins or ends. An executor takes the newest at the
 *          begin of a step; when all have, what was before goes, and so do the taps that are in none any more: then their user is
 *          told (free_user), on whichever thread that is.
 * Threads: the functions of `ex` are its executor's; the others any. Sets and taps are under the monitor's lock, but for
 *          an executor's part of the set that it has taken. */
#ifndef GX_ENGINE_TAPS_H
#define GX_ENGINE_TAPS_H

#include "engine/executor.h"

enum { GX_TAP_ANY_STREAM = UINT32_MAX };

/* What is wanted; frozen but for the last three. */
typedef struct gx_tap {
    struct gx_tap *next; /* of those that live, or have ended */
    gale_tap name;
    uint16_t component;
    uint32_t stream;
    uint64_t below;   /* a tuple is shown when a random number is not above this */
    int64_t interval; /* ns from one event to the next, at least; 0: every tuple */
    void (*on_event)(void *user, const gale_event *event);
    void (*free_user)(void *user);
    void *user;
    gx_atomic64 due;   /* ns; of the next event */
    gx_atomic32 ended; /* nothing more is shown */
    uint64_t epoch;    /* has ended: the first set that it is not in; UINT64_MAX: none yet */
} gx_tap;

/* One executor's view of it. */
typedef struct gx_tapped {
    gx_tap *tap;
    uint16_t executor;
    bool armed;
} gx_tapped;

/* Adds it; what it is made of is taken over when that succeeds. GALE_NO_MEMORY. Its name goes to `ret_tap`. */
int gx_taps_add(gx_shared *shared, const gx_tap *tap, gale_tap *ret_tap);

/* GALE_NOT_FOUND: there is none of this name. */
int gx_taps_end(gx_shared *shared, gale_tap name);

/* All go. No executor runs any more. */
void gx_taps_fini(gx_shared *shared);

/* The executor has shown what it will ever show. */
void gx_taps_leave(gx_executor *ex);

void gx_taps_take(gx_executor *ex);
void gx_taps_arm(gx_executor *ex);

/* At the begin of a step. */
GX_INLINE void gx_taps_look(gx_executor *ex) {
    if (GX_UNLIKELY(gx_load_relaxed(&ex->shared->taps.epoch) > ex->tap_epoch)) gx_taps_take(ex);
    if (GX_UNLIKELY(ex->tapped_count)) gx_taps_arm(ex);
}

/* The task has emitted; some tap of its component is armed. `message_id` NULL: not tracked. */
void gx_taps_show(gx_task *task, uint32_t stream, const gale_value *values, size_t count, const uint64_t *message_id);

#endif
