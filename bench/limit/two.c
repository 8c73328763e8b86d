/* Limits on two cores: spout and ledger on one, the last bolt on the other, a ring of records there and one of acks
 * back, each published once a batch. */
#include "base/atomic.h"
#include "base/os/cpu.h"
#include "base/os/thread.h"
#include "base/os/time.h"
#include "harness/text.h"
#include "limit/words.h"

#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 1024, BATCH = 64 };

typedef struct ack {
    uint64_t root, edges;
} ack;

/* Positions count up for ever; what a side has not published yet, and what it last saw of the other, is its own. */
typedef struct ring {
    alignas(GX_APART) gx_atomic64 tail;
    alignas(GX_APART) gx_atomic64 head;
    alignas(GX_APART) uint64_t written, head_seen; /* the producer's */
    alignas(GX_APART) uint64_t read, tail_seen;    /* the consumer's */
} ring;

static ring there, back;
alignas(GX_APART) static bench_record records[SLOTS];
alignas(GX_APART) static ack acks_back[SLOTS];
static gx_atomic32 stopping;
static gx_atomic64 arrived; /* without acks: what the second core has taken */

static uint64_t room(ring *r) {
    if (r->written - r->head_seen >= SLOTS - BATCH) r->head_seen = gx_load_acquire(&r->head); /* A2 */
    return SLOTS - (r->written - r->head_seen);
}

static void publish(ring *r) {
    gx_store_release(&r->tail, r->written); /* R1: the entries come first */
}

static uint64_t waiting(ring *r) {
    if (r->read == r->tail_seen) r->tail_seen = gx_load_acquire(&r->tail); /* A1 */
    return r->tail_seen - r->read;
}

static void release(ring *r) {
    gx_store_release(&r->head, r->read); /* R2: the entries have been read */
}

/* --- The second core --- */

typedef struct second {
    bench_limit_bolt *volatile bolt;
    void *self;
    bool acks;
} second;

/* Acks of neighbours that are of one tree go back as one. */
static void answer(uint64_t root, uint64_t edge) {
    ack *last = &acks_back[(back.written - 1) % SLOTS];
    if (back.written != gx_load_relaxed(&back.tail) && last->root == root) {
        last->edges ^= edge;
        return;
    }
    acks_back[back.written++ % SLOTS] = (ack){ root, edge };
}

static void *second_body(void *user) {
    second *s = user;
    bench_limit_bolt *bolt = s->bolt;
    while (!gx_load_relaxed(&stopping)) {
        uint64_t count = waiting(&there);
        if (count > BATCH) count = BATCH;
        if (count == 0 || (s->acks && room(&back) < BATCH)) {
            gx_os_cpu_relax();
            continue;
        }
        for (uint64_t i = 0; i < count; i++) {
            const bench_record *record = &records[there.read++ % SLOTS];
            bolt(s->self, record);
            if (s->acks) answer(record->root, record->edge);
        }
        release(&there);
        if (s->acks)
            publish(&back);
        else
            gx_count(&arrived, count);
    }
    return NULL;
}

static void start(gx_thread *thread, second *s) {
    memset(&there, 0, sizeof there);
    memset(&back, 0, sizeof back);
    gx_store_relaxed(&stopping, 0);
    gx_store_relaxed(&arrived, 0);
    if (gx_thread_start(thread, "second", second_body, s)) return;
    fprintf(stderr, "no second thread\n");
    exit(1);
}

static void stop(gx_thread *thread) {
    gx_store_relaxed(&stopping, 1);
    gx_thread_join(thread, -1);
}

/* --- The first --- */

static void take_acks(bench_slab *slab) {
    uint64_t count = waiting(&back);
    for (uint64_t i = 0; i < count; i++) {
        const ack *a = &acks_back[back.read++ % SLOTS];
        bench_slab_ack(slab, a->root, a->edges);
    }
    if (count) release(&back);
}

typedef struct first {
    bench_slab slab;
    gx_random random;
    bool acks;
    bench_limit_bolt *volatile id;
    bench_record burst[BATCH];
} first;

/* A burst of trees, one delivery each, on to the ring or, with a hop here, to a local queue first. */
GX_INLINE void emit(first *f, int hops) {
    for (int i = 0; i < BATCH; i++) {
        uint64_t root = f->acks ? bench_slab_open(&f->slab, 1) : 0;
        uint64_t edge = f->acks ? gx_random_id(&f->random) : 0;
        if (f->acks) bench_slab_begin(&f->slab, root, edge);
        bench_record *to = hops == 1 ? &records[there.written++ % SLOTS] : &f->burst[i];
        bench_fill(to, root, edge, 2, (gale_str){ "some data", 9 }, BENCH_CONST);
    }
    for (int i = 0; hops == 2 && i < BATCH; i++) {
        const bench_record *from = &f->burst[i];
        uint64_t child = f->acks ? gx_random_id(&f->random) : 0;
        bench_fill(&records[there.written++ % SLOTS], from->root, child, 2, f->id(NULL, from), BENCH_ALL);
        if (f->acks) bench_slab_ack(&f->slab, from->root, from->edge ^ child);
    }
}

