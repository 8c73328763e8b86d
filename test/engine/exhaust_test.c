/* Bounded exhaustion: everything that can happen, up to a size. Acker tasks and settling tables with small trees in
 * every order, cut and placement (ledger_test.c does the ledger itself), and the operations of both rings. */
#include "ds/batch_ring.h"
#include "ds/ring.h"
#include "engine/acks_settle.h"
#include "trees/acker.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <string.h>

/* --- Orders --- */

/* The next permutation in order; false after the last. */
static bool next_order(uint32_t *order, uint32_t count) {
    uint32_t i = count - 1, j = count - 1;
    while (i > 0 && order[i - 1] >= order[i]) i--;
    if (i == 0) return false;
    while (order[j] <= order[i - 1]) j--;
    uint32_t kept = order[i - 1];
    order[i - 1] = order[j];
    order[j] = kept;
    for (j = count - 1; i < j; i++, j--) {
        kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    return true;
}

static void first_order(uint32_t *order, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) order[i] = i;
}

/* --- Trees: delivery i > 0 is a child of delivery parent[i] or, for -1, of the spout's emit --- */

enum { NODES_MAX = 5 };

typedef struct shape {
    uint32_t nodes;
    int parent[NODES_MAX];
} shape;

/* The next shape of so many nodes: parent[i] in -1 .. i - 1. */
static bool next_shape(shape *s) {
    for (uint32_t i = s->nodes; i-- > 0;) {
        if (++s->parent[i] < (int)i) return true;
        s->parent[i] = -1;
    }
    return false;
}

/* Unit 0 is the spout's; unit i + 1 consumes edge i and creates those of its children. */
static void make_units(const shape *s, gx_random *random, uint64_t *units) {
    memset(units, 0, (s->nodes + 1) * sizeof *units);
    for (uint32_t i = 0; i < s->nodes; i++) {
        uint64_t edge = gx_random_id(random);
        units[i + 1] ^= edge;
        units[s->parent[i] + 1] ^= edge;
    }
}

/* --- Acker tasks: init and acks in every order, with nothing, a failure or a reset in every place --- */

typedef enum extra { NOTHING, FAILURE, RESET, EXTRA_COUNT } extra;

static void check_acker(gx_acker *acker, const uint64_t *units, const uint32_t *order, uint32_t count, extra what,
                        uint32_t at, uint64_t root) {
    bool begun = false, failed = false;
    for (uint32_t i = 0; i <= count; i++) {
        if (i == at && what == FAILURE) {
            assert_int_equal(gx_acker_fail(acker, root), GX_ACKER_WAITS);
            failed = true;
        }
        if (i == at && what == RESET)
            assert_int_equal(gx_acker_reset(acker, root), begun ? GX_ACKER_RENEWS : GX_ACKER_WAITS);
        if (i == count) break;
        int verdict = order[i] ? gx_acker_ack(acker, root, units[order[i]]) : gx_acker_begin(acker, root, units[0]);
        begun |= order[i] == 0;
        assert_int_equal(verdict, i + 1 == count && !failed ? GX_ACKER_DONE : GX_ACKER_WAITS);
    }
}

