/* An allocator for tests: counts calls and live blocks, fails the n-th call (and, if asked, all after it), and aborts
 * when a block comes back with another size than it was made with. Threads: one at a time. */
#ifndef TEST_HARNESS_COUNTING_ALLOCATOR_H
#define TEST_HARNESS_COUNTING_ALLOCATOR_H

#include <gale/alloc.h>
#include <stdlib.h>
#include <string.h>

typedef struct counting_allocator {
    size_t calls;
    size_t fail_at;  /* the call to fail, from 1; 0: none */
    bool fail_after; /* all later calls fail, too */
    size_t blocks;   /* live */
    size_t bytes;    /* live */
} counting_allocator;

enum { COUNTING_HEAD = 16 };

static inline void *counting_alloc(void *user, size_t size) {
    counting_allocator *counting = (counting_allocator *)user;
    counting->calls++;
    if (counting->fail_at &&
        (counting->calls == counting->fail_at || (counting->fail_after && counting->calls > counting->fail_at)))
        return NULL;
    char *block = (char *)malloc(size + COUNTING_HEAD);
    if (!block) return NULL;
    memcpy(block, &size, sizeof size);
    memset(block + COUNTING_HEAD, 0xa5, size); /* nobody may count on zeros that the C library happens to give */
    counting->blocks++;
    counting->bytes += size;
    return block + COUNTING_HEAD;
}

static inline void counting_release(void *user, void *block, size_t size) {
    counting_allocator *counting = (counting_allocator *)user;
    char *start = (char *)block - COUNTING_HEAD;
    size_t made;
    memcpy(&made, start, sizeof made);
    if (made != size) abort();
    counting->blocks--;
    counting->bytes -= size;
    free(start);
}

static inline void *counting_resize(void *user, void *block, size_t old_size, size_t new_size) {
    void *made = counting_alloc(user, new_size);
    if (!made) return NULL;
    memcpy(made, block, old_size < new_size ? old_size : new_size);
    counting_release(user, block, old_size);
    return made;
}

static inline gale_allocator counting_handle(counting_allocator *counting) {
    gale_allocator handle = { sizeof handle, counting_alloc, counting_resize, counting_release, counting };
    return handle;
}

#endif
