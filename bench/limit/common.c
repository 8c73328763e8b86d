#include "base/os/time.h"
#include "limit/limit.h"
#include "limit/words.h"

#include <stdio.h>
#include <stdlib.h>

static void *some(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory) return memory;
    perror("memory");
    exit(1);
}

void bench_slab_init(bench_slab *slab, uint64_t size) {
    *slab = (bench_slab){ .trees = some(size, sizeof *slab->trees), .size = size };
    for (uint64_t i = 0; i < size; i++) slab->trees[i] = (bench_tree){ .generation = 1, .next = i + 1 };
}

static int64_t began;

void bench_loop_begin(bench_loop *loop) {
    loop->done = 0;
    began = gx_os_monotonic();
}

bool bench_loop_over(bench_loop *loop, uint64_t done) {
    if (done) bench_trials_first();
    loop->done = done;
    loop->spent = gx_os_monotonic() - began;
    return loop->nanoseconds ? loop->spent >= loop->nanoseconds : done >= loop->trees;
}

void bench_counts_init(bench_counts *counts) {
    counts->at = some(BENCH_TABLE, sizeof *counts->at);
}

void bench_counts_fini(bench_counts *counts) {
    free(counts->at);
}

gale_str bench_take_null(void *self, const bench_record *record) {
    *(uint64_t *)self += record->size;
    return (gale_str){ NULL, 0 };
}

gale_str bench_take_id(void *self, const bench_record *record) {
    (void)self;
    return (gale_str){ record->text, record->size };
}

/* The first `size` bytes of these eight. */
static uint64_t bytes_of(const char *eight, size_t size) {
    uint64_t value;
    memcpy(&value, eight, sizeof value);
    return size >= 8 ? value : value & ((UINT64_C(1) << 8 * size) - 1);
}

gale_str bench_counts_take(void *self, const bench_record *record) {
    bench_counts *counts = self;
    uint64_t low = bytes_of(record->text, record->size);
    uint64_t high = record->size > 8 ? bytes_of(record->text + 8, record->size - 8) : 0;
    unsigned __int128 mixed = (unsigned __int128)(low ^ UINT64_C(0x9e3779b97f4a7c15)) *
                              (high ^ UINT64_C(0xe7037ed1a0b428db));
    for (uint64_t i = (uint64_t)mixed ^ (uint64_t)(mixed >> 64);; i++) {
        bench_count *place = &counts->at[i % BENCH_TABLE];
        if (GX_LIKELY(place->text[0] == low && place->text[1] == high)) {
            place->count++;
            break;
        }
        if (place->count) continue;
        *place = (bench_count){ { low, high }, 1 };
        break;
    }
    return (gale_str){ NULL, 0 };
}
