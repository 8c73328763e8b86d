/* Limits on one core: bursts of trees that stay in the first-level cache, hop by hop. */
#include "harness/text.h"
#include "limit/words.h"

#include <stdlib.h>

enum { BURST = 128, LINE_BURST = 32 };

/* Reads `count` records; each that `bolt` passes on is written to `to`, with an id of its own. Returns how many were. */
GX_INLINE uint32_t hop(const bench_record *from, uint32_t count, bench_limit_bolt *bolt, void *self, bench_record *to,
                       bench_slab *slab, gx_random *random, bool acks) {
    uint32_t made = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t child = 0;
        gale_str text = bolt(self, &from[i]);
        if (to) {
            if (acks) child = gx_random_id(random);
            bench_fill(&to[made++], from[i].root, child, 3, text, BENCH_ALL);
        }
        if (acks) bench_slab_ack(slab, from[i].root, from[i].edge ^ child);
    }
    return made;
}

/* A burst of trees of `fan` deliveries each. */
GX_INLINE void emit(bench_record *to, uint32_t fan, bench_slab *slab, gx_random *random, bool acks, uint64_t *number) {
    for (uint32_t i = 0; i < BURST; i++) {
        uint64_t root = acks ? bench_slab_open(slab, ++*number) : 0, edges = 0;
        for (uint32_t k = 0; k < fan; k++) {
            uint64_t edge = acks ? gx_random_id(random) : 0;
            edges ^= edge;
            bench_fill(to++, root, edge, (uint16_t)(k + 2), (gale_str){ "some data", 9 }, BENCH_CONST);
        }
        if (acks) bench_slab_begin(slab, root, edges);
    }
}

/* Spout, bolts, bolts: `fan` deliveries from the spout, `hops` of each. Inlined with constants into the loops below. */
GX_INLINE void run(bench_loop *loop, uint32_t fan, int hops, bool acks) {
    bench_limit_bolt *volatile null = bench_take_null, *volatile id = bench_take_id;
    bench_record *first = calloc((size_t)BURST * fan, sizeof *first),
                 *second = calloc((size_t)BURST * fan, sizeof *second);
    bench_slab slab;
    gx_random random = gx_random_new(1, 1);
    uint64_t sum = 0, number = 0, done = 0;
    bench_slab_init(&slab, BURST);
    if (!first || !second) exit(1);
    bench_loop_begin(loop);
    do {
        emit(first, fan, &slab, &random, acks, &number);
        if (hops == 2) hop(first, BURST * fan, id, NULL, second, &slab, &random, acks);
        hop(hops == 2 ? second : first, BURST * fan, null, &sum, NULL, &slab, &random, acks);
        done = acks ? slab.done : done + BURST;
    } while (!bench_loop_over(loop, done));
    free(slab.trees);
    free(first);
    free(second);
}

void bench_limit_chain(bench_loop *loop, int hops) {
    bool acks = loop->arguments->acks;
    if (hops == 1)
        acks ? run(loop, 1, 1, true) : run(loop, 1, 1, false);
    else
        acks ? run(loop, 1, 2, true) : run(loop, 1, 2, false);
}

void bench_limit_fan_out(bench_loop *loop) {
    loop->arguments->acks ? run(loop, 10, 1, true) : run(loop, 10, 1, false);
}

void bench_limit_diamond(bench_loop *loop) {
    loop->arguments->acks ? run(loop, 2, 2, true) : run(loop, 2, 2, false);
}

/* --- Words --- */

typedef struct line_record {
    uint64_t root, edge;
    uint32_t size;
    char text[BENCH_LINE_WORDS * 11 + BENCH_WORD];
} line_record;

static gale_str take_line(void *self, const bench_record *record) {
    (void)self;
    const line_record *line = (const line_record *)record;
    return (gale_str){ line->text, line->size };
}

GX_INLINE void emit_lines(line_record *to, const gale_str **at, bench_slab *slab, gx_random *random, bool acks) {
    const gale_str *lines = bench_text_lines();
    for (uint32_t i = 0; i < LINE_BURST; i++) {
        to[i].root = acks ? bench_slab_open(slab, i) : 0;
        to[i].edge = acks ? gx_random_id(random) : 0;
        if (acks) bench_slab_begin(slab, to[i].root, to[i].edge);
        to[i].size = (uint32_t)(*at)->size;
        memcpy(to[i].text, (*at)->data, (*at)->size);
        if (++*at == lines + BENCH_LINES) *at = lines;
    }
}

/* Every word a record of its own. */
GX_INLINE uint32_t split_lines(const line_record *from, bench_limit_bolt *split, bench_record *to, bench_slab *slab,
                               gx_random *random, bool acks) {
    uint32_t made = 0;
    for (uint32_t i = 0; i < LINE_BURST; i++) {
        gale_str line = split(NULL, (const bench_record *)&from[i]), word;
        uint64_t edges = from[i].edge;
        for (size_t at = 0; bench_next_word(line, &at, &word);) {
            uint64_t edge = acks ? gx_random_id(random) : 0;
            edges ^= edge;
            bench_fill(&to[made++], from[i].root, edge, 3, word, BENCH_WORD);
        }
        if (acks) bench_slab_ack(slab, from[i].root, edges);
    }
    return made;
}

GX_INLINE void run_words(bench_loop *loop, bool acks) {
    static line_record lines[LINE_BURST];
    static bench_record words[LINE_BURST * BENCH_LINE_WORDS];
    bench_limit_bolt *volatile split = take_line, *volatile count = bench_counts_take;
    const gale_str *at = bench_text_lines();
    bench_counts counts;
    bench_slab slab;
    gx_random random = gx_random_new(1, 1);
    uint64_t done = 0;
    bench_slab_init(&slab, LINE_BURST);
    bench_counts_init(&counts);
    bench_loop_begin(loop);
    do {
        emit_lines(lines, &at, &slab, &random, acks);
        uint32_t made = split_lines(lines, split, words, &slab, &random, acks);
        hop(words, made, count, &counts, NULL, &slab, &random, acks);
        done = acks ? slab.done : done + LINE_BURST;
    } while (!bench_loop_over(loop, done));
    bench_counts_fini(&counts);
    free(slab.trees);
}

void bench_limit_words(bench_loop *loop) {
    loop->arguments->acks ? run_words(loop, true) : run_words(loop, false);
}
