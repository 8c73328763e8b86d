/* Memory that is given back as a whole: tables that are made together, and of which half are freed as all are.
 *
 * Threads: one at a time. Owner: whoever holds the gx_pieces. Errors: NULL when memory is out; what was taken stays.
 */
#ifndef GX_BASE_PIECES_H
#define GX_BASE_PIECES_H

#include "base/alloc.h"

typedef struct gx_pieces {
    gx_heap *heap;
    gx_tag tag;
    struct gx_piece *last;
} gx_pieces;

GX_INLINE gx_pieces gx_pieces_of(gx_heap *heap, gx_tag tag) {
    return (gx_pieces){ heap, tag, NULL };
}

/* Zeroed, aligned to 16; of no items, a block that may not be read. */
void *gx_pieces_take(gx_pieces *pieces, size_t count, size_t size);

void gx_pieces_free(gx_pieces *pieces);

#endif
