#include "store/shared.h"

void gx_shared_init(gx_shared *shared, gx_heap *heap) {
    *shared = (gx_shared){ .heap = heap };
    pthread_mutex_init(&shared->mutex, NULL);
}

void gx_shared_fini(gx_shared *shared) {
    for (size_t i = 0; i < shared->count; i++)
        gx_free(shared->heap, GX_TAG_OTHER, shared->regions[i], shared->region_size);
    gx_free(shared->heap, GX_TAG_OTHER, shared->regions, shared->capacity * sizeof(void *));
    pthread_mutex_destroy(&shared->mutex);
}

static bool add_region(gx_shared *shared, size_t size) {
    if (!gx_grow(shared->heap, GX_TAG_OTHER, &shared->regions, &shared->capacity, shared->count + 1, sizeof(void *)))
        return false;
    void *region = gx_alloc(shared->heap, GX_TAG_OTHER, size);
    if (!region) return false;
    shared->region_size = size; /* always the same */
    shared->regions[shared->count++] = region;
    return true;
}

bool gx_shared_region(gx_shared *shared, size_t number, size_t size, bool make, void **ret_region) {
    bool done = true;
    pthread_mutex_lock(&shared->mutex);
    while (make && done && shared->count <= number) done = add_region(shared, size);
    *ret_region = done && number < shared->count ? shared->regions[number] : NULL;
    pthread_mutex_unlock(&shared->mutex);
    return done;
}

/* Is lock `i` free for who holds `holds`? */
static bool is_free(const gx_shared *shared, const gx_shared_holds *holds, int i, bool alone) {
    uint32_t bit = 1u << i;
    if ((holds->alone & bit) || (!alone && (holds->readers & bit))) return true;
    return alone ? shared->held[i] == 0 : shared->held[i] >= 0;
}

static void take(gx_shared *shared, gx_shared_holds *holds, int i, bool alone) {
    uint32_t bit = 1u << i;
    if (((holds->alone | holds->readers) & bit) != 0) return;
    shared->held[i] = alone ? -1 : shared->held[i] + 1;
    *(alone ? &holds->alone : &holds->readers) |= bit;
}

bool gx_shared_lock(gx_shared *shared, gx_shared_holds *holds, int first, int count, bool alone) {
    bool free = true;
    pthread_mutex_lock(&shared->mutex);
    for (int i = first; i < first + count; i++) free = free && is_free(shared, holds, i, alone);
    for (int i = first; free && i < first + count; i++) take(shared, holds, i, alone);
    pthread_mutex_unlock(&shared->mutex);
    return free;
}

void gx_shared_unlock(gx_shared *shared, gx_shared_holds *holds, int first, int count) {
    pthread_mutex_lock(&shared->mutex);
    for (int i = first; i < first + count; i++) {
        uint32_t bit = 1u << i;
        if (holds->alone & bit) shared->held[i] = 0;
        if (holds->readers & bit) shared->held[i]--;
        holds->alone &= ~bit;
        holds->readers &= ~bit;
    }
    pthread_mutex_unlock(&shared->mutex);
}

void gx_shared_barrier(gx_shared *shared) {
    pthread_mutex_lock(&shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
}
