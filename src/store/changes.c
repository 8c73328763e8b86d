#include "store/changes.h"

#include <stdlib.h>
#include <string.h>

void gx_store_changes_init(gx_store_changes *changes, gx_heap *heap) {
    *changes = (gx_store_changes){ .heap = heap };
}

void gx_store_changes_fini(gx_store_changes *changes) {
    gx_free(changes->heap, GX_TAG_OTHER, changes->list, changes->capacity * sizeof *changes->list);
    gx_free(changes->heap, GX_TAG_OTHER, changes->bytes, changes->room);
}

static uint64_t begin_of(gale_str key) {
    unsigned char bytes[8] = { 0 };
    uint64_t number = 0;
    memcpy(bytes, key.data, key.size < 8 ? key.size : 8);
    for (int i = 0; i < 8; i++) number = number << 8 | bytes[i];
    return number;
}

bool gx_store_changes_add(gx_store_changes *changes, gale_str key, const gale_str *value) {
    size_t value_size = value ? value->size : 0;
    if (!gx_grow(changes->heap, GX_TAG_OTHER, &changes->list, &changes->capacity, changes->count + 1,
                 sizeof *changes->list) ||
        !gx_grow(changes->heap, GX_TAG_OTHER, &changes->bytes, &changes->room, changes->used + key.size + value_size,
                 1))
        return false;
    changes->list[changes->count++] = (gx_change){ begin_of(key), changes->used, (uint32_t)key.size,
                                                   (uint32_t)value_size, !value };
    memcpy(changes->bytes + changes->used, key.data, key.size);
    if (value_size) memcpy(changes->bytes + changes->used + key.size, value->data, value_size);
    changes->used += key.size + value_size;
    return true;
}

static int compare(const void *a, const void *b, void *user) {
    const gx_store_changes *changes = user;
    const gx_change *one = a, *two = b;
    if (one->begin != two->begin) return one->begin < two->begin ? -1 : 1;
    size_t shorter = one->key_size < two->key_size ? one->key_size : two->key_size;
    int order = memcmp(changes->bytes + one->at, changes->bytes + two->at, shorter);
    if (!order && one->key_size != two->key_size) order = one->key_size < two->key_size ? -1 : 1;
    return order ? order : one->at < two->at ? -1 : one->at > two->at;
}

void gx_store_changes_sort(gx_store_changes *changes) {
    if (changes->count > 1) qsort_r(changes->list, changes->count, sizeof *changes->list, compare, changes);
}

void gx_store_changes_clear(gx_store_changes *changes) {
    changes->count = 0;
    changes->used = 0;
}
