#include "ds/changes.h"

#include "base/assert.h"
#include "base/bits.h"

enum { REMOVED = 1 };

typedef struct head {
    uint32_t key_size;
    uint32_t flags;
    uint64_t value_size;
} head;

static_assert(sizeof(head) == 16, "parts stand at multiples of 8");

static size_t padded(size_t size) {
    return (size + 7) & ~(size_t)7;
}

static void pad(gx_buf *bytes) {
    static const char zeros[8];
    size_t size = bytes->size;
    gx_buf_add(bytes, zeros, padded(size) - size);
}

void gx_changes_fini(gx_changes *changes) {
    gx_buf_fini(&changes->bytes);
    changes->count = changes->open = 0;
}

void gx_changes_reset(gx_changes *changes) {
    gx_buf_reset(&changes->bytes);
    changes->count = changes->open = 0;
}

static void add_head(gx_changes *changes, gale_str key, uint32_t flags) {
    GX_CHECK(key.size <= UINT32_MAX && changes->bytes.size % 8 == 0);
    head h = { (uint32_t)key.size, flags, 0 };
    changes->open = changes->bytes.size;
    gx_buf_add(&changes->bytes, &h, sizeof h);
    gx_buf_add(&changes->bytes, key.data, key.size);
    pad(&changes->bytes);
    changes->count++;
}

void gx_changes_begin(gx_changes *changes, gale_str key) {
    add_head(changes, key, 0);
}

static size_t value_at(const gx_changes *changes, size_t at) {
    head h;
    memcpy(&h, changes->bytes.data + at, sizeof h);
    return at + sizeof h + padded(h.key_size);
}

size_t gx_changes_open_size(const gx_changes *changes) {
    return changes->bytes.failed ? 0 : changes->bytes.size - value_at(changes, changes->open);
}

void gx_changes_end(gx_changes *changes) {
    if (changes->bytes.failed) return;
    uint64_t size = gx_changes_open_size(changes);
    memcpy(changes->bytes.data + changes->open + offsetof(head, value_size), &size, sizeof size);
    pad(&changes->bytes);
}

void gx_changes_put(gx_changes *changes, gale_str key, gale_str value) {
    gx_changes_begin(changes, key);
    gx_buf_add(&changes->bytes, value.data, value.size);
    gx_changes_end(changes);
}

void gx_changes_remove(gx_changes *changes, gale_str key) {
    add_head(changes, key, REMOVED);
}

bool gx_changes_next(const gx_changes *changes, size_t *at, gx_change *ret_change) {
    if (changes->bytes.failed || *at >= changes->bytes.size) return false;
    const char *from = changes->bytes.data;
    size_t value = value_at(changes, *at);
    head h;
    memcpy(&h, from + *at, sizeof h);
    *ret_change = (gx_change){ { from + *at + sizeof h, h.key_size },
                               { from + value, (size_t)h.value_size },
                               (h.flags & REMOVED) != 0 };
    *at = value + padded((size_t)h.value_size);
    return true;
}
