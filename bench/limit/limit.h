/* The limits: hand-written loops that do the essential work of a flow and nothing else, compiled with gale's flags. What
 * is essential: an id drawn for every delivery from gale's own generator; a record of 64 bytes written for it and read;
 * a call through a function pointer a delivery; a ledger entry a tree, whose place is its name; an XOR a hop.
 * Between two threads, acks of one tree are summed before they cross, as gale's are; without acks, what is complete is
 * counted by the burst. No settings, no groupings but the one that the flow needs, no timeouts, no
 * figures. */
#ifndef BENCH_LIMIT_LIMIT_H
#define BENCH_LIMIT_LIMIT_H

#include "base/bits.h"
#include "base/random.h"
#include "harness/trials.h"

#include <gale/base.h>
#include <string.h>

typedef struct bench_record {
    uint32_t size;
    uint16_t target, source;
    uint64_t root;
    uint64_t edge;
    char text[40]; /* `size` of them */
} bench_record;

static_assert(sizeof(bench_record) == 64, "a cache line");

/* What a bolt is: it reads a record and says what it took from it. Called through volatile pointers, so that no compiler
 * sees through them. */
typedef gale_str bench_limit_bolt(void *self, const bench_record *record);

enum { BENCH_CONST = 10, BENCH_WORD = 16, BENCH_ALL = 40 };

/* Writes a record. `copy` is a constant, at least the text's size, so that no call copies: there are so many bytes. */
GX_INLINE void bench_fill(bench_record *record, uint64_t root, uint64_t edge, uint16_t target, gale_str text,
                          size_t copy) {
    record->size = (uint32_t)text.size;
    record->target = target;
    record->source = 1;
    record->root = root;
    record->edge = edge;
    memcpy(record->text, text.data, copy);
}

/* The bolts that take everything (`self` is a sum of sizes), and that pass everything on. */
gale_str bench_take_null(void *self, const bench_record *record);
gale_str bench_take_id(void *self, const bench_record *record);

/* --- The ledger of the limits: a slab whose free places are a stack --- */

typedef struct bench_tree {
    uint64_t xor_;
    uint64_t message_id;
    uint64_t generation;
    uint64_t next;
} bench_tree;

typedef struct bench_slab {
    bench_tree *trees;
    uint64_t free; /* a place, or `size`: none */
    uint64_t size;
    uint64_t done;
} bench_slab;

enum { BENCH_SLOT_BITS = 24 };

void bench_slab_init(bench_slab *slab, uint64_t size);

/* The slab has room. Returns the root. */
GX_INLINE uint64_t bench_slab_open(bench_slab *slab, uint64_t message_id) {
    uint64_t slot = slab->free;
    bench_tree *tree = &slab->trees[slot];
    slab->free = tree->next;
    tree->message_id = message_id;
    tree->xor_ = 0;
    return tree->generation << BENCH_SLOT_BITS | slot;
}

GX_INLINE void bench_slab_begin(bench_slab *slab, uint64_t root, uint64_t edges) {
    slab->trees[root & ((1u << BENCH_SLOT_BITS) - 1)].xor_ = edges;
}

/* True when that was the last one. */
GX_INLINE bool bench_slab_ack(bench_slab *slab, uint64_t root, uint64_t edges) {
    uint64_t slot = root & ((1u << BENCH_SLOT_BITS) - 1);
    bench_tree *tree = &slab->trees[slot];
    if (GX_UNLIKELY(tree->generation != root >> BENCH_SLOT_BITS)) return false;
    if ((tree->xor_ ^= edges) != 0) return false;
    tree->generation++;
    tree->next = slab->free;
    slab->free = slot;
    slab->done++;
    return true;
}

/* --- The loops. Each runs for about so long, or until `trees` are done, and says how many that were --- */

typedef struct bench_loop {
    const bench_arguments *arguments;
    int64_t nanoseconds; /* 0: until `trees` */
    uint64_t trees;
    uint64_t done;
    int64_t spent;
    bench_latency *latency; /* of one in flight */
} bench_loop;

void bench_limit_chain(bench_loop *loop, int hops);           /* const-null 1, const-id-null 2; one core */
void bench_limit_fan_out(bench_loop *loop);                   /* one core */
void bench_limit_diamond(bench_loop *loop);                   /* one core */
void bench_limit_words(bench_loop *loop);                     /* one core */
void bench_limit_keys(bench_loop *loop);                      /* keyed-count; one core */
void bench_limit_chain_across(bench_loop *loop, int hops);    /* the last hop is on a second core */
void bench_limit_words_across(bench_loop *loop);              /* the counts are on a second core */
void bench_limit_one_in_flight(bench_loop *loop, bool cross); /* there and back */

/* Begun, and is it over? Looked at once a burst. */
void bench_loop_begin(bench_loop *loop);
bool bench_loop_over(bench_loop *loop, uint64_t done);

#endif
