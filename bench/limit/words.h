/* What both word limits share: taking a sentence apart, and counting words. */
#ifndef BENCH_LIMIT_WORDS_H
#define BENCH_LIMIT_WORDS_H

#include "limit/limit.h"

enum { BENCH_TABLE = 1 << 16 };

/* A word of at most BENCH_WORD bytes, zeros behind it. */
typedef struct bench_count {
    uint64_t text[2];
    uint64_t count;
} bench_count;

typedef struct bench_counts {
    bench_count *at; /* [BENCH_TABLE] */
} bench_counts;

void bench_counts_init(bench_counts *counts);
void bench_counts_fini(bench_counts *counts);

/* A bolt: counts the record's word. Words have at most 16 bytes, and there are fewer than BENCH_TABLE. */
gale_str bench_counts_take(void *self, const bench_record *record);

/* Bytes of `eight` before the first blank: 0 to 8. */
GX_INLINE size_t bench_before_blank(uint64_t eight) {
    uint64_t x = eight ^ UINT64_C(0x2020202020202020);
    uint64_t zeros = (x - UINT64_C(0x0101010101010101)) & ~x & UINT64_C(0x8080808080808080);
    return zeros ? (size_t)__builtin_ctzll(zeros) / 8 : 8;
}

/* The next word of `line` from `*at` on; false when there is none. There are 8 more bytes behind the line. */
GX_INLINE bool bench_next_word(gale_str line, size_t *at, gale_str *ret_word) {
    if (*at >= line.size) return false;
    const char *from = line.data + *at;
    size_t size = 0, step;
    do {
        uint64_t eight;
        memcpy(&eight, from + size, sizeof eight);
        step = bench_before_blank(eight);
        size += step;
    } while (step == 8 && *at + size < line.size);
    if (*at + size > line.size) size = line.size - *at;
    *ret_word = (gale_str){ from, size };
    *at += size + 1;
    return true;
}

#endif
