#include "base/pieces.h"

#include <stdalign.h>

typedef struct gx_piece {
    struct gx_piece *before;
    size_t size;
    alignas(16) unsigned char bytes[];
} gx_piece;

void *gx_pieces_take(gx_pieces *pieces, size_t count, size_t size) {
    if (count > (SIZE_MAX / 2 - sizeof(gx_piece)) / (size ? size : 1)) return NULL;
    size_t total = sizeof(gx_piece) + (count ? count : 1) * size;
    gx_piece *piece = gx_alloc(pieces->heap, pieces->tag, total);
    if (!piece) return NULL;
    piece->before = pieces->last;
    piece->size = total;
    pieces->last = piece;
    return piece->bytes;
}

void gx_pieces_free(gx_pieces *pieces) {
    while (pieces->last) {
        gx_piece *piece = pieces->last;
        pieces->last = piece->before;
        gx_free(pieces->heap, pieces->tag, piece, piece->size);
    }
}
