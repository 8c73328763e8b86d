/* One key of a window bolt: its panes (ds/window_queue.h), what they are together (kit/window_cell.h), and when it is next to
 * be looked at. What a row of it tells is known at the cost of a row, however long the window is.
 *
 * Threads: the task's. Owner: keys are made and freed here; who has the map of them finds them by `entry`. */
#ifndef GX_KIT_WINDOW_KEY_H
#define GX_KIT_WINDOW_KEY_H

#include "ds/window_agenda.h"
#include "ds/window_shape.h"
#include "kit/window_cell.h"

typedef struct gx_window_key {
    gx_agenda_item item; /* when it is due */
    size_t entry;        /* its owner's */
    bool changed;        /* what it holds is not what was told: it is due at GX_WINDOW_CHANGED */
    gx_window_queue queue;
} gx_window_key; /* the total lies behind it */

#define GX_WINDOW_CHANGED INT64_MIN

typedef struct gx_window_panes gx_window_panes;

/* What is to happen before a pane is closed, and before one is dropped: an error leaves it as it is. */
typedef struct gx_window_hooks {
    int (*close)(void *user, gx_window_key *key, gx_window_pane *pane);
    int (*drop)(void *user, gx_window_key *key, int64_t start);
    void *user;
} gx_window_hooks;

/* What all keys of a task have in common. */
struct gx_window_panes {
    gx_heap *heap;
    const gx_window_plan *plan;
    const gx_window_spec *spec;
    gx_window_shape shape;
    gx_window_combine how;
    gx_window_hooks hooks; /* may be zeros */
    gx_window_work works[GX_WINDOW_AGGREGATES];
    gx_buf rows[GX_WINDOW_AGGREGATES];
    void *sum;      /* a pane, of zeros between calls */
    uint32_t wrong; /* the cell that refused a value */
};

/* GALE_NO_MEMORY. `fini` after all keys were freed. */
int gx_window_panes_init(gx_window_panes *panes, gx_heap *heap, const gx_window_plan *plan, const gx_window_spec *spec,
                         gx_window_shape shape);
void gx_window_panes_fini(gx_window_panes *panes);

/* NULL when memory is out. */
gx_window_key *gx_window_key_new(const gx_window_panes *panes);
void gx_window_key_free(gx_window_panes *panes, gx_window_key *key);

/* The pane that begins at `start`, made when there is none; NULL when memory is out. It must not be closed. */
gx_window_pane *gx_window_key_pane(const gx_window_panes *panes, gx_window_key *key, int64_t start);

/* The same, which no tuple was added to, goes again. */
void gx_window_key_unmake(gx_window_panes *panes, gx_window_key *key, gx_window_pane *pane);

/* Adds one tuple's values of the spec's fields to a pane. GALE_TYPE (`panes->wrong` is the cell), GALE_TOO_LARGE (the
 * pane is full), GALE_NO_MEMORY: nothing was added. */
int gx_window_key_take(gx_window_panes *panes, gx_window_key *key, gx_window_pane *pane, const gale_value *values,
                       int64_t time);

/* Closes the panes before `end`; drops those before `start`, which are closed. On an error the rest stays, to be done by
 * another call. */
int gx_window_key_close(gx_window_panes *panes, gx_window_key *key, int64_t end);
int gx_window_key_drop(gx_window_panes *panes, gx_window_key *key, int64_t start);

/* Is there nothing left of it? */
GX_INLINE bool gx_window_key_is_empty(const gx_window_key *key) {
    return !gx_window_queue_count(&key->queue);
}

/* What the closed panes, and those open ones that begin before `end`, are together: a value for each call of the spec.
 * Borrowed until `done`, which must follow. GALE_NO_MEMORY. What no i64 holds is null, and `overflow` names it: the last
 * such call, or UINT32_MAX. */
int gx_window_key_tell(gx_window_panes *panes, gx_window_key *key, int64_t end, gale_value *values,
                       uint32_t *ret_overflow);
void gx_window_key_done(gx_window_panes *panes, gx_window_key *key, int64_t end);

/* A pane as `plan->saved` + 1 values, and back into an empty one. GALE_NO_MEMORY, GALE_DAMAGED. */
int gx_window_key_save(gx_window_panes *panes, gx_window_key *key, gx_window_pane *pane, gale_value *values);
int gx_window_key_load(gx_window_panes *panes, gx_window_key *key, gx_window_pane *pane, const gale_value *values);

#endif
