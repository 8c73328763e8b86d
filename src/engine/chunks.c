#include "engine/chunks.h"

#include "topology/saver.h"

void gx_chunks_fini(gx_chunks *chunks, gx_heap *heap) {
    gx_free(heap, GX_TAG_OTHER, chunks->sums, chunks->capacity * sizeof *chunks->sums);
    *chunks = (gx_chunks){ NULL, 0, 0 };
}

/* Takes the first piece off. */
static gale_str take_piece(gale_str *records) {
    gale_str rest = *records, piece = *records;
    const gale_body *body;
    while ((size_t)(rest.data - piece.data) < GX_CHUNK && gx_records_next(&rest, &body)) {
    }
    piece.size = (size_t)(rest.data - piece.data);
    *records = rest;
    return piece;
}

/* The key of a piece, in place of the one before. */
static gale_str key_of(gx_buf *prefix, size_t size, size_t piece) {
    char number[4];
    for (int i = 0; i < 4; i++) number[i] = (char)(piece >> (24 - 8 * i));
    prefix->size = size;
    gx_buf_add(prefix, number, sizeof number);
    return (gale_str){ prefix->data, prefix->size };
}

int gx_chunks_put(gx_chunks *chunks, gx_buf *prefix, gale_str records, uint64_t seed, gx_changes *changes) {
    gx_heap *heap = prefix->heap;
    size_t size = prefix->size, count = 0;
    for (; records.size; count++) {
        gale_str piece = take_piece(&records);
        XXH128_hash_t sum = XXH3_128bits_withSeed(piece.data, piece.size, seed);
        if (!gx_grow(heap, GX_TAG_OTHER, &chunks->sums, &chunks->capacity, count + 1, sizeof *chunks->sums))
            return GALE_NO_MEMORY;
        if (count < chunks->count && XXH128_isEqual(chunks->sums[count], sum)) continue;
        chunks->sums[count] = sum;
        gx_changes_put(changes, key_of(prefix, size, count), piece);
    }
    for (size_t old = count; old < chunks->count; old++) gx_changes_remove(changes, key_of(prefix, size, old));
    chunks->count = count;
    return prefix->failed ? GALE_NO_MEMORY : GALE_OK;
}