static void acker_tasks_are_done_at_the_last_unit_of_every_small_tree_in_every_order(void **state) {
    (void)state;
    counting_allocator counting = { 0 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap heap;
    gx_heap_init(&heap, &handle);
    gx_random random = gx_random_new(3, 4);
    gx_acker acker;
    uint64_t root = 1, trees = 0;
    assert_int_equal(gx_acker_init(&acker, &heap, GALE_SECOND, 1), GALE_OK);
    for (uint32_t nodes = 1; nodes <= 4; nodes++) {
        shape s = { nodes, { -1, -1, -1, -1, -1 } };
        do {
            uint64_t units[NODES_MAX + 1];
            uint32_t order[NODES_MAX + 1];
            make_units(&s, &random, units);
            first_order(order, nodes + 1);
            do {
                for (extra what = NOTHING; what < EXTRA_COUNT; what++)
                    for (uint32_t at = 0; at < (what ? nodes + 1 : 1); at++, root++, trees++)
                        check_acker(&acker, units, order, nodes + 1, what, at, root);
            } while (next_order(order, nodes + 1));
        } while (next_shape(&s));
    }
    assert_true(trees > 30000);
    gx_acker_fini(&acker);
    assert_int_equal(counting.blocks, 0);
}

/* --- Settling tables: the acks of three trees on two executors, in every order, flushed after any of them --- */

enum { TREES = 3, UNITS = 6, SIDES = 2 };

typedef struct field {
    counting_allocator counting;
    gx_heap heap;
    gx_blocks blocks;
    gx_ring *rings[SIDES];
    gx_ack_outlet outlets[SIDES];
    gx_ring_consumer in[SIDES];
    gx_settle settle[SIDES];
    gx_random random;
    uint64_t roots[TREES]; /* of one slot of the table, so that they displace each other */
    uint64_t left[TREES];  /* what their ledger's entries would hold; at zero they are done */
} field;

static void setup(field *f) {
    memset(f, 0, sizeof *f);
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    gx_blocks_init(&f->blocks, &f->heap);
    f->random = gx_random_new(8, 9);
    for (int i = 0; i < SIDES; i++) {
        f->rings[i] = gx_ring_new(&f->heap, 1024);
        assert_non_null(f->rings[i]);
        f->outlets[i].ring = gx_ring_produce(f->rings[i]);
        f->in[i] = gx_ring_consume(f->rings[i]);
        f->settle[i] = (gx_settle){ .outlets = &f->outlets[i], .heap = &f->heap, .blocks = &f->blocks };
    }
    uint64_t root = UINT64_C(1) << GX_LEDGER_SHIFT, slot = gx_settle_place(root);
    for (uint32_t found = 0; found < TREES; root++)
        if (gx_settle_place(root) == slot) f->roots[found++] = root;
}

static void teardown(field *f) {
    for (int i = 0; i < SIDES; i++) gx_ring_free(&f->heap, f->rings[i]);
    gx_blocks_fini(&f->blocks);
    assert_int_equal(f->counting.blocks, 0);
}

static void arrive(field *f, const gx_notice *notice) {
    uint32_t t = 0;
    assert_int_equal(notice->kind, GX_NOTICE_ACK);
    while (t < TREES && f->roots[t] != notice->root) t++;
    assert_true(t < TREES);
    f->left[t] ^= notice->edges;
}

static void deliver(field *f, int side) {
    gx_settle_flush(&f->settle[side]);
    gx_ring_publish(&f->outlets[side].ring);
    gx_ring_refresh(&f->in[side]);
    uint64_t half[2] = { 0, 0 };
    const uint64_t *item;
    while ((item = gx_ring_next(&f->in[side])) != NULL) {
        gx_notice notice;
        assert_true(gx_settle_receive(half, item, &notice));
        arrive(f, &notice);
    }
    gx_ring_release(&f->in[side]);
}

/* `acked`: units given; `shown`: units that a flush has delivered, at the least. */
static void check_trees(const field *f, uint32_t acked, uint32_t shown) {
    for (uint32_t t = 0; t < TREES; t++) {
        uint32_t units = 3u << (2 * t);
        if ((acked & units) != units) assert_true(f->left[t] != 0);
        if ((shown & units) == units) assert_true(f->left[t] == 0);
    }
}

/* Unit 2t and 2t + 1 are of tree t; `sides`: bit a unit; `flushes`: bit a place in the order. */
static void check_settling(field *f, const uint64_t *edges, const uint32_t *order, uint32_t sides, uint32_t flushes) {
    uint32_t acked = 0, shown = 0, on_side[SIDES] = { 0, 0 };
    for (uint32_t t = 0; t < TREES; t++) f->left[t] = edges[2 * t] ^ edges[2 * t + 1];
    for (uint32_t i = 0; i < UNITS; i++) {
        uint32_t unit = order[i];
        int side = (int)(sides >> unit & 1);
        gx_settle_ack(&f->settle[side], f->roots[unit / 2], edges[unit]);
        acked |= 1u << unit;
        on_side[side] |= 1u << unit;
        if (flushes >> i & 1) {
            deliver(f, side);
            shown |= on_side[side];
        }
        check_trees(f, acked, shown);
    }
    for (int side = 0; side < SIDES; side++) deliver(f, side);
    check_trees(f, acked, acked);
}

static void settling_tables_lose_and_invent_nothing_in_every_order_placement_and_flush(void **state) {
    (void)state;
    static const uint32_t placements[] = { 0, 0x2a, 0x15, 0x0f, 0x3c, 0x26 }; /* one side, a unit each, whole trees */
    static field f;
    setup(&f);
    uint64_t runs = 0;
    for (size_t p = 0; p < sizeof placements / sizeof *placements; p++) {
        uint32_t order[UNITS];
        first_order(order, UNITS);
        do {
            uint64_t edges[UNITS];
            for (int i = 0; i < UNITS; i++) edges[i] = gx_random_id(&f.random);
            for (uint32_t flushes = 0; flushes < 1u << (UNITS - 1); flushes++, runs++)
                check_settling(&f, edges, order, placements[p], flushes);
        } while (next_order(order, UNITS));
    }
    assert_true(runs > 100000);
    teardown(&f);
}

/* --- The ring of items: every sequence of operations of a length, empty and nearly full, from every place near its
 * end --- */

enum { CAPACITY = 1024, FIT = CAPACITY / GX_RING_ITEM, DEPTH = 9 };
enum { CLAIM, PUBLISH, TAKE, RELEASE, OPERATIONS };

/* The ring as plain numbers of items. */
typedef struct plain {
    uint64_t tail, published, head, released;
} plain;

typedef struct both {
    gx_ring_producer p;
    gx_ring_consumer c;
    uint64_t shared_tail, shared_head;
    plain model;
    unsigned char bytes[CAPACITY];
} both;

static gx_ring *ring;
static uint64_t sequences;

static void load(const both *b) {
    gx_store_relaxed(&ring->producer.tail, b->shared_tail);
    gx_store_relaxed(&ring->consumer.head, b->shared_head);
    memcpy(ring->bytes, b->bytes, CAPACITY);
}

static void save(both *b) {
    b->shared_tail = gx_load_relaxed(&ring->producer.tail);
    b->shared_head = gx_load_relaxed(&ring->consumer.head);
    memcpy(b->bytes, ring->bytes, CAPACITY);
}

static void claim(both *b) {
    plain *m = &b->model;
    uint64_t *at = gx_ring_claim(&b->p);
    assert_int_equal(at != NULL, m->tail - m->released < FIT);
    if (!at) return;
    assert_ptr_equal(at, ring->bytes + m->tail * GX_RING_ITEM % CAPACITY);
    at[0] = m->tail;
    at[1] = ~m->tail++;
}

static void take(both *b) {
    plain *m = &b->model;
    assert_int_equal(gx_ring_refresh(&b->c), m->head != m->published);
    const uint64_t *item = gx_ring_next(&b->c);
    assert_int_equal(item != NULL, m->head != m->published);
    if (!item) return;
    assert_int_equal(item[0], m->head);
    assert_int_equal(item[1], ~m->head++);
}

static void operate(both *b, int operation) {
    plain *m = &b->model;
    if (operation == CLAIM) {
        claim(b);
    } else if (operation == PUBLISH) {
        assert_int_equal(gx_ring_publish(&b->p), m->published != m->tail);
        m->published = m->tail;
    } else if (operation == TAKE) {
        take(b);
    } else {
        assert_int_equal(gx_ring_release(&b->c), m->released != m->head);
        m->released = m->head;
    }
}

static void explore(const both *from, int depth) {
    for (int operation = 0; operation < OPERATIONS; operation++) {
        both b = *from;
        load(&b);
        operate(&b, operation);
        sequences++;
        if (depth == 1) continue;
        save(&b);
        explore(&b, depth - 1);
    }
}

static void explore_from(uint64_t start, uint64_t filled) {
    uint64_t at = start * GX_RING_ITEM;
    both b = { .shared_tail = at, .shared_head = at, .model = { start, start, start, start } };
    load(&b);
    b.p = gx_ring_produce(ring);
    b.c = gx_ring_consume(ring);
    for (uint64_t i = 0; i < filled; i++) operate(&b, CLAIM);
    operate(&b, PUBLISH);
    save(&b);
    explore(&b, DEPTH);
}

static void the_ring_agrees_with_plain_numbers_in_every_sequence_of_operations(void **state) {
    (void)state;
    static const uint64_t starts[] = { 0, 1, FIT - 1, FIT - 4 };
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    ring = gx_ring_new(&heap, CAPACITY);
    assert_non_null(ring);
    sequences = 0;
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
        explore_from(starts[s], 0);
        explore_from(starts[s], FIT - 2);
    }
    assert_true(sequences > 2000000);
    gx_ring_free(&heap, ring);
}

