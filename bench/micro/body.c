/* A tuple's body written and read: one short string, and four values of different types. */
#include "tuple/body.h"
#include "micro/micro.h"

#include <stdio.h>

enum { TIMES = 1000000, VALUES_MAX = 4 };

typedef struct bench {
    gale_value values[VALUES_MAX];
    size_t count;
    alignas(8) unsigned char bytes[256];
} bench;

static void encode(void *self) {
    bench *b = self;
    for (int i = 0; i < TIMES; i++) {
        b->values[0].size = 8 + (i & 1);
        bench_micro_sink += (uint64_t)gx_body_measure(b->values, b->count);
        gx_body_encode(b->values, b->count, b->bytes);
    }
}

static void decode(void *self) {
    bench *b = self;
    for (int i = 0; i < TIMES; i++)
        for (size_t k = 0; k < b->count; k++) {
            gale_value value = gale_body_value((const gale_body *)b->bytes, k);
            bench_micro_sink += value.size + value.type;
        }
}

static void measure(bench *b, const char *what) {
    char text[80];
    snprintf(text, sizeof text, "body of %s: write", what);
    bench_micro_tell(text, bench_micro_time(encode, b, TIMES));
    snprintf(text, sizeof text, "body of %s: read", what);
    bench_micro_tell(text, bench_micro_time(decode, b, TIMES));
}

void bench_micro_body(void) {
    static bench b;
    b.values[0] = gale_string("some data", 9);
    b.count = 1;
    measure(&b, "one string");
    b.values[1] = gale_i64(12);
    b.values[2] = gale_f64(0.5);
    b.values[3] = gale_string("another, longer string", 22);
    b.count = VALUES_MAX;
    measure(&b, "two strings and two numbers");
}
