/* The engine's memory: counted, filled with rubbish, and refused now and then, from whatever thread. */
#ifndef TEST_RANDOM_THREADS_MEMORY_H
#define TEST_RANDOM_THREADS_MEMORY_H

#include <gale/alloc.h>

#include <stdatomic.h>

typedef struct rt_memory {
    atomic_ulong blocks, bytes; /* live */
    atomic_ulong calls;
    atomic_uint refuse_one; /* of so many calls one is refused; 0: none */
    uint64_t seed;
} rt_memory;

/* The handle of `memory`, which begins empty. */
gale_allocator rt_memory_begin(rt_memory *memory, uint64_t seed);

#endif