/* --- The ring of batches: the same, with lighter and heavier ones, and one that weighs more than the ring --- */

enum { ROOM = 2 * CAPACITY, WEIGHT_MAX = 2 * ROOM, BATCH_DEPTH = 7, KINDS = 4 };
enum { PUT_FIRST, PUT_LAST = KINDS - 1, BATCH_PUBLISH, BATCH_TAKE, BATCH_RELEASE, BATCH_OPERATIONS };

static gx_batch kinds[KINDS]; /* for a ring, a batch is what it weighs */
static const uint32_t weights[KINDS] = { GX_BATCH_RING_LEAST, 640, 1024, WEIGHT_MAX };

enum { QUEUE = 2 * ROOM / GX_BATCH_RING_LEAST };

typedef struct batch_plain {
    uint64_t tail, published, head, released; /* weights */
    uint8_t queue[QUEUE];                     /* kinds, of all that were put, round and round */
    uint32_t put, taken;
} batch_plain;

typedef struct batch_both {
    gx_batch_producer p;
    gx_batch_consumer c;
    uint64_t shared_tail, shared_head;
    batch_plain model;
    gx_batch_place places[ROOM / GX_BATCH_RING_LEAST];
} batch_both;

static gx_batch_ring *batch_ring;

static void load_batches(const batch_both *b) {
    gx_store_relaxed(&batch_ring->producer.tail, b->shared_tail);
    gx_store_relaxed(&batch_ring->consumer.head, b->shared_head);
    memcpy(batch_ring->place, b->places, sizeof b->places);
}

