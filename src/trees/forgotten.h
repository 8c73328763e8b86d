/* Which tuples a bolt forgot: execute returned without answer, and without holding them. Their trees will time out, and
 * whoever asks then where they were is told.
 *
 * What:    the roots of forgotten tuples and who forgot them, on a rotating map. Made when the first one is forgotten.
 * Threads: the executor's. Limits: GX_FORGOTTEN_MAX trees an executor; what is forgotten beyond is counted and not
 *          found. */
#ifndef GX_TREES_FORGOTTEN_H
#define GX_TREES_FORGOTTEN_H

#include "ds/rotating_map.h"
#include "tuple/row.h"

enum { GX_FORGOTTEN_MAX = 65536 };

typedef struct gx_forgotten {
    gx_rotating_map *map;
    int64_t due; /* of the next rotation; 0: not yet known */
} gx_forgotten;

/* Notes that `task` forgot a tuple with these roots. Entries are kept for `timeout` at the least (0: for ever). Without
 * memory nothing is noted. */
void gx_forgotten_note(gx_forgotten *forgotten, gx_heap *heap, uint16_t task, gx_roots roots, int64_t now,
                       int64_t timeout);

/* Who forgot a tuple of this tree; 0: nobody. */
uint16_t gx_forgotten_by(const gx_forgotten *forgotten, uint64_t root);

void gx_forgotten_fini(gx_forgotten *forgotten);

#endif
