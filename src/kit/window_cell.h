/* What a pane keeps for one aggregate, by kinds. A pane is a head and its cells, one behind the other; what all closed panes
 * of a key are together is kept in two ways:
 *
 *     total     what can be subtracted (counts, whole sums, sketches): a pane enters it when it is closed, and leaves it
 *     combined  what cannot (least, largest, first, last, sums of f64): the queue combines it in place (ds/window_queue.h)
 *
 * Adding a value is two steps, so that a tuple is added to all cells or to none: each is made ready, then each takes it.
 *
 * Threads: one at a time. Owner: panes and totals lie where their key does; what they point to comes from a gx_heap and goes
 * with `forget` and `end`. */
#ifndef GX_KIT_WINDOW_CELL_H
#define GX_KIT_WINDOW_CELL_H

#include "base/buf.h"
#include "ds/window_queue.h"
#include "kit/window_spec.h"

typedef struct gx_window_pane {
    int64_t start;
    uint32_t tuples; /* below 2^31 */
    uint32_t saved;  /* of its tuples, so many are in the state */
} gx_window_pane;

enum { GX_WINDOW_PANE_TUPLES = INT32_MAX };

typedef struct gx_window_total {
    uint64_t tuples;
    uint64_t reserved;
} gx_window_total;

typedef struct gx_window_kind gx_window_kind;

typedef struct gx_window_cell {
    const gx_window_kind *kind;
    bool has_field;
    bool weighted; /* top: values count as much as another field says */
    uint16_t field;
    uint16_t weight;
    uint32_t pane_at; /* where it is in a pane, and in the total */
    uint32_t total_at;
    uint32_t limit; /* of distinct: told exactly up to it; of top: of so many values a pane knows the counts */
} gx_window_cell;

/* One cell at work. */
typedef struct gx_window_work {
    const gx_window_cell *cell;
    gx_heap *heap;
    void *pane;  /* the cell in the pane that is worked at */
    void *total; /* and in the total */
    int64_t time;
    uint64_t more;  /* so much the value counts: 1, where it has no weight */
    uint64_t hash;  /* of the value that it was made ready for */
    void *block;    /* made for it */
    gx_buf scratch; /* of what is made ready or saved */
    gx_buf *rows;   /* of what is told: each call has its own */
    bool overflow;  /* what was told is not, because no i64 holds it */
} gx_window_work;

struct gx_window_kind {
    const char *wanted; /* a type, in words; NULL: any */
    uint32_t pane_size, total_size;
    uint32_t saved;                                              /* so many values are saved of a pane */
    int (*ready)(gx_window_work *work, const gale_value *value); /* GALE_TYPE, GALE_NO_MEMORY: nothing changed */
    void (*unready)(gx_window_work *work);                       /* the value is not to be taken, after all; NULL */
    void (*take)(gx_window_work *work, const gale_value *value);
    void (*append)(gx_heap *heap, void *to, const void *from); /* combined; NULL: it has no such part */
    void (*drop)(gx_heap *heap, void *pane);                   /* of that part; NULL */
    void (*close)(gx_window_work *work);                       /* no more values come: little memory will do; NULL */
    bool (*enter)(gx_window_work *work);                       /* the total; NULL. False: no memory, nothing changed */
    void (*leave)(gx_window_work *work);
    /* Panes have left: what was told about may be told exactly again, of those that are in. NULL. */
    void (*refit)(gx_window_work *work, const gx_window_queue *queue, const gx_window_combine *how);
    void (*forget)(gx_window_work *work); /* the pane ends, and is in no total; NULL */
    void (*end)(gx_window_work *work);    /* the total ends, after all panes; NULL */
    /* What is told: of the total at `total` and the combined part at `pane`. Borrowed until the next. */
    int (*tell)(gx_window_work *work, const gx_window_call *call, gale_value *ret_value);
    int (*save)(gx_window_work *work, gale_value *values);       /* of a pane; GALE_NO_MEMORY; borrowed */
    int (*load)(gx_window_work *work, const gale_value *values); /* into a new one; GALE_DAMAGED, GALE_NO_MEMORY */
};

extern const gx_window_kind gx_window_counts, gx_window_sums, gx_window_least, gx_window_largest, gx_window_first,
    gx_window_last, gx_window_different, gx_window_percentiles, gx_window_tops;

/* The cells that a spec needs, each once. */
typedef struct gx_window_plan {
    gx_window_cell cells[GX_WINDOW_AGGREGATES];
    uint8_t cell_of[GX_WINDOW_AGGREGATES]; /* a call's; UINT8_MAX: it counts tuples */
    uint32_t cell_count;
    uint32_t pane_size, total_size;
    uint32_t saved;   /* values, of all cells */
    bool is_combined; /* some cell has such a part */
} gx_window_plan;

void gx_window_plan_make(gx_window_plan *plan, const gx_window_spec *spec, uint32_t exact, uint32_t counters);

GX_INLINE void gx_window_work_at(gx_window_work *work, void *pane, void *total) {
    work->pane = (char *)pane + work->cell->pane_at;
    work->total = (char *)total + work->cell->total_at;
}

/* Is it a number? */
GX_INLINE bool gx_window_is_number(const gale_value *value) {
    return value->type == GALE_TYPE_I64 || value->type == GALE_TYPE_F64;
}

GX_INLINE double gx_window_number(const gale_value *value) {
    return value->type == GALE_TYPE_I64 ? (double)value->as.i64 : value->as.f64;
}

#endif
