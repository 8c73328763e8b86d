/* The rotating map with very many keys: put, get and remove in random order. `script/bench maps` compares it with its
 * peers. */
#include "base/random.h"
#include "micro/micro.h"

#include <gale/rotating_map.h>
#include <stdlib.h>

typedef struct bench {
    gale_rotating_map *map;
    uint64_t keys;
    uint64_t rounds;
} bench;

static void gets(void *self) {
    bench *b = self;
    gx_random random = gx_random_new(++b->rounds, 1);
    for (uint64_t i = 0; i < b->keys; i++)
        bench_micro_sink += *(uint64_t *)gale_rotating_map_get(b->map, gx_random_next(&random) % b->keys);
}

static void puts_and_removes(void *self) {
    bench *b = self;
    gx_random random = gx_random_new(++b->rounds, 1);
    for (uint64_t i = 0; i < b->keys; i++) {
        uint64_t key = gx_random_next(&random) % b->keys;
        gale_rotating_map_remove(b->map, key, NULL);
        if (gale_rotating_map_put(b->map, key, &i, NULL) < 0) exit(1);
    }
}

void bench_micro_map(uint64_t keys) {
    bench b = { .keys = keys };
    gale_rotating_map_options options = GALE_ROTATING_MAP_OPTIONS_INIT;
    options.value_size = sizeof(uint64_t);
    if (gale_rotating_map_new(&options, &b.map, NULL) < 0) exit(1);
    for (uint64_t i = 0; i < keys; i++)
        if (gale_rotating_map_put(b.map, i, &i, NULL) < 0) exit(1);
    bench_micro_tell("rotating map, get", bench_micro_time(gets, &b, keys));
    bench_micro_tell("rotating map, remove and put", bench_micro_time(puts_and_removes, &b, keys));
    gale_rotating_map_free(b.map);
}