void bench_limit_chain_across(bench_loop *loop, int hops) {
    static first f;
    uint64_t sum = 0, open = 0;
    second s = { bench_take_null, &sum, loop->arguments->acks };
    f = (first){ .random = gx_random_new(1, 1), .acks = s.acks, .id = bench_take_id };
    bench_slab_init(&f.slab, SLOTS + BATCH);
    gx_thread thread;
    start(&thread, &s);
    bench_loop_begin(loop);
    do {
        if (room(&there) >= BATCH && open - f.slab.done <= SLOTS) {
            if (hops == 1)
                emit(&f, 1);
            else
                emit(&f, 2);
            publish(&there);
            if (f.acks) open += BATCH;
        }
        if (f.acks) take_acks(&f.slab);
    } while (!bench_loop_over(loop, f.acks ? f.slab.done : gx_load_relaxed(&arrived)));
    stop(&thread);
    free(f.slab.trees);
}

/* --- Words: sentences and split here, counts there --- */

enum { LINES_OPEN = 256 };

/* One sentence: its own edge is made and consumed here, and cancels; the words' edges are what is open. */
static void emit_line(first *f, gale_str line) {
    gale_str word;
    bench_record *copy = f->burst; /* the sentence as a record: written here, read by the split */
    uint64_t root = f->acks ? bench_slab_open(&f->slab, 1) : 0, edges = f->acks ? gx_random_id(&f->random) : 0;
    if (f->acks) bench_slab_begin(&f->slab, root, edges);
    memcpy((char *)copy, line.data, line.size);
    line.data = f->id((void *)copy, copy).data ? (const char *)copy : NULL;
    for (size_t at = 0; bench_next_word(line, &at, &word);) {
        uint64_t edge = f->acks ? gx_random_id(&f->random) : 0;
        edges ^= edge;
        bench_fill(&records[there.written++ % SLOTS], root, edge, 2, word, BENCH_WORD);
    }
    if (f->acks) bench_slab_ack(&f->slab, root, edges);
}

void bench_limit_words_across(bench_loop *loop) {
    static first f;
    enum { LINES = BATCH / BENCH_LINE_WORDS };
    bench_counts counts;
    const gale_str *lines = bench_text_lines();
    uint64_t opened = 0;
    second s = { bench_counts_take, &counts, loop->arguments->acks };
    f = (first){ .random = gx_random_new(1, 1), .acks = s.acks, .id = bench_take_id };
    bench_counts_init(&counts);
    bench_slab_init(&f.slab, LINES_OPEN + LINES);
    gx_thread thread;
    start(&thread, &s);
    bench_loop_begin(loop);
    do {
        if (room(&there) >= BATCH && (!f.acks || opened - f.slab.done <= LINES_OPEN)) {
            for (int i = 0; i < LINES; i++) emit_line(&f, lines[opened++ % BENCH_LINES]);
            publish(&there);
        }
        if (f.acks) take_acks(&f.slab);
    } while (!bench_loop_over(loop, f.acks ? f.slab.done : gx_load_relaxed(&arrived) / BENCH_LINE_WORDS));
    stop(&thread);
    bench_counts_fini(&counts);
    free(f.slab.trees);
}

/* --- One in flight --- */

static void one_tree(first *f) {
    uint64_t root = bench_slab_open(&f->slab, 1), edge = gx_random_id(&f->random);
    bench_slab_begin(&f->slab, root, edge);
    bench_fill(&records[there.written++ % SLOTS], root, edge, 2, (gale_str){ "some data", 9 }, BENCH_CONST);
}

/* As `second_body` does it, but here. */
static void take_here(second *s, first *f) {
    const bench_record *record = &records[there.read++ % SLOTS];
    there.head_seen = there.read;
    s->bolt(s->self, record);
    bench_slab_ack(&f->slab, record->root, record->edge);
}

void bench_limit_one_in_flight(bench_loop *loop, bool cross) {
    static first f;
    uint64_t sum = 0;
    second s = { bench_take_null, &sum, true };
    f = (first){ .random = gx_random_new(1, 1), .acks = true };
    bench_slab_init(&f.slab, BATCH);
    gx_thread thread;
    start(&thread, &s);
    if (!cross) stop(&thread);
    bench_loop_begin(loop);
    do {
        int64_t from = gx_os_monotonic();
        (void)room(&there);
        one_tree(&f);
        if (cross) publish(&there);
        for (uint64_t done = f.slab.done; f.slab.done == done;) {
            if (cross)
                take_acks(&f.slab);
            else
                take_here(&s, &f);
        }
        if (loop->latency) bench_latency_add(loop->latency, 0, gx_os_monotonic() - from);
    } while (!bench_loop_over(loop, f.slab.done));
    if (cross) stop(&thread);
    free(f.slab.trees);
}
