/* The limit of keyed-count on one core: keys, counts of their parts (each key has two tasks, the one that got less takes
 * it), sums of the parts (by the key). A part tells each new count; a sum replaces what it last heard of that key from
 * that part, as the flow's does, because a count may come twice. */
#include "base/hash.h"
#include "harness/text.h"
#include "limit/limit.h"

#include <stdio.h>
#include <stdlib.h>

enum { BURST = 128, TASKS = 2, PAIR = 16 };

/* Keys to numbers, by open addressing; never more than half full. */
typedef struct place {
    uint64_t key; /* 0: free */
    int64_t value;
} place;

typedef struct table {
    place *at;
    uint64_t mask;
} table;

/* What travels from a part to a sum. */
typedef struct pair {
    uint64_t key;
    int64_t count;
} pair;

static_assert(sizeof(pair) == PAIR, "what is copied");

typedef struct part {
    table counts;
    pair told;
} part;

typedef struct sum {
    table last[TASKS]; /* by the part that said it */
    table totals;
} sum;

typedef struct keys {
    const uint32_t *drawn;
    uint32_t next;
    uint64_t sent[TASKS];
    part parts[TASKS];
    sum sums[TASKS];
    bench_slab slab;
    gx_random random;
    bool acks;
} keys;

static table table_of(uint32_t most) {
    uint64_t size = 1024;
    while (size < 2 * (uint64_t)most) size *= 2;
    table made = { calloc(size, sizeof *made.at), size - 1 };
    if (made.at) return made;
    perror("memory");
    exit(1);
}

static uint64_t hash_of(uint64_t key) {
    return gx_hash_mix(0, key);
}

GX_INLINE int64_t *find(table *in, uint64_t key) {
    for (uint64_t i = hash_of(key);; i++) {
        place *at = &in->at[i & in->mask];
        if (GX_LIKELY(at->key == key)) return &at->value;
        if (at->key) continue;
        at->key = key;
        return &at->value;
    }
}

/* --- The bolts --- */

static gale_str take_part(void *self, const bench_record *record) {
    part *p = self;
    memcpy(&p->told.key, record->text, sizeof p->told.key);
    p->told.count = ++*find(&p->counts, p->told.key);
    return (gale_str){ (const char *)&p->told, sizeof p->told };
}

static gale_str take_sum(void *self, const bench_record *record) {
    sum *s = self;
    pair told;
    memcpy(&told, record->text, sizeof told);
    int64_t *last = find(&s->last[record->source], told.key);
    *find(&s->totals, told.key) += told.count - *last;
    *last = told.count;
    return (gale_str){ NULL, 0 };
}

/* --- The loop --- */

static void begin(keys *k, const bench_arguments *arguments) {
    uint32_t most = arguments->keys < BENCH_KEYS_DRAWN ? arguments->keys : BENCH_KEYS_DRAWN;
    *k = (keys){ .drawn = bench_text_keys(arguments->keys), .random = gx_random_new(1, 1), .acks = arguments->acks };
    bench_slab_init(&k->slab, BURST);
    for (int i = 0; i < TASKS; i++) {
        k->parts[i].counts = table_of(most);
        k->sums[i].totals = table_of(most);
        for (int from = 0; from < TASKS; from++) k->sums[i].last[from] = table_of(most);
    }
}

/* Every key that was sent has been counted once, if nothing is wrong here. */
static void check(const keys *k) {
    uint64_t total = 0;
    for (int i = 0; i < TASKS; i++) {
        const table *totals = &k->sums[i].totals;
        for (uint64_t at = 0; at <= totals->mask; at++) total += (uint64_t)totals->at[at].value;
    }
    if (total == k->sent[0] + k->sent[1]) return;
    fprintf(stderr, "keyed-count: %llu of %llu were counted\n", (unsigned long long)total,
            (unsigned long long)(k->sent[0] + k->sent[1]));
    exit(1);
}

/* Two bits of its hash are the key's two tasks; with two tasks they may be the same one. */
GX_INLINE uint16_t part_of(keys *k, uint64_t key) {
    uint64_t hash = hash_of(key) >> 60;
    unsigned one = hash & 1, other = hash >> 1 & 1, chosen = k->sent[one] <= k->sent[other] ? one : other;
    k->sent[chosen]++;
    return (uint16_t)chosen;
}

GX_INLINE void emit(keys *k, bench_record *to) {
    for (uint32_t i = 0; i < BURST; i++) {
        uint64_t key = (uint64_t)k->drawn[k->next] + 1;
        k->next = (k->next + 1) % BENCH_KEYS_DRAWN;
        uint64_t root = k->acks ? bench_slab_open(&k->slab, i) : 0, edge = k->acks ? gx_random_id(&k->random) : 0;
        if (k->acks) bench_slab_begin(&k->slab, root, edge);
        bench_fill(&to[i], root, edge, part_of(k, key), (gale_str){ (const char *)&key, sizeof key }, sizeof key);
    }
}

GX_INLINE void count_parts(keys *k, const bench_record *from, bench_limit_bolt *bolt, bench_record *to) {
    for (uint32_t i = 0; i < BURST; i++) {
        gale_str told = bolt(&k->parts[from[i].target], &from[i]);
        uint64_t key, child = k->acks ? gx_random_id(&k->random) : 0;
        memcpy(&key, told.data, sizeof key);
        bench_fill(&to[i], from[i].root, child, hash_of(key) >> 63, told, PAIR);
        to[i].source = from[i].target;
        if (k->acks) bench_slab_ack(&k->slab, from[i].root, from[i].edge ^ child);
    }
}

GX_INLINE void add_up(keys *k, const bench_record *from, bench_limit_bolt *bolt) {
    for (uint32_t i = 0; i < BURST; i++) {
        bolt(&k->sums[from[i].target], &from[i]);
        if (k->acks) bench_slab_ack(&k->slab, from[i].root, from[i].edge);
    }
}

/* What was counted stays from trial to trial, as the flow's does: most of the time is the memory's, where keys are many. */
void bench_limit_keys(bench_loop *loop) {
    static bench_record keys_sent[BURST], parts_told[BURST];
    bench_limit_bolt *volatile part_bolt = take_part, *volatile sum_bolt = take_sum;
    static keys k;
    if (!k.drawn) begin(&k, loop->arguments);
    uint64_t before = k.slab.done, done = 0;
    bench_loop_begin(loop);
    do {
        emit(&k, keys_sent);
        count_parts(&k, keys_sent, part_bolt, parts_told);
        add_up(&k, parts_told, sum_bolt);
        done = k.acks ? k.slab.done - before : done + BURST;
    } while (!bench_loop_over(loop, done));
    check(&k);
}
