/* gale's maps, and the articles' algorithm over the same table, as peers of `script/bench maps` (../workload.h).
 *
 *     gale-rotating     gale_rotating_map
 *     gale-time-cache   gale_time_cache_map, ticked by hand
 *     list-of-maps      what Storm does: a list of n maps, each probed in turn. Each is a gale_rotating_map that never
 *                       rotates, so that what differs is the algorithm and not the table. */
#include <gale/rotating_map.h>
#include <gale/time_cache_map.h>

#include "../workload.h"

static void *or_exit(void *map, int code) {
    if (code < 0) fprintf(stderr, "no map: error %d\n", code), exit(1);
    return map;
}

/* --- gale_rotating_map --- */

static void *rotating_make(void) {
    gale_rotating_map_options options = GALE_ROTATING_MAP_OPTIONS_INIT;
    options.buckets = BUCKETS;
    options.value_size = sizeof(uint64_t);
    options.seed = 1;
    gale_rotating_map *map = NULL;
    int code = gale_rotating_map_new(&options, &map, NULL);
    return or_exit(map, code);
}

static void rotating_end(void *map) {
    gale_rotating_map_free(map);
}

static void rotating_put(void *map, uint64_t key, uint64_t value) {
    or_exit(map, gale_rotating_map_put(map, key, &value, NULL));
}

static uint64_t rotating_get(void *map, uint64_t key) {
    const uint64_t *value = gale_rotating_map_get(map, key);
    return value ? *value : 0;
}

static uint64_t rotating_take(void *map, uint64_t key) {
    uint64_t value;
    return gale_rotating_map_remove(map, key, &value) ? value : 0;
}

static bool rotating_put_if_absent(void *map, uint64_t key, uint64_t value) {
    int code = gale_rotating_map_put_if_absent(map, key, &value, NULL);
    or_exit(map, code);
    return code == 1;
}

static void rotating_rotate(void *map) {
    if (gale_rotating_map_rotate(map, NULL, NULL) < 0) exit(1);
}

static size_t rotating_memory(void *map) {
    return gale_rotating_map_memory(map);
}

static const map_kind rotating = { "gale-rotating",        false,           true,           rotating_make,
                                   rotating_end,           rotating_put,    rotating_get,   rotating_take,
                                   rotating_put_if_absent, rotating_rotate, rotating_memory };

static void *rotating_job(void *job) {
    return do_job(&rotating, job);
}

/* --- gale_time_cache_map --- */

/* A clock that only rotations move, by one period each. */
typedef struct cache {
    gale_time_cache_map *map;
    int64_t time;
} cache;

static int64_t cache_now(void *user) {
    return ((cache *)user)->time;
}

static void *cache_make(void) {
    cache *c = calloc(1, sizeof *c);
    if (!c) exit(1);
    gale_clock clock = { .size = sizeof clock, .now = cache_now, .user = c };
    gale_time_cache_map_options options = GALE_TIME_CACHE_MAP_OPTIONS_INIT;
    options.expiration = gale_time_cache_map_seconds(30);
    options.buckets = BUCKETS;
    options.value_size = sizeof(uint64_t);
    options.seed = 1;
    options.clock = &clock;
    int code = gale_time_cache_map_new(&options, &c->map, NULL);
    return or_exit(c, code);
}

static void cache_end(void *map) {
    gale_time_cache_map_free(((cache *)map)->map);
    free(map);
}

static void cache_put(void *map, uint64_t key, uint64_t value) {
    or_exit(map, gale_time_cache_map_put(((cache *)map)->map, key, &value));
}

static uint64_t cache_get(void *map, uint64_t key) {
    uint64_t value;
    return gale_time_cache_map_get(((cache *)map)->map, key, &value) ? value : 0;
}

static uint64_t cache_take(void *map, uint64_t key) {
    uint64_t value;
    return gale_time_cache_map_remove(((cache *)map)->map, key, &value) ? value : 0;
}

static bool cache_put_if_absent(void *map, uint64_t key, uint64_t value) {
    int code = gale_time_cache_map_put_if_absent(((cache *)map)->map, key, &value, NULL);
    or_exit(map, code);
    return code == 1;
}

static void cache_rotate(void *map) {
    cache *c = map;
    c->time += gale_time_cache_map_period(c->map);
    if (gale_time_cache_map_tick(c->map, c->time) < 0) exit(1);
}

static size_t cache_memory(void *map) {
    return gale_time_cache_map_memory(((cache *)map)->map);
}

static const map_kind time_cache = { "gale-time-cache",   true,         true,        cache_make,
                                     cache_end,           cache_put,    cache_get,   cache_take,
                                     cache_put_if_absent, cache_rotate, cache_memory };

static void *time_cache_job(void *job) {
    return do_job(&time_cache, job);
}

/* --- A list of maps --- */

typedef struct list {
    void *maps[BUCKETS]; /* the newest first */
} list;

static void *list_make(void) {
    list *l = calloc(1, sizeof *l);
    if (!l) exit(1);
    for (int i = 0; i < BUCKETS; i++) l->maps[i] = rotating_make();
    return l;
}

static void list_end(void *map) {
    list *l = map;
    for (int i = 0; i < BUCKETS; i++) rotating_end(l->maps[i]);
    free(l);
}

static void list_put(void *map, uint64_t key, uint64_t value) {
    list *l = map;
    rotating_put(l->maps[0], key, value);
    for (int i = 1; i < BUCKETS; i++) (void)gale_rotating_map_remove(l->maps[i], key, NULL);
}

static uint64_t list_get(void *map, uint64_t key) {
    list *l = map;
    uint64_t value = 0;
    for (int i = 0; !value && i < BUCKETS; i++) value = rotating_get(l->maps[i], key);
    return value;
}

static uint64_t list_take(void *map, uint64_t key) {
    list *l = map;
    uint64_t value = 0;
    for (int i = 0; !value && i < BUCKETS; i++) value = rotating_take(l->maps[i], key);
    return value;
}

static bool list_put_if_absent(void *map, uint64_t key, uint64_t value) {
    if (list_get(map, key)) return false;
    rotating_put(((list *)map)->maps[0], key, value);
    return true;
}

/* The dead are not shown to anybody, as in the others. */
static void list_rotate(void *map) {
    list *l = map;
    rotating_end(l->maps[BUCKETS - 1]);
    memmove(l->maps + 1, l->maps, (BUCKETS - 1) * sizeof *l->maps);
    l->maps[0] = rotating_make();
}

static size_t list_memory(void *map) {
    size_t sum = sizeof(list);
    for (int i = 0; i < BUCKETS; i++) sum += rotating_memory(((list *)map)->maps[i]);
    return sum;
}

static const map_kind list_of_maps = { "list-of-maps",     false,       true,       list_make,
                                       list_end,           list_put,    list_get,   list_take,
                                       list_put_if_absent, list_rotate, list_memory };

static void *list_job(void *job) {
    return do_job(&list_of_maps, job);
}

int main(int argc, char **argv) {
    const char *name = argc == 2 ? argv[1] : "";
    if (strcmp(name, rotating.name) == 0) return serve(&rotating, rotating_job);
    if (strcmp(name, time_cache.name) == 0) return serve(&time_cache, time_cache_job);
    if (strcmp(name, list_of_maps.name) == 0) return serve(&list_of_maps, list_job);
    fprintf(stderr, "usage: %s %s|%s|%s, then commands on the standard input (bench/peers/workload.h)\n", argv[0],
            rotating.name, time_cache.name, list_of_maps.name);
    return 2;
}
