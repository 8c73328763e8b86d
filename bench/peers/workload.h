/* The work that every map of `script/bench maps` does, for the peers in C and C++. maps-java/src/Maps.java and
 * maps-rust/src/main.rs do the same with the same numbers; README.md says what the numbers mean.
 *
 * A peer reads commands, one a line, and answers each with one line:
 *
 *     fill KEYS THREADS        a new map with so many entries, a third in each of three buckets       ok
 *     reads PERCENT OPS SEED   gets and, for the rest, puts of keys that are there                    NS CHECK
 *     ack OPS SEED             inits a key, takes the one that has been there longest; an op is half  NS CHECK
 *     zipf OPS SEED            put-if-absent into a map of its own; rotated every so many operations  NS CHECK
 *     memory KEYS              rotates a full map; then ten turnovers          ROTATION_NS USED RSS USED RSS
 *
 * CHECK follows from the seed: peers that do the same work say the same. Threads begin together, and NS is from when
 * the first begins until the last ends. Drawing the keys is not in it; making a key of its number (mix) is. */
#ifndef GALE_BENCH_WORKLOAD_H
#define GALE_BENCH_WORKLOAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HOT static inline __attribute__((always_inline))

enum { THREADS_MAX = 2, BUCKETS = 3, ZIPF_PERIOD_MAX = 500000, TURNOVERS = 10 };

/* One map. Keys and values are 64-bit numbers. */
typedef struct map_kind {
    const char *name;
    bool shared;  /* threads share one; else each thread has one of its own, with its share of the keys */
    bool expires; /* `rotate` forgets the oldest bucket */
    void *(*make)(void);
    void (*end)(void *map);
    void (*put)(void *map, uint64_t key, uint64_t value);
    uint64_t (*get)(void *map, uint64_t key);                       /* 0: not there */
    uint64_t (*take)(void *map, uint64_t key);                      /* removes; 0: was not there */
    bool (*put_if_absent)(void *map, uint64_t key, uint64_t value); /* was it new? */
    void (*rotate)(void *map);
    size_t (*memory)(void *map);
} map_kind;

/* --- The stream of keys --- */

HOT uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

HOT uint64_t key_of(uint64_t number) {
    return mix(number + UINT64_C(0x9e3779b97f4a7c15));
}

HOT uint64_t value_of(uint64_t key) {
    return key | 1;
}

/* SplitMix64. */
static inline uint64_t draw(uint64_t *state) {
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return mix(*state);
}

static inline uint64_t draw_below(uint64_t *state, uint64_t n) {
    return ((draw(state) >> 32) * n) >> 32;
}

/* A rank r of 0 .. n-1 with a probability in proportion to 1/(r+1), exactly, in whole numbers: so it comes out the same
 * in every language. An octave is chosen evenly, a rank in it evenly, and then it is kept with 2^octave in rank. */
static inline uint64_t draw_zipf(uint64_t *state, uint64_t n) {
    uint64_t octaves = 64 - (uint64_t)__builtin_clzll(n);
    for (;;) {
        uint64_t low = UINT64_C(1) << draw_below(state, octaves);
        uint64_t rank = low + (draw(state) & (low - 1));
        uint64_t chance = draw_below(state, rank);
        if (rank <= n && chance < low) return rank - 1;
    }
}

/* --- A trial --- */

typedef enum work_kind { WORK_READS, WORK_ACK, WORK_ZIPF } work_kind;

/* One thread's share of a trial. */
typedef struct share {
    void *map;
    uint32_t *steps; /* numbers of keys; the highest bit: write */
    uint64_t ops;
    uint64_t thread;
    uint64_t threads;
    uint64_t keys;
    uint64_t oldest; /* in flight: the number of the key that is acked next */
    uint64_t period; /* operations between two rotations; 0: none */
    uint64_t check;
    int64_t began;
    int64_t ended;
    work_kind work;
} share;

static pthread_barrier_t all_are_there;

static inline int64_t now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

HOT uint64_t do_reads(const map_kind *kind, const share *j) {
    uint64_t check = 0;
    for (uint64_t i = 0; i < j->ops; i++) {
        uint64_t key = key_of(j->steps[i] & INT32_MAX);
        if (j->steps[i] >> 31)
            kind->put(j->map, key, value_of(key));
        else
            check += kind->get(j->map, key);
    }
    return check;
}

HOT uint64_t do_ack(const map_kind *kind, share *j) {
    uint64_t check = 0, until_rotation = j->period;
    for (uint64_t i = 0; i < j->ops / 2; i++, j->oldest += j->threads) {
        uint64_t fresh = key_of(j->oldest + j->keys), done = key_of(j->oldest);
        kind->put(j->map, fresh, value_of(fresh));
        check += (kind->take(j->map, done) ^ value_of(done)) == 0;
        if (until_rotation && --until_rotation == 0) kind->rotate(j->map), until_rotation = j->period;
    }
    return check;
}

