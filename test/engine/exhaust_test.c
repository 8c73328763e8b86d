/* Bounded exhaustion: everything that can happen, up to a size. Acker tasks and settling tables with small trees in
 * every order, cut and placement (ledger_test.c does the ledger itself), and the ring's operations. */
#include "ds/ring.h"
#include "engine/acker.h"
#include "engine/settle.h"

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
    gx_chunks chunks;
    gx_blocks blocks;
    gx_ring *rings[SIDES];
    gx_outlet outlets[SIDES];
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
    gx_chunks_init(&f->chunks, &f->heap);
    gx_blocks_init(&f->blocks, &f->heap);
    f->random = gx_random_new(8, 9);
    for (int i = 0; i < SIDES; i++) {
        f->rings[i] = gx_ring_new(&f->heap, 1024);
        assert_non_null(f->rings[i]);
        f->outlets[i].ring = gx_ring_produce(f->rings[i]);
        f->in[i] = gx_ring_consume(f->rings[i]);
        f->settle[i] = (gx_settle){ .outlets = &f->outlets[i], .chunks = &f->chunks, .blocks = &f->blocks };
    }
    uint64_t root = UINT64_C(1) << GX_LEDGER_SHIFT, slot = gx_settle_place(root);
    for (uint32_t found = 0; found < TREES; root++)
        if (gx_settle_place(root) == slot) f->roots[found++] = root;
}

static void teardown(field *f) {
    for (int i = 0; i < SIDES; i++) gx_ring_free(&f->heap, f->rings[i]);
    gx_chunks_fini(&f->chunks);
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
    while ((item = gx_ring_next_item(&f->in[side])) != NULL) {
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

/* --- The ring: every sequence of operations of a length, from every place near its end --- */

enum { CAPACITY = 1024, DEPTH = 7, QUEUE = 16 };

static const uint32_t lengths[] = { 8, 136, 256 };
enum { LENGTHS = sizeof lengths / sizeof *lengths, PUBLISH = LENGTHS, TAKE, RELEASE, OPERATIONS };

/* The ring as plain numbers. */
typedef struct plain {
    uint64_t tail, published, head, released;
    struct {
        uint64_t begin, end; /* positions, padding before it left out */
        uint32_t mark;
    } queue[QUEUE];
    uint32_t first, count; /* claimed and not taken */
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

static void claim(both *b, uint32_t length) {
    plain *m = &b->model;
    uint64_t to_end = CAPACITY - m->tail % CAPACITY, padding = length > to_end ? to_end : 0;
    bool fits = m->tail + padding + length - m->released <= CAPACITY;
    unsigned char *at = gx_ring_claim(&b->p, length);
    assert_int_equal(at != NULL, fits);
    if (!at) return;
    uint64_t begin = m->tail + padding;
    uint32_t mark = (uint32_t)(begin * 7 + length);
    assert_ptr_equal(at, ring->bytes + begin % CAPACITY);
    gx_store32(at, length);
    if (length > 8) memcpy(at + length - 4, &mark, 4);
    uint32_t slot = (m->first + m->count++) % QUEUE;
    m->queue[slot].begin = begin;
    m->queue[slot].end = m->tail = begin + length;
    m->queue[slot].mark = mark;
}

static void take(both *b) {
    plain *m = &b->model;
    gx_ring_refresh(&b->c);
    const unsigned char *entry = gx_ring_peek(&b->c);
    bool there = m->count && m->queue[m->first].end <= m->published;
    assert_int_equal(entry != NULL, there);
    if (!entry) return;
    uint32_t length = (uint32_t)(m->queue[m->first].end - m->queue[m->first].begin), mark = m->queue[m->first].mark;
    assert_ptr_equal(entry, ring->bytes + m->queue[m->first].begin % CAPACITY);
    assert_int_equal(gx_load32(entry), length);
    if (length > 8) assert_memory_equal(entry + length - 4, &mark, 4);
    gx_ring_advance(&b->c, length);
    m->head = m->queue[m->first].end;
    m->first = (m->first + 1) % QUEUE;
    m->count--;
}

static void operate(both *b, int operation) {
    plain *m = &b->model;
    if (operation < LENGTHS) {
        claim(b, lengths[operation]);
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

static void the_ring_agrees_with_plain_numbers_in_every_sequence_of_operations(void **state) {
    (void)state;
    static const uint64_t starts[] = {
        0, CAPACITY - 8, CAPACITY - 136, CAPACITY - 144, CAPACITY - 256, CAPACITY - 264
    };
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    ring = gx_ring_new(&heap, CAPACITY);
    assert_non_null(ring);
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
        both b = { .shared_tail = starts[s], .shared_head = starts[s] };
        b.model = (plain){ .tail = starts[s], .published = starts[s], .head = starts[s], .released = starts[s] };
        load(&b);
        b.p = gx_ring_produce(ring);
        b.c = gx_ring_consume(ring);
        explore(&b, DEPTH);
        for (uint32_t i = 0; i < 3; i++) operate(&b, 2); /* again, from a ring that is three quarters full */
        operate(&b, PUBLISH);
        save(&b);
        explore(&b, DEPTH);
    }
    assert_true(sequences > 3000000);
    gx_ring_free(&heap, ring);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acker_tasks_are_done_at_the_last_unit_of_every_small_tree_in_every_order),
        cmocka_unit_test(settling_tables_lose_and_invent_nothing_in_every_order_placement_and_flush),
        cmocka_unit_test(the_ring_agrees_with_plain_numbers_in_every_sequence_of_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
