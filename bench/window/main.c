/* What a window bolt costs: a tuple, a row, a live pane. Without an engine: a bolt, a collector that throws away, a clock that
 * is moved by hand. callgrind counts by the functions `tuples` and `rows`; bench/window/run.py does.
 *
 *     gale_bench_window KEYS LENGTH SLIDE TUPLES WARM ROUNDS AGGREGATES [change]
 *
 * A round is TUPLES tuples of each key, in one slide of a second of the clock however long SLIDE is, then a tick. WARM rounds
 * come before those that are counted. */
#include "harness/counting_allocator.h"
#include "harness/fake_collector.h"

#include <gale/kit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t told;

static int throw_away(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                      const gale_handle *anchors, size_t anchor_count) {
    (void)out, (void)stream, (void)values, (void)count, (void)anchors, (void)anchor_count;
    told++;
    return 1;
}

typedef struct bench {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
    gale_tuple *keys;
    size_t key_count, tuples;
    gale_tuple tick;
} bench;

static void run(bench *b, const gale_tuple *tuple) {
    if (b->bolt.ops->execute(b->self, tuple, &b->fake.collector) < 0) exit(1);
}

__attribute__((noinline)) static void tuples(bench *b) {
    for (size_t n = 0; n < b->tuples; n++)
        for (size_t k = 0; k < b->key_count; k++) run(b, &b->keys[k]);
}

__attribute__((noinline)) static void rows(bench *b) {
    gale_manual_clock_advance(b->fake.clock, GALE_SECOND);
    run(b, &b->tick);
}

/* What follows does the same as what is counted, and must not become one function with it. */
static volatile long warmed;

__attribute__((noinline)) static void warm_tuples(bench *b) {
    warmed++;
    for (size_t k = 0; k < b->key_count; k++) run(b, &b->keys[k]);
}

__attribute__((noinline)) static void warm_rows(bench *b) {
    warmed++;
    gale_manual_clock_advance(b->fake.clock, GALE_SECOND);
    run(b, &b->tick);
}

static void *copy_of(const void *bytes, size_t size) {
    void *copy = malloc(size);
    if (!copy) exit(1);
    return memcpy(copy, bytes, size);
}

static void make_tuples(bench *b) {
    b->keys = calloc(b->key_count, sizeof *b->keys);
    fake_source(&b->fake, "source", "k, x, y");
    for (size_t k = 0; k < b->key_count; k++) {
        char key[32];
        snprintf(key, sizeof key, "key %zu", k);
        gale_value values[3] = { gale_text(key), gale_i64((int64_t)(k * 7919 % 1000)),
                                 gale_f64((double)(k % 100) / 8) };
        b->keys[k] = *fake_tuple(&b->fake, values, 3);
        b->keys[k].body = copy_of(b->keys[k].body, gx_body_measure(values, 3));
    }
    b->tick = *fake_tick(&b->fake, 1);
    gale_value second = gale_i64(1);
    b->tick.body = copy_of(b->tick.body, gx_body_measure(&second, 1));
}

int main(int argc, char **argv) {
    static bench b;
    static counting_allocator counting;
    static gale_collector_ops ops;
    gale_error error = GALE_ERROR_INIT;
    if (argc < 8) return 2;
    gale_window_options options = { .size = sizeof options,
                                    .key = "k",
                                    .aggregates = argv[7],
                                    .length = strtod(argv[2], NULL),
                                    .slide = strtod(argv[3], NULL),
                                    .max_bytes = UINT64_C(1) << 40,
                                    .emit = argc > 8 ? GALE_WINDOW_EMIT_CHANGE : GALE_WINDOW_EMIT_CLOSE };
    gale_allocator allocator = counting_handle(&counting);
    fake_init(&b.fake);
    ops = *b.fake.collector.ops;
    ops.emit_anchored = throw_away;
    b.fake.collector.ops = &ops;
    b.fake.context.allocator = &allocator;
    b.key_count = (size_t)atoll(argv[1]);
    b.tuples = (size_t)atoll(argv[4]);
    if (gale_window_bolt(&options, &b.bolt, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    if (fake_prepare(&b.fake, &b.bolt, &b.self) < 0) return 1;
    make_tuples(&b);
    size_t empty = counting.bytes;
    long warm = atol(argv[5]), rounds = atol(argv[6]);
    for (long n = 0; n < warm; n++) warm_tuples(&b), warm_rows(&b);
    uint64_t before = told;
    for (long n = 0; n < rounds; n++) tuples(&b), rows(&b);
    printf("tuples %zu rows %llu bytes %zu a key %.1f\n", b.key_count * b.tuples * (size_t)rounds,
           (unsigned long long)(told - before), counting.bytes - empty,
           (double)(counting.bytes - empty) / (double)b.key_count);
    b.bolt.ops->cleanup(b.self);
    return 0;
}
