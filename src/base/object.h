/* Is this the object that it should be? For opaque objects that applications hand over: they may be NULL, of another kind,
 * or freed.
 *
 * What:    a marked object begins with a word that tells its kind. Objects whose calls are too hot for a look at a word
 *          are only listed. In builds with GALE_CHECKS every living object is in a list, marked or not, and what is not
 *          in it is refused without being touched: freed objects, too.
 * Threads: any. All accesses to the list are relaxed, so that it orders nothing and hides no race from a sanitizer. */
#ifndef GX_BASE_OBJECT_H
#define GX_BASE_OBJECT_H

#include "base/atomic.h"

#include <gale/base.h>
#include <string.h>

#define GX_KIND_CONFIG UINT64_C(0x9d3b7ea1c6f40501)
#define GX_KIND_TOPOLOGY UINT64_C(0x9d3b7ea1c6f40502)
#define GX_KIND_RUNTIME UINT64_C(0x9d3b7ea1c6f40503)
#define GX_KIND_MANUAL_CLOCK UINT64_C(0x9d3b7ea1c6f40504)
#define GX_KIND_VALUE_OWNED UINT64_C(0x9d3b7ea1c6f40505)
#define GX_KIND_ROTATING_MAP UINT64_C(0x9d3b7ea1c6f40506)
#define GX_KIND_TIME_CACHE_MAP UINT64_C(0x9d3b7ea1c6f40507)
#define GX_KIND_TEST UINT64_C(0x9d3b7ea1c6f40508)

#if defined(GALE_CHECKS) && GALE_CHECKS >= 1

/* From its making to just before its memory goes back. When the list is full, nothing that it lacks is refused. There is one
 * list in a process, libgale's: the libraries beside it, which have copies of this floor, look there, too. */
GALE_API void gx_object_begin(const void *object, uint64_t kind);
GALE_API void gx_object_end(const void *object);
GALE_API bool gx_object_is(const void *object, uint64_t kind);

#else

GX_INLINE void gx_object_begin(const void *object, uint64_t kind) {
    (void)object, (void)kind;
}
GX_INLINE void gx_object_end(const void *object) {
    (void)object;
}
GX_INLINE bool gx_object_is(const void *object, uint64_t kind) {
    (void)kind;
    return GX_LIKELY(object != NULL);
}

#endif

/* The first field of a marked object. Atomic, so that the last word before the memory goes back is written. */
typedef struct gx_mark {
    gx_atomic64 kind;
} gx_mark;

GX_INLINE void gx_mark_begin(gx_mark *mark, uint64_t kind) {
    gx_store_relaxed(&mark->kind, kind);
    gx_object_begin(mark, kind);
}

GX_INLINE void gx_mark_end(gx_mark *mark) {
    gx_object_end(mark);
    gx_store_relaxed(&mark->kind, 0);
}

/* Read by copy: another object may lie anywhere. */
GX_INLINE bool gx_mark_is(const void *object, uint64_t kind) {
    uint64_t found;
    if (!gx_object_is(object, kind)) return false;
    memcpy(&found, object, sizeof found);
    return found == kind;
}

#endif
