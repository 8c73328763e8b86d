#include "base/object.h"

#if defined(GALE_CHECKS) && GALE_CHECKS >= 1

enum { BITS = 16, PLACES = 1 << BITS };

/* Where an object was: the search goes on behind it. */
#define GONE ((uintptr_t)1)

typedef struct entry {
    _Atomic(uintptr_t) object; /* 0: never used */
    gx_atomic64 kind;
} entry;

static entry entries[PLACES];
static gx_atomic64 unlisted; /* objects that found no place, ever */

static size_t home_of(uintptr_t object) {
    return (size_t)(object * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BITS));
}

static bool claim(entry *at, uintptr_t object) {
    uintptr_t there = gx_load_relaxed(&at->object);
    return there <= GONE && gx_cas_relaxed(&at->object, &there, object);
}

void gx_object_begin(const void *object, uint64_t kind) {
    uintptr_t address = (uintptr_t)object;
    size_t home = home_of(address);
    for (size_t i = 0; i < PLACES / 2; i++) {
        entry *at = &entries[(home + i) % PLACES];
        if (!claim(at, address)) continue;
        gx_store_relaxed(&at->kind, kind);
        return;
    }
    gx_add_relaxed(&unlisted, 1);
}

static entry *find(const void *object) {
    uintptr_t address = (uintptr_t)object, there = GONE;
    size_t home = home_of(address);
    for (size_t i = 0; i < PLACES / 2 && there; i++) {
        entry *at = &entries[(home + i) % PLACES];
        there = gx_load_relaxed(&at->object);
        if (there == address) return at;
    }
    return NULL;
}

void gx_object_end(const void *object) {
    entry *at = find(object);
    if (at) gx_store_relaxed(&at->object, GONE);
}

bool gx_object_is(const void *object, uint64_t kind) {
    if (!object) return false;
    entry *at = find(object);
    return at ? gx_load_relaxed(&at->kind) == kind : gx_load_relaxed(&unlisted) != 0;
}

#endif
