#include "store/sums.h"

#include "base/hash.h"

void gx_sums_init(gx_sums *sums, gx_heap *heap) {
    *sums = (gx_sums){ .heap = heap };
    pthread_mutex_init(&sums->mutex, NULL);
}

void gx_sums_fini(gx_sums *sums) {
    gx_free(sums->heap, GX_TAG_OTHER, sums->of, sums->capacity * sizeof *sums->of);
    pthread_mutex_destroy(&sums->mutex);
}

bool gx_sums_set(gx_sums *sums, uint64_t frame, const void *page, size_t size) {
    uint64_t sum = gx_hash_bytes(page, size, frame);
    pthread_mutex_lock(&sums->mutex);
    bool room = gx_grow(sums->heap, GX_TAG_OTHER, &sums->of, &sums->capacity, frame + 1, sizeof *sums->of);
    if (room) sums->of[frame] = sum;
    pthread_mutex_unlock(&sums->mutex);
    return room;
}

bool gx_sums_fit(gx_sums *sums, uint64_t frame, const void *page, size_t size) {
    uint64_t sum = gx_hash_bytes(page, size, frame);
    pthread_mutex_lock(&sums->mutex);
    bool fits = frame < sums->capacity && sums->of[frame] == sum;
    pthread_mutex_unlock(&sums->mutex);
    return fits;
}