HOT uint64_t do_zipf(const map_kind *kind, const share *j) {
    uint64_t check = 0, until_rotation = j->period;
    for (uint64_t i = 0; i < j->ops; i++) {
        uint64_t key = key_of(j->steps[i]);
        check += kind->put_if_absent(j->map, key, value_of(key));
        if (until_rotation && --until_rotation == 0) kind->rotate(j->map), until_rotation = j->period;
    }
    return check;
}

/* Inlined once a map, so that nothing is called through a pointer. */
HOT void *do_job(const map_kind *kind, void *arg) {
    share *j = (share *)arg;
    pthread_barrier_wait(&all_are_there);
    j->began = now();
    if (j->work == WORK_READS) j->check = do_reads(kind, j);
    if (j->work == WORK_ACK) j->check = do_ack(kind, j);
    if (j->work == WORK_ZIPF) j->check = do_zipf(kind, j);
    j->ended = now();
    return NULL;
}

/* --- A peer --- */

typedef struct peer {
    const map_kind *kind;
    void *(*run)(void *share);
    void *full[THREADS_MAX]; /* the same one, when they share */
    void *seen[THREADS_MAX]; /* of the Zipf stream */
    uint64_t oldest[THREADS_MAX];
    uint64_t keys;
    uint64_t threads;
} peer;

static inline void end_maps(const peer *p, void **maps) {
    for (uint64_t t = 0; t < (p->kind->shared ? 1 : THREADS_MAX); t++)
        if (maps[t]) p->kind->end(maps[t]);
    memset(maps, 0, THREADS_MAX * sizeof *maps);
}

static inline void make_maps(const peer *p, void **maps) {
    end_maps(p, maps);
    for (uint64_t t = 0; t < p->threads; t++) maps[t] = t && p->kind->shared ? maps[0] : p->kind->make();
}

static inline void put_range(const map_kind *kind, void *map, uint64_t from, uint64_t to, uint64_t step) {
    for (uint64_t i = from; i < to; i += step) kind->put(map, key_of(i), value_of(key_of(i)));
}

static inline void fill(peer *p, uint64_t keys, uint64_t threads) {
    p->keys = keys, p->threads = threads;
    make_maps(p, p->full);
    end_maps(p, p->seen);
    uint64_t maps = p->kind->shared ? 1 : threads;
    for (uint64_t t = 0; t < maps; t++)
        for (uint64_t b = 0; b < BUCKETS; b++) {
            if (b) p->kind->rotate(p->full[t]);
            uint64_t from = keys / maps * b / BUCKETS, to = keys / maps * (b + 1) / BUCKETS;
            put_range(p->kind, p->full[t], t + from * maps, t + to * maps, maps);
        }
    for (uint64_t t = 0; t < threads; t++) p->oldest[t] = t;
}

/* The part of the keys that this thread's map has, as numbers 0 .. n-1, and the way back. */
static inline uint64_t draw_number(const peer *p, const share *j, uint64_t *state) {
    uint64_t parts = p->kind->shared ? 1 : p->threads, first = p->kind->shared ? 0 : j->thread;
    bool zipf = j->work == WORK_ZIPF;
    return first + parts * (zipf ? draw_zipf(state, p->keys / parts) : draw_below(state, p->keys / parts));
}

static inline void draw_steps(const peer *p, share *j, uint64_t percent, uint64_t seed) {
    uint64_t state = mix(seed + j->thread);
    if (j->work == WORK_ACK) return;
    j->steps = (uint32_t *)malloc(j->ops * sizeof *j->steps);
    if (!j->steps) exit(1);
    for (uint64_t i = 0; i < j->ops; i++) {
        uint32_t number = (uint32_t)draw_number(p, j, &state);
        bool write = j->work == WORK_READS && draw_below(&state, 100) >= percent;
        j->steps[i] = number | (uint32_t)write << 31;
    }
}

/* Threads that share a map run at their own pace: who is held up would find that a rotation by operations took its
 * trees, so then only the Zipf stream, where that is no error, is rotated, by the first thread. */
static inline uint64_t period_of(const peer *p, const share *j) {
    uint64_t zipf = p->keys < ZIPF_PERIOD_MAX ? p->keys : (uint64_t)ZIPF_PERIOD_MAX;
    if (!p->kind->shared || p->threads == 1)
        return j->work == WORK_ZIPF ? zipf / p->threads : j->work == WORK_ACK ? p->keys / p->threads : 0;
    return j->work == WORK_ZIPF && j->thread == 0 ? zipf / p->threads : 0;
}

