#include "system/random_threads/memory.h"

#include "base/random.h"
#include "system/random_threads/truth.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 16 };

static bool refused(rt_memory *memory) {
    unsigned one = atomic_load_explicit(&memory->refuse_one, memory_order_relaxed);
    uint64_t call = atomic_fetch_add_explicit(&memory->calls, 1, memory_order_relaxed);
    return one && gx_random_mix(memory->seed + call) % one == 0;
}

static void *take(void *user, size_t size) {
    rt_memory *memory = user;
    char *block = refused(memory) ? NULL : malloc(size + HEAD);
    if (!block) return NULL;
    memcpy(block, &size, sizeof size);
    memset(block + HEAD, 0xa5, size); /* nobody may count on zeros that the C library happens to give */
    atomic_fetch_add_explicit(&memory->blocks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&memory->bytes, size, memory_order_relaxed);
    return block + HEAD;
}

static void give_back(void *user, void *block, size_t size) {
    rt_memory *memory = user;
    char *start = (char *)block - HEAD;
    size_t made;
    memcpy(&made, start, sizeof made);
    if (made != size) rt_violated("a block of %zu bytes came back as one of %zu", made, size);
    atomic_fetch_sub_explicit(&memory->blocks, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&memory->bytes, size, memory_order_relaxed);
    free(start);
}

static void *resize(void *user, void *block, size_t old_size, size_t new_size) {
    void *made = take(user, new_size);
    if (!made) return NULL;
    memcpy(made, block, old_size < new_size ? old_size : new_size);
    give_back(user, block, old_size);
    return made;
}

gale_allocator rt_memory_begin(rt_memory *memory, uint64_t seed) {
    memset(memory, 0, sizeof *memory);
    memory->seed = seed;
    return (gale_allocator){ sizeof(gale_allocator), take, resize, give_back, memory };
}
