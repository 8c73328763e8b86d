/* What the connections to one database share: SQLite's index of the log and its locks. SQLite usually keeps them in a
 * third file, for other processes; a folder is one process's alone, so here they are in memory, and there is one file
 * less that could be damaged.
 * Threads: any. Owner: the store's. */
#ifndef GX_STORE_SHARED_H
#define GX_STORE_SHARED_H

#include "base/alloc.h"

#include <pthread.h>

enum { GX_SHARED_LOCKS = 8 };

typedef struct gx_shared {
    gx_heap *heap;
    pthread_mutex_t mutex;
    void **regions;
    size_t count, capacity, region_size;
    int held[GX_SHARED_LOCKS]; /* by so many readers; -1: by one alone */
} gx_shared;

/* What one connection holds: a bit a lock. */
typedef struct gx_shared_holds {
    uint32_t readers, alone;
} gx_shared_holds;

void gx_shared_init(gx_shared *shared, gx_heap *heap);
void gx_shared_fini(gx_shared *shared);

/* The region of that number, zeroed when it is made; NULL when it is not there and `make` is false. False: no memory.
 * */
bool gx_shared_region(gx_shared *shared, size_t number, size_t size, bool make, void **ret_region);

/* Takes the locks first .. first + count - 1, for reading or alone, or none. */
bool gx_shared_lock(gx_shared *shared, gx_shared_holds *holds, int first, int count, bool alone);
void gx_shared_unlock(gx_shared *shared, gx_shared_holds *holds, int first, int count);

/* What this thread wrote before is seen by whoever comes here later, and the other way round. */
void gx_shared_barrier(gx_shared *shared);

#endif
