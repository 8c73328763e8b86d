/* A checksum of each page in the log, in memory: what is read from the log is compared with what was written to it, or
 * with what was found to be whole when the store was opened.
 * Threads: any. Owner: the store's. */
#ifndef GX_STORE_SUMS_H
#define GX_STORE_SUMS_H

#include "base/alloc.h"

#include <pthread.h>

typedef struct gx_sums {
    gx_heap *heap;
    pthread_mutex_t mutex;
    uint64_t *of; /* by frame, from 0 */
    size_t capacity;
} gx_sums;

void gx_sums_init(gx_sums *sums, gx_heap *heap);
void gx_sums_fini(gx_sums *sums);

/* False when memory is out. */
bool gx_sums_set(gx_sums *sums, uint64_t frame, const void *page, size_t size);

/* Is the page what was set last? */
bool gx_sums_fit(gx_sums *sums, uint64_t frame, const void *page, size_t size);

#endif
