/* An update of the ledger with very many trees open, in the order of their places and in random order, beside the slab of
 * the limits. "ack": not the last one of its tree. "cycle": the last one, the answer, and another tree opened. */
#include "trees/ledger.h"
#include "limit/limit.h"
#include "micro/micro.h"

#include <stdio.h>
#include <stdlib.h>

enum { EDGE = 7 };

typedef struct bench {
    gx_ledger ledger;
    bench_slab slab;
    uint64_t open;
    uint64_t *roots; /* of the ledger, or of the slab */
} bench;

static void must(bool good) {
    if (good) return;
    fprintf(stderr, "out of memory\n");
    exit(1);
}

static uint64_t open_one(gx_ledger *ledger) {
    uint64_t root;
    must(gx_ledger_open(ledger, 1, 0, 0, &root) == GALE_OK);
    gx_ledger_begin(ledger, root, EDGE);
    return root;
}

/* Twice the same changes nothing, and the first time leaves a tree open. */
static void ledger_acks(void *self) {
    bench *b = self;
    for (uint64_t i = 0; i < b->open; i++) gx_ledger_ack(&b->ledger, b->roots[i], EDGE << 8);
}

static void ledger_cycles(void *self) {
    bench *b = self;
    for (uint64_t i = 0; i < b->open; i++) {
        uint64_t message_id;
        uint32_t slot;
        gx_ledger_ack(&b->ledger, b->roots[i], EDGE);
        must(gx_ledger_take_complete(&b->ledger, 0, &message_id, &slot, 1).count == 1);
        b->roots[i] = open_one(&b->ledger);
    }
}

static void slab_acks(void *self) {
    bench *b = self;
    for (uint64_t i = 0; i < b->open; i++) bench_slab_ack(&b->slab, b->roots[i], EDGE << 8);
}

static void slab_cycles(void *self) {
    bench *b = self;
    for (uint64_t i = 0; i < b->open; i++) {
        bench_slab_ack(&b->slab, b->roots[i], EDGE);
        b->roots[i] = bench_slab_open(&b->slab, i);
        bench_slab_begin(&b->slab, b->roots[i], EDGE);
    }
}

static void shuffle(bench *b) {
    gx_random random = gx_random_new(1, 1);
    for (uint64_t i = b->open - 1; i > 0; i--) {
        uint64_t other = gx_random_next(&random) % (i + 1), root = b->roots[i];
        b->roots[i] = b->roots[other];
        b->roots[other] = root;
    }
}

static void measure(bench *b, const char *who, void (*acks)(void *), void (*cycles)(void *)) {
    char what[80];
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        const char *order = shuffled ? "random order" : "in order";
        if (shuffled) shuffle(b);
        snprintf(what, sizeof what, "%s ack, %s", who, order);
        acks(b); /* an odd number of rounds would leave the trees marked */
        bench_micro_tell(what, bench_micro_time(acks, b, b->open));
        snprintf(what, sizeof what, "%s cycle, %s", who, order);
        bench_micro_tell(what, bench_micro_time(cycles, b, b->open));
    }
}

void bench_micro_ledger(uint64_t open) {
    static bench b;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    b.open = open;
    b.roots = malloc(open * sizeof *b.roots);
    must(b.roots != NULL);
    gx_ledger_init(&b.ledger, &heap, 1, 0, gx_random_new(1, 1));
    for (uint64_t i = 0; i < open; i++) b.roots[i] = open_one(&b.ledger);
    measure(&b, "ledger", ledger_acks, ledger_cycles);
    gx_ledger_fini(&b.ledger);
    bench_slab_init(&b.slab, open + 1);
    for (uint64_t i = 0; i < open; i++) {
        b.roots[i] = bench_slab_open(&b.slab, i);
        bench_slab_begin(&b.slab, b.roots[i], EDGE);
    }
    measure(&b, "ledger limit", slab_acks, slab_cycles);
    free(b.slab.trees);
    free(b.roots);
}
