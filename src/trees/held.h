/* The tuples that a task keeps beyond execute: copies, with what they owe to their trees.
 *
 * What:    a table of slots that grows; a handle names task, slot and generation, so that a late use is recognised.
 *          The copy lies in a block and does not move.
 * Threads: the task's. Limits: 2^24 - 1 held tuples a task (GALE_NO_MEMORY beyond). */
#ifndef GX_TREES_HELD_H
#define GX_TREES_HELD_H

#include "ds/block.h"
#include "tuple/row.h"

enum { GX_HELD_CURRENT = 0xffffff }; /* the index that means the tuple in execution */
enum { GX_HANDLE_GENERATIONS = 1 << 24 };

/* When a call of execute began, if its time is taken: it lasts until the ack of its tuple. */
typedef struct gx_sample {
    int64_t began;        /* ns */
    uint64_t weight;      /* tuples that it stands for; 0: it is not taken */
    struct gx_edge *edge; /* that the tuple came by (engine/edges.h) */
} gx_sample;

typedef struct gx_held_slot {
    gx_block *copy; /* gx_held_copy, or NULL when free */
    uint64_t ack;   /* XOR of the edges of its children */
    uint32_t generation;
    uint32_t next_free; /* index plus 1 */
    bool failed;        /* an emit anchored to it failed */
    gx_sample sample;
} gx_held_slot;

typedef struct gx_held {
    gx_held_slot *slots;
    size_t capacity;
    uint32_t made;
    uint32_t free; /* index plus 1 */
    uint32_t count;
} gx_held;

/* The generation is in the lowest 24 bits. */
GX_INLINE uint32_t gx_handle_generation(gale_handle handle) {
    return (uint32_t)handle & 0xffffff;
}

GX_INLINE gale_handle gx_handle(uint16_t task, uint32_t index, uint32_t generation) {
    return (uint64_t)task << 48 | (uint64_t)index << 24 | (generation & 0xffffff);
}
GX_INLINE uint16_t gx_handle_task(gale_handle h) {
    return (uint16_t)(h >> 48);
}
GX_INLINE uint32_t gx_handle_index(gale_handle h) {
    return (uint32_t)(h >> 24) & 0xffffff;
}

/* Keeps a copy of `tuple` (task `task`'s), whose children so far sum to `ack`. GALE_NO_MEMORY. */
int gx_held_add(gx_held *held, gx_heap *heap, gx_blocks *blocks, uint16_t task, const gale_tuple *tuple, uint64_t ack,
                uint32_t *ret_index);

/* The slot that a handle names, or NULL when its tuple is settled. */
gx_held_slot *gx_held_find(gx_held *held, gale_handle handle);

const gale_tuple *gx_held_tuple(const gx_held_slot *slot);

/* Forgets the copy. */
void gx_held_remove(gx_held *held, gx_blocks *blocks, uint32_t index);

/* Of another run: first the generations (u32 each) of all slots, then what was held, under its handle, then, when all is
 * there, gx_held_restored. GALE_DAMAGED: there is no such slot, or it is in use. GALE_NO_MEMORY. */
int gx_held_restore_slots(gx_held *held, gx_heap *heap, const void *generations, size_t count);
int gx_held_restore(gx_held *held, gx_blocks *blocks, gale_handle handle, const gale_tuple *tuple, uint64_t ack,
                    bool failed);
void gx_held_restored(gx_held *held);

void gx_held_fini(gx_held *held, gx_heap *heap, gx_blocks *blocks);

/* What of the table does not hold, in words, or NULL. */
const char *gx_held_flaw(const gx_held *held);

#endif
