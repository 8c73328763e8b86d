/* What an open tree takes: the ledger, an acker task's record, a retained tuple, each apart.
 *
 *     ledger     an entry of the spout's ledger (trees/ledger.h)
 *     acker      a record at an acker task (trees/acker.h), which the ledger's entry comes on top of
 *     retained   a tuple with one string of 9 bytes, kept for replay (trees/retention.h)
 *
 * Two million of each are opened, and then half of them are answered and as many opened anew, in random order, as it is
 * in a run that lasts. "reserved" is what was taken from the allocator, "resident" what the process grew by.
 * usage: gale_bench_open_trees [TREES] */
#include "base/os/time.h"
#include "trees/acker.h"
#include "trees/retention.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t trees = 2000000;

static uint64_t resident(void) {
    unsigned long long all, mine = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%llu %llu", &all, &mine) != 2) mine = 0;
    fclose(file);
    return mine * (uint64_t)sysconf(_SC_PAGESIZE);
}

typedef struct kind {
    const char *name;
    gx_heap heap;
    uint64_t resident_before;
    int64_t began;
} kind;

static void begin(kind *k, const char *name) {
    k->name = name;
    gx_heap_init(&k->heap, NULL);
    k->resident_before = resident();
    k->began = gx_os_monotonic();
}

/* `operations`: how many were made; `more`: bytes that were reserved on another heap. */
static void report(const kind *k, uint64_t operations, uint64_t more) {
    double spent = (double)(gx_os_monotonic() - k->began);
    double reserved = (double)(gx_heap_reserved(&k->heap) + more);
    double grown = (double)(resident() - k->resident_before);
    printf("%-10s %10llu %10.1f %16.1f %16.1f %14.1f\n", k->name, (unsigned long long)trees, reserved / 1e6,
           reserved / (double)trees, grown / (double)trees, spent / (double)operations);
    fflush(stdout);
}

static void must(bool good) {
    if (good) return;
    fprintf(stderr, "out of memory\n");
    exit(1);
}

static uint64_t open_one(gx_ledger *ledger, gx_random *random) {
    uint64_t root;
    must(gx_ledger_open(ledger, 1, 0, 0, &root) == GALE_OK);
    gx_ledger_begin(ledger, root, gx_random_id(random));
    return root;
}

static void answer_all(gx_ledger *ledger) {
    gx_answer answer;
    while (gx_ledger_next_answer(ledger, 1, &answer)) gx_ledger_answered(ledger, &answer, 1);
}

/* Half of them, at random, are answered and opened again. */
static void measure_ledger(gx_ledger *ledger, kind *k, gx_random *random, uint64_t *roots) {
    begin(k, "ledger");
    gx_ledger_init(ledger, &k->heap, 1, 0, *random);
    for (uint64_t i = 0; i < trees; i++) roots[i] = open_one(ledger, random);
    for (uint64_t i = 0; i < trees / 2; i++) {
        uint64_t at = gx_random_next(random) % trees;
        gx_ledger_done(ledger, roots[at]);
        answer_all(ledger);
        roots[at] = open_one(ledger, random);
    }
    report(k, trees * 2, 0);
}

static void measure_acker(const uint64_t *roots, gx_random *random) {
    kind k = { 0 };
    gx_acker acker = { 0 };
    begin(&k, "acker");
    must(gx_acker_init(&acker, &k.heap, 30 * GALE_SECOND, 7) == GALE_OK);
    for (uint64_t i = 0; i < trees; i++) must(gx_acker_begin(&acker, roots[i], gx_random_id(random)) == GX_ACKER_WAITS);
    for (uint64_t i = 0; i < trees / 2; i++) { /* its messages change an XOR; zero, here, by chance only */
        uint64_t at = gx_random_next(random) % trees;
        must(gx_acker_ack(&acker, roots[at], gx_random_id(random)) >= 0);
    }
    report(&k, trees * 3 / 2, 0);
    gx_acker_fini(&acker);
}

/* Blocks and the table beside the ledger; the ledger's own memory is not in it. */
static void measure_retained(gx_ledger *ledger, kind *of_ledger, const uint64_t *roots) {
    const gale_value values[] = { gale_string("some data", 9) };
    gx_plan plan = { .retains = true, .replay_initial = GALE_SECOND, .replay_most = GALE_SECOND };
    kind k = { 0 };
    gx_blocks blocks;
    gx_retention retention = { 0 };
    begin(&k, "retained");
    gx_blocks_init(&blocks, &k.heap);
    uint64_t before = gx_heap_reserved(&of_ledger->heap);
    must(gx_retention_init(&retention, ledger, &blocks, &plan) == GALE_OK);
    for (uint64_t i = 0; i < trees; i++)
        must(gx_retention_keep(&retention, roots[i], (gx_retained){ .attempts = 1 }, values, 1) == GALE_OK);
    report(&k, trees, gx_heap_reserved(&of_ledger->heap) - before); /* its table is on the ledger's heap */
    gx_retention_fini(&retention);
    gx_blocks_fini(&blocks);
}

int main(int argc, char **argv) {
    if (argc > 1 && atoll(argv[1]) > 0) trees = (uint64_t)atoll(argv[1]);
    if (trees > UINT64_C(1) << GX_LEDGER_SLOT_BITS) trees = UINT64_C(1) << GX_LEDGER_SLOT_BITS;
    uint64_t *roots = calloc(trees, sizeof *roots);
    must(roots != NULL);
    for (uint64_t i = 0; i < trees; i++) roots[i] = 1; /* its own pages are not to be counted */
    gx_random random = gx_random_new(1, 1);
    gx_ledger ledger = { 0 };
    kind of_ledger = { 0 };
    printf("%-10s %10s %10s %16s %16s %14s\n", "kind", "open", "MB", "reserved, B each", "resident, B each",
           "ns an update");
    measure_ledger(&ledger, &of_ledger, &random, roots);
    measure_acker(roots, &random);
    measure_retained(&ledger, &of_ledger, roots);
    gx_ledger_fini(&ledger);
    free(roots);
    return 0;
}
