/* What is in memory of one keyed state: a cell a key, and which of them have changed since the last cut.
 *
 *     made: gone --set--> a value, changed --cut--> a value, cut --that lasts--> may leave memory
 *                <--forget-- (and the same way on: that it is gone is a change, too)
 *
 * Without a store nothing is noted: a cell counts as changed from the first on, and leaves when it is forgotten.
 *
 * Threads: one at a time. Owner: memory comes from a gx_heap.
 * Limits: a pointer to a cell is good until the next cell is made or dropped. */
#ifndef GX_TOPOLOGY_KEYED_CELL_H
#define GX_TOPOLOGY_KEYED_CELL_H

#include "base/assert.h"
#include "base/bits.h"
#include "ds/bytes_map.h"
#include "tuple/value.h"

enum { GX_CELL_GONE = GALE_TYPE_COUNT }; /* a type: the key is known to have no value */

enum {
    GX_CELL_CHANGED = 1,
    GX_CELL_EXPIRES = 2,
    GX_CELL_USED = 4, /* since it was last looked at to be dropped */
};

/* A value as it lies in a cell, or is to: a scalar's bits, or the body of one value. */
typedef struct gx_packed {
    uint8_t type;
    uint64_t bits;
    gale_str body;
} gx_packed;

typedef struct gx_cell {
    union {
        uint64_t bits;
        char *block; /* the body of one value */
    } as;
    int64_t expiry; /* with GX_CELL_EXPIRES */
    uint64_t where; /* changed: its place in the list; else the checkpoint that has it, 0: the store */
    uint32_t room;  /* bytes of the block */
    uint8_t type;   /* gale_type, GX_CELL_GONE */
    uint8_t flags;
    uint16_t reserved;
} gx_cell;

typedef struct gx_cells {
    gx_heap *heap;
    gx_bytes_map *map;
    bool durable;
    uint32_t *changed; /* their numbers */
    size_t changed_count, changed_capacity;
    uint64_t *used; /* bytes, of all cells of a task */
} gx_cells;

/* False when memory is out. */
bool gx_cells_init(gx_cells *cells, gx_heap *heap, uint64_t seed, bool durable, uint64_t *used);
void gx_cells_fini(gx_cells *cells);

GX_INLINE size_t gx_cells_count(const gx_cells *cells) {
    return gx_bytes_map_size(cells->map);
}

GX_INLINE gx_cell *gx_cells_at(const gx_cells *cells, size_t number, gale_str *ret_key) {
    return (gx_cell *)gx_bytes_map_at(cells->map, number, ret_key);
}

GX_INLINE gx_cell *gx_cells_find(const gx_cells *cells, gale_str key) {
    return (gx_cell *)gx_bytes_map_get(cells->map, key);
}

/* The key's cell; a new one is gone, and has not changed. NULL when memory is out. */
gx_cell *gx_cells_make(gx_cells *cells, gale_str key);

/* Gives it a value, which lies elsewhere; it has changed. `expiry` 0: never. GALE_NO_MEMORY: nothing changed. */
int gx_cells_set(gx_cells *cells, gx_cell *cell, const gx_packed *value, int64_t expiry);

/* The same of what the store has: it has not changed. */
int gx_cells_fill(gx_cells *cells, gx_cell *cell, const gx_packed *value, int64_t expiry);

/* Its value is gone, and it has changed; without a store the cell is dropped. GALE_NO_MEMORY: nothing changed. */
int gx_cells_forget(gx_cells *cells, gx_cell *cell);

/* Takes a cell out of memory that has not changed. */
void gx_cells_drop(gx_cells *cells, size_t number);

/* All that changed is in this checkpoint, and nothing has changed since. */
void gx_cells_cut(gx_cells *cells, uint64_t checkpoint);

/* Borrowed from the cell. */
gx_packed gx_cell_packed(const gx_cell *cell);

/* Borrowed from where the value lies. */
gale_value gx_packed_value(const gx_packed *packed);

/* Packs a value, into `scratch` unless it is a scalar. GALE_INVALID (also for text that is not UTF-8), GALE_TOO_LARGE,
 * GALE_NO_MEMORY. */
int gx_packed_make(const gale_value *value, gx_buf *scratch, gx_packed *ret_packed);

/* What does not hold, in words, or NULL. */
const char *gx_cells_flaw(const gx_cells *cells);

#endif
