/* Batches: what waits anywhere, in a queue, a ring or a list, is a batch of rows from one task for one task.
 *
 * What:    a batch is a head and bytes, in which rows lie one behind the other; each begins with its own length as u32, a
 *          multiple of 8. It is filled by who opened it, moved by its pointer, read from its read offset on, and goes
 *          home to the pool that it came from.
 *          Batches come in two sizes: a page is a large one, or eight small ones, so that a lonely row costs no page; a
 *          page whose small ones are all back is a large one again, so that loads that shift allocate nothing.
 * Threads: a pool a thread: gx_batch_take and gx_batch_give belong to it. A batch belongs to who has it; another thread
 *          returns a chain of them at once (a Treiber stack that is only ever emptied whole, hence no ABA), which the
 *          owner takes in when it has none left.
 * Owner:   the pool takes pages from the heap when it has none free, and keeps what comes back: in the steady state it
 *          allocates nothing. It frees all pages with itself: every batch must be back, or in nobody's hands.
 *
 * Orderings: R1/A1 gx_batches_return releases what was done with the batches, the owner's exchange acquires: who takes a
 *            batch again may overwrite it.
 */
#ifndef GX_DS_BATCH_H
#define GX_DS_BATCH_H

#include "base/alloc.h"
#include "base/assert.h"
#include "base/bits.h"

/* Sizes with their heads. A page is not a multiple of 4 KiB, so that rows that are read and rows that are written a
 * little later seldom share their lowest bits of address, which a processor takes for a dependence. */
enum {
    GX_BATCH_SMALL = 576,
    GX_BATCH_PARTS = 8, /* of a page */
    GX_BATCH_LARGE = GX_BATCH_PARTS * GX_BATCH_SMALL,
};

typedef struct gx_batch {
    struct gx_batch *next; /* of the list that it is in */
    struct gx_page *page;  /* NULL: a copy in a ring, without a home */
    uint64_t blocks;       /* bytes of blocks that its rows name */
    uint64_t number;       /* where batches of several lists are put in order */
    uint32_t room;         /* bytes for rows */
    uint32_t used;         /* of them; known when it is closed */
    uint32_t read;         /* here the first row begins that was not read yet */
    uint16_t source;       /* task */
    uint16_t target;
    uint16_t lane; /* of the target; 0: none */
    uint16_t parts;
    alignas(16) unsigned char bytes[];
} gx_batch;

enum {
    GX_BATCH_ROOM_SMALL = GX_BATCH_SMALL - (int)sizeof(gx_batch),
    GX_BATCH_ROOM = GX_BATCH_LARGE - (int)sizeof(gx_batch),
};

typedef struct gx_batches gx_batches;

typedef struct gx_page {
    gx_batches *home;
    struct gx_page *next;            /* of all */
    struct gx_page *before, *behind; /* of those that are split, and have a free part */
    uint32_t free;                   /* split: a bit for each part that is free; else 0 */
    alignas(64) unsigned char parts[GX_BATCH_PARTS][GX_BATCH_SMALL];
} gx_page;

struct gx_batches {
    gx_heap *heap;
    gx_page *pages;
    gx_batch *large;  /* free ones */
    gx_page *split;   /* pages with free parts */
    uint32_t most;    /* bytes for rows, where one row does not need more; 0: as many as there are */
    gx_atomic64 used; /* bytes of batches that are not in the pool; those on their way home among them */
    alignas(GX_APART) _Atomic(gx_batch *) returned;
};

void gx_batches_init(gx_batches *pool, gx_heap *heap, uint32_t most);
void gx_batches_fini(gx_batches *pool);

/* A batch with room for at least `length` bytes, at most GX_BATCH_ROOM; a small one unless `large`, or `length`, asks for
 * more. NULL when memory is out. It has no rows, and the caller says from whom and for whom. */
gx_batch *gx_batch_take(gx_batches *pool, bool large, uint32_t length);

/* Back to its pool, which is `pool`. */
void gx_batch_give(gx_batches *pool, gx_batch *batch);

/* Back from another thread: a chain by `next`, all of `pool`. */
void gx_batches_return(gx_batches *pool, gx_batch *first, gx_batch *last);

/* NULL: it has none. */
GX_INLINE gx_batches *gx_batch_home(const gx_batch *batch) {
    return GX_LIKELY(batch->page != NULL) ? batch->page->home : NULL;
}

/* The same rows that were not read, in a batch of `pool`. NULL when memory is out. */
gx_batch *gx_batch_copy(gx_batches *pool, const gx_batch *batch);

/* Bytes that there are for rows; `room` may be less, where loads are to be small. */
GX_INLINE uint32_t gx_batch_space(const gx_batch *batch) {
    return batch->parts == 1 ? GX_BATCH_ROOM_SMALL : GX_BATCH_ROOM;
}

/* A row may begin before this place, and has room for so many bytes then. */
GX_INLINE uint32_t gx_batch_border(const gx_batch *batch, uint32_t bytes) {
    uint32_t last = gx_batch_space(batch) - bytes + 1;
    return batch->room < last ? batch->room : last;
}

/* What it counts where memory is bounded: what it takes, whether or not it is full, and the blocks that it names. */
GX_INLINE uint64_t gx_batch_weight(const gx_batch *batch) {
    return sizeof *batch + batch->room + batch->blocks;
}

/* Bytes of it that are not read yet, its head among them. */
GX_INLINE uint32_t gx_batch_touched(const gx_batch *batch) {
    return (uint32_t)sizeof *batch + batch->used - batch->read;
}

/* The first row that was not read, or NULL. */
GX_INLINE void *gx_batch_front(const gx_batch *batch) {
    return batch->read < batch->used ? (void *)(uintptr_t)(batch->bytes + batch->read) : NULL;
}

/* The row behind `row`, or NULL. */
GX_INLINE const void *gx_batch_next(const gx_batch *batch, const void *row) {
    const unsigned char *next = (const unsigned char *)row + gx_load32(row);
    return next < batch->bytes + batch->used ? next : NULL;
}

/* Rows that were not read. */
uint32_t gx_batch_rows(const gx_batch *batch);

/* --- Lists --- */

typedef struct gx_batch_list {
    gx_batch *head, *tail;
    uint64_t count;
    uint64_t weight; /* of all; who changes what a batch weighs changes it */
} gx_batch_list;

GX_INLINE void gx_batch_list_push(gx_batch_list *list, gx_batch *batch) {
    batch->next = NULL;
    if (list->head)
        list->tail->next = batch;
    else
        list->head = batch;
    list->tail = batch;
    list->count++;
    list->weight += gx_batch_weight(batch);
}

/* In front of the others again. */
GX_INLINE void gx_batch_list_put_back(gx_batch_list *list, gx_batch *batch) {
    batch->next = list->head;
    if (!list->head) list->tail = batch;
    list->head = batch;
    list->count++;
    list->weight += gx_batch_weight(batch);
}

/* The first, which there is. */
GX_INLINE gx_batch *gx_batch_list_pop(gx_batch_list *list) {
    gx_batch *batch = list->head;
    GX_CHECK(batch != NULL);
    list->head = batch->next;
    list->count--;
    list->weight -= gx_batch_weight(batch);
    return batch;
}

/* --- Flaws: what does not hold, in words, or NULL --- */

const char *gx_batch_flaw(const gx_batch *batch);
const char *gx_batch_list_flaw(const gx_batch_list *list);

/* No other thread returns any meanwhile. */
const char *gx_batches_flaw(const gx_batches *pool);

/* Bytes of batches that are on their way home. */
uint64_t gx_batches_returning(const gx_batches *pool);

#endif
