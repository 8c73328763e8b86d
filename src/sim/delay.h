/* Rings whose entries are seen late: a reader does not see what a writer has published until some steps later.
 *
 * What:    after a step of the writer its ring's published position may be put back to where readers saw it before; it
 *          moves on when the delay is over. To the reader that is a writer whose publication comes late, and to the
 *          writer a reader that has not looked yet. The engine has no part in it.
 *          The two rings from one executor to another are seen late together, since a reader that sees the acks of a
 *          step sees its batches, too.
 * Threads: one. Owner: the array is the simulator's. */
#ifndef GX_SIM_DELAY_H
#define GX_SIM_DELAY_H

#include "engine/executor.h"

/* From one executor to another. */
typedef struct gx_delay {
    uint64_t data, acks; /* positions that the reader may see */
    uint64_t until;      /* the number of the step that lifts it */
    bool down;
} gx_delay;

typedef struct gx_delays {
    gx_delay *list; /* [from * executors + to] */
    size_t capacity;
    uint32_t executors;
    uint32_t down; /* how many are */
} gx_delays;

/* Begins a run: nothing is hidden. GALE_NO_MEMORY. */
int gx_delays_begin(gx_delays *delays, gx_heap *heap, uint32_t executors);
void gx_delays_fini(gx_delays *delays, gx_heap *heap);

/* Did `from` publish something for `to` that is not hidden yet, and may be seen from now on? */
bool gx_delays_is_new(const gx_delays *delays, gx_executor *from, uint32_t to);

/* Hides it until step `until`, or lets it be seen, or hides with the rest what came since. */
void gx_delays_hide(gx_delays *delays, gx_executor *from, uint32_t to, uint64_t until);
void gx_delays_show(gx_delays *delays, gx_executor *from, uint32_t to);
void gx_delays_keep(const gx_delays *delays, gx_executor *from, uint32_t to);

/* Lifts those whose time is over at `step`; UINT64_MAX: all. True when some was. */
bool gx_delays_lift(gx_delays *delays, gx_shared *shared, uint64_t step);

#endif