static inline void run(peer *p, work_kind w, uint64_t percent, uint64_t ops, uint64_t seed) {
    share jobs[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    memset(jobs, 0, sizeof jobs);
    if (w == WORK_ZIPF && !p->seen[0]) make_maps(p, p->seen);
    for (uint64_t t = 0; t < p->threads; t++) {
        share *j = &jobs[t];
        j->map = w == WORK_ZIPF ? p->seen[t] : p->full[t];
        j->work = w, j->ops = ops / p->threads, j->thread = t, j->threads = p->threads, j->keys = p->keys;
        j->oldest = p->oldest[t];
        j->period = period_of(p, j);
        draw_steps(p, j, percent, seed);
    }
    pthread_barrier_init(&all_are_there, NULL, (unsigned)p->threads);
    for (uint64_t t = 1; t < p->threads; t++)
        if (pthread_create(&threads[t], NULL, p->run, &jobs[t]) != 0) exit(1);
    p->run(&jobs[0]);
    for (uint64_t t = 1; t < p->threads; t++) pthread_join(threads[t], NULL);
    pthread_barrier_destroy(&all_are_there);
    int64_t began = INT64_MAX, ended = 0;
    uint64_t check = 0;
    for (uint64_t t = 0; t < p->threads; t++) {
        began = jobs[t].began < began ? jobs[t].began : began;
        ended = jobs[t].ended > ended ? jobs[t].ended : ended;
        check += jobs[t].check;
        p->oldest[t] = jobs[t].oldest;
        free(jobs[t].steps);
    }
    printf("%lld %llu\n", (long long)(ended - began), (unsigned long long)check);
}

/* --- Memory, and a rotation in which nothing dies --- */

static inline long long resident(void) {
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*s %lld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* The oldest bucket goes, a new one is filled. Who cannot expire removes the same entries. */
static inline void turn(const map_kind *kind, void *map, uint64_t keys, uint64_t bucket) {
    uint64_t part = keys / BUCKETS;
    kind->rotate(map);
    if (!kind->expires)
        for (uint64_t i = 0; i < part; i++) kind->take(map, key_of((bucket - BUCKETS) * part + i));
    put_range(kind, map, bucket * part, (bucket + 1) * part, 1);
}

/* A rotation or two after the fill, nothing is in the oldest of three buckets. */
static inline long long time_rotation(const map_kind *kind, void *map) {
    long long longest = -1;
    for (int i = 0; kind->expires && i < BUCKETS - 1; i++) {
        int64_t before = now();
        kind->rotate(map);
        int64_t took = now() - before;
        longest = took > longest ? took : longest;
    }
    return longest;
}

static inline void memory(const map_kind *kind, uint64_t keys) {
    long long at_first = resident();
    void *map = kind->make();
    keys = keys / BUCKETS * BUCKETS;
    put_range(kind, map, 0, keys, 1);
    size_t used = kind->memory(map);
    long long rss = resident() - at_first, rotation = time_rotation(kind, map);
    for (uint64_t b = BUCKETS; b < BUCKETS * (TURNOVERS + 1); b++) turn(kind, map, keys, b);
    printf("%lld %zu %lld %zu %lld\n", rotation, used, rss, kind->memory(map), resident() - at_first);
    kind->end(map);
}

/* Reads and answers commands until there are no more. */
static inline int serve(const map_kind *kind, void *(*run_job)(void *)) {
    peer p;
    memset(&p, 0, sizeof p);
    p.kind = kind, p.run = run_job;
    char line[128];
    while (fgets(line, sizeof line, stdin)) {
        unsigned long long a = 0, b = 0, c = 0;
        if (sscanf(line, "fill %llu %llu", &a, &b) == 2 && a >= 100 && a < INT32_MAX && b >= 1 && b <= THREADS_MAX)
            fill(&p, a, b), puts("ok");
        else if (sscanf(line, "memory %llu", &a) == 1 && a >= 100)
            memory(kind, a);
        else if (p.keys && sscanf(line, "reads %llu %llu %llu", &a, &b, &c) == 3)
            run(&p, WORK_READS, a, b, c);
        else if (p.keys && sscanf(line, "ack %llu %llu", &b, &c) == 2)
            run(&p, WORK_ACK, 0, b, c);
        else if (p.keys && sscanf(line, "zipf %llu %llu", &b, &c) == 2)
            run(&p, WORK_ZIPF, 0, b, c);
        else
            return fprintf(stderr, "%s: what is '%s'?\n", kind->name, line), 2;
        fflush(stdout);
    }
    end_maps(&p, p.full);
    end_maps(&p, p.seen);
    return 0;
}

#endif