static void save_batches(batch_both *b) {
    b->shared_tail = gx_load_relaxed(&batch_ring->producer.tail);
    b->shared_head = gx_load_relaxed(&batch_ring->consumer.head);
    memcpy(b->places, batch_ring->place, sizeof b->places);
}

static void put(batch_both *b, int kind) {
    batch_plain *m = &b->model;
    uint64_t weight = weights[kind];
    bool fits = m->tail + weight - m->released <= ROOM || m->tail == m->released;
    assert_int_equal(gx_batch_ring_put(&b->p, &kinds[kind]), fits);
    if (!fits) return;
    m->queue[m->put++ % QUEUE] = (uint8_t)kind;
    m->tail += weight;
}

static void take_batch(batch_both *b) {
    batch_plain *m = &b->model;
    assert_int_equal(gx_batch_ring_refresh(&b->c), m->head != m->published);
    gx_batch *batch = gx_batch_ring_peek(&b->c);
    assert_int_equal(batch != NULL, m->head != m->published);
    if (!batch) return;
    int kind = m->queue[m->taken++ % QUEUE];
    assert_ptr_equal(batch, &kinds[kind]);
    gx_batch_ring_advance(&b->c);
    m->head += weights[kind];
}

static void operate_batches(batch_both *b, int operation) {
    batch_plain *m = &b->model;
    if (operation <= PUT_LAST) {
        put(b, operation);
    } else if (operation == BATCH_PUBLISH) {
        assert_int_equal(gx_batch_ring_publish(&b->p), m->published != m->tail);
        m->published = m->tail;
    } else if (operation == BATCH_TAKE) {
        take_batch(b);
    } else {
        assert_int_equal(gx_batch_ring_release(&b->c), m->released != m->head);
        m->released = m->head;
    }
}

static void explore_batches(const batch_both *from, int depth) {
    for (int operation = 0; operation < BATCH_OPERATIONS; operation++) {
        batch_both b = *from;
        load_batches(&b);
        operate_batches(&b, operation);
        sequences++;
        if (depth == 1) continue;
        save_batches(&b);
        explore_batches(&b, depth - 1);
    }
}

/* `turns` batches have gone through it, and `filled` are in it. */
static void explore_batches_from(int turns, int filled) {
    batch_both b = { .p = { .ring = batch_ring }, .c = { .ring = batch_ring } };
    load_batches(&b);
    for (int i = 0; i < turns; i++)
        for (int operation = BATCH_PUBLISH - 1; operation < BATCH_OPERATIONS; operation++)
            operate_batches(&b, operation == BATCH_PUBLISH - 1 ? PUT_FIRST : operation);
    for (int i = 0; i < filled; i++) operate_batches(&b, PUT_FIRST);
    operate_batches(&b, BATCH_PUBLISH);
    save_batches(&b);
    explore_batches(&b, BATCH_DEPTH);
}

static void the_ring_of_batches_agrees_with_plain_numbers_in_every_sequence_of_operations(void **state) {
    (void)state;
    enum { PLACES = CAPACITY / GX_BATCH_RING_LEAST };
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    batch_ring = gx_batch_ring_new(&heap, ROOM);
    assert_non_null(batch_ring);
    for (int i = 0; i < KINDS; i++) kinds[i].room = weights[i] - (uint32_t)sizeof(gx_batch);
    sequences = 0;
    explore_batches_from(0, 0);
    explore_batches_from(PLACES - 1, 0);
    explore_batches_from(PLACES - 3, PLACES - 2);
    assert_true(sequences > 2000000);
    gx_batch_ring_free(&heap, batch_ring);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acker_tasks_are_done_at_the_last_unit_of_every_small_tree_in_every_order),
        cmocka_unit_test(settling_tables_lose_and_invent_nothing_in_every_order_placement_and_flush),
        cmocka_unit_test(the_ring_agrees_with_plain_numbers_in_every_sequence_of_operations),
        cmocka_unit_test(the_ring_of_batches_agrees_with_plain_numbers_in_every_sequence_of_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
