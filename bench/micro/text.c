/* Words of 1 to 12 bytes, whose lengths nobody can predict: written into a body, hashed as fields grouping does, and counted in
 * a map of 10,000. */
#include "base/random.h"
#include "ds/bytes_map.h"
#include "micro/micro.h"
#include "tuple/flat.h"
#include "tuple/hash.h"

#include <stdlib.h>

enum { WORDS = 10000, DRAWN = 1 << 18, LONGEST = 12 };

typedef struct bench {
    gale_value drawn[DRAWN];
    gx_bytes_map *map;
    char vocabulary[WORDS][LONGEST];
    alignas(8) uint8_t room[256];
} bench;

static void spell(bench *b, gx_random *random) {
    uint32_t sizes[WORDS];
    for (int i = 0; i < WORDS; i++) {
        sizes[i] = 1 + gx_random_below(random, LONGEST);
        for (uint32_t k = 0; k < sizes[i]; k++) b->vocabulary[i][k] = (char)('a' + gx_random_below(random, 26));
    }
    for (int i = 0; i < DRAWN; i++) {
        uint32_t word = gx_random_below(random, WORDS);
        b->drawn[i] = gale_string(b->vocabulary[word], sizes[word]);
    }
}

static void write_bodies(void *self) {
    bench *b = self;
    for (int i = 0; i < DRAWN; i++) bench_micro_sink += gx_flat_write(&b->drawn[i], 1, b->room, sizeof b->room);
}

static void hash(void *self) {
    bench *b = self;
    static const uint16_t first = 0;
    for (int i = 0; i < DRAWN; i++) bench_micro_sink += gx_values_hash(&b->drawn[i], &first, 1);
}

static void count(void *self) {
    bench *b = self;
    for (int i = 0; i < DRAWN; i++) {
        uint64_t *times = gx_bytes_map_put(b->map, (gale_str){ b->drawn[i].as.string, b->drawn[i].size }, NULL);
        if (!times) exit(1);
        ++*times;
    }
}

void bench_micro_text(void) {
    static bench b;
    gx_heap heap;
    gx_random random = gx_random_new(6, 1);
    spell(&b, &random);
    gx_heap_init(&heap, NULL);
    b.map = gx_bytes_map_new(&heap, sizeof(uint64_t), gx_random_next(&random));
    if (!b.map) exit(1);
    bench_micro_tell("word of 1 to 12 bytes, written", bench_micro_time(write_bodies, &b, DRAWN));
    bench_micro_tell("word of 1 to 12 bytes, hashed", bench_micro_time(hash, &b, DRAWN));
    bench_micro_tell("word of 1 to 12 bytes, counted among 10,000", bench_micro_time(count, &b, DRAWN));
    gx_bytes_map_free(b.map);
}
