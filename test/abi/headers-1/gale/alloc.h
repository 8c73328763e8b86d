/* gale/alloc.h: where memory comes from.
 *
 * What:    a handle of three functions and a user pointer. A runtime takes one and uses it for everything it allocates,
 *          so that an embedder can count, limit or fail allocations.
 * Threads: the functions are called from every thread that runs executors, at the same time.
 * Owner:   the handle is copied; what `user` points to must outlive the runtime.
 * Misuse:  whoever takes a handle refuses one whose size was not set, or that lacks a function: GALE_INVALID.
 */
#ifndef GALE_ALLOC_H
#define GALE_ALLOC_H

#include <gale/base.h>

GALE_BEGIN

/* `alloc` returns `size` bytes aligned to 16, or NULL. `resize` is given the old size and keeps the smaller of the two;
 * when it returns NULL the old block is untouched. `release` is given the size that was asked for; it is never called
 * with NULL. */
typedef struct gale_allocator {
    size_t size;
    void *(*alloc)(void *user, size_t size);
    void *(*resize)(void *user, void *block, size_t old_size, size_t new_size);
    void (*release)(void *user, void *block, size_t size);
    void *user;
} gale_allocator;

/* The C library's malloc, realloc and free. Static storage. */
GALE_API const gale_allocator *gale_allocator_default(void);

GALE_END

#endif
