#include "engine/acks_settle.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

/* Two executors: `settle` belongs to the one where bolts run; the ledgers 1 and 2 belong to executors 0 and 1. */
enum { CAPACITY = 1024, LEDGERS = 2 };

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_blocks blocks, far_blocks;
    gx_settle settle;
    gx_ack_outlet outlets[LEDGERS];
    gx_ring *rings[LEDGERS];
    gx_ring_consumer in[LEDGERS];
    gx_ledger ledgers[LEDGERS];
    uint64_t half[LEDGERS][2];
    gx_random random;
} fixture;

static void setup(fixture *f) {
    memset(f, 0, sizeof *f);
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    gx_blocks_init(&f->blocks, &f->heap);
    gx_blocks_init(&f->far_blocks, &f->heap);
    f->random = gx_random_new(5, 5);
    for (uint32_t i = 0; i < LEDGERS; i++) {
        f->rings[i] = gx_ring_new(&f->heap, CAPACITY);
        assert_non_null(f->rings[i]);
        f->outlets[i].ring = gx_ring_produce(f->rings[i]);
        f->in[i] = gx_ring_consume(f->rings[i]);
        gx_ledger_init(&f->ledgers[i], &f->heap, i + 1, 0, gx_random_new(1, i));
    }
    f->settle = (gx_settle){ .outlets = f->outlets, .heap = &f->heap, .blocks = &f->blocks };
}

static void teardown(fixture *f) {
    for (uint32_t i = 0; i < LEDGERS; i++) {
        gx_ack_outlet_fini(&f->outlets[i], &f->heap);
        gx_ring_free(&f->heap, f->rings[i]);
        gx_ledger_fini(&f->ledgers[i]);
    }
    gx_blocks_fini(&f->blocks);
    gx_blocks_fini(&f->far_blocks);
    assert_int_equal(f->counting.blocks, 0);
}

static uint64_t begin(fixture *f, uint32_t ledger, uint64_t message_id, uint64_t edges) {
    uint64_t root = 0;
    assert_int_equal(gx_ledger_open(&f->ledgers[ledger], 1, message_id, 0, &root), GALE_OK);
    gx_ledger_begin(&f->ledgers[ledger], root, edges);
    return root;
}

static void fail_tree(gx_settle *settle, uint64_t root, int32_t reason, uint32_t task, const char *text) {
    const gx_notice notice = { .kind = GX_NOTICE_FAIL, .root = root, .reason = reason, .task = task };
    gx_settle_notify(settle, &notice, text);
}

static void receive(gx_ledger *ledger, uint64_t half[2], const uint64_t item[2], gx_blocks *here) {
    gx_notice notice;
    if (!gx_settle_receive(half, item, &notice)) return;
    gx_settle_apply(ledger, &notice);
    if (notice.text) gx_block_release(notice.text, here);
}

/* Delivers what has been sent to one ledger; returns how many items there were. */
static uint32_t deliver(fixture *f, uint32_t ledger) {
    uint32_t items = 0;
    bool more = true;
    while (more) {
        gx_ring_publish(&f->outlets[ledger].ring);
        gx_ring_refresh(&f->in[ledger]);
        const uint64_t *item;
        for (; (item = gx_ring_next(&f->in[ledger])) != NULL; items++)
            receive(&f->ledgers[ledger], f->half[ledger], item, &f->far_blocks);
        gx_ring_release(&f->in[ledger]);
        more = gx_ack_outlet_flush(&f->outlets[ledger]) != 0;
    }
    return items;
}

static void hear(fixture *f, uint32_t ledger, uint64_t message_id, int state) {
    gx_answer got;
    assert_true(gx_ledger_next_answer(&f->ledgers[ledger], 0, &got));
    assert_int_equal(got.message_id, message_id);
    assert_int_equal(got.state, state);
    gx_ledger_answered(&f->ledgers[ledger], &got, 0);
}

static void nothing_to_settle_sends_nothing(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    assert_true(gx_settle_is_empty(&f.settle));
    gx_settle_flush(&f.settle);
    assert_int_equal(deliver(&f, 0) + deliver(&f, 1), 0);
    teardown(&f);
}

static void acks_of_one_root_are_combined_to_one_item(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint64_t edges[10], sum = 0;
    for (int i = 0; i < 10; i++) sum ^= edges[i] = gx_random_id(&f.random);
    uint64_t root = begin(&f, 1, 5, sum);
    for (int i = 0; i < 10; i++) gx_settle_ack(&f.settle, root, edges[i]);
    assert_false(gx_settle_is_empty(&f.settle));
    assert_int_equal(deliver(&f, 1), 0);
    gx_settle_flush(&f.settle);
    assert_true(gx_settle_is_empty(&f.settle));
    assert_int_equal(f.outlets[0].sent, 0);
    assert_int_equal(deliver(&f, 1), 1);
    hear(&f, 1, 5, GX_TREE_ACKED);
    teardown(&f);
}

static void roots_that_take_turns_are_combined_in_the_table(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint64_t a = begin(&f, 0, 1, 0x111), b = begin(&f, 0, 2, 0x222);
    while (gx_settle_place(a) == gx_settle_place(b)) b = begin(&f, 0, 2, 0x222);
    for (uint64_t bit = 1; bit <= 0x100; bit <<= 4) {
        gx_settle_ack(&f.settle, a, bit);
        gx_settle_ack(&f.settle, b, 2 * bit);
    }
    gx_settle_flush(&f.settle);
    assert_true(gx_settle_is_empty(&f.settle));
    assert_true(deliver(&f, 0) <= 3); /* the last root's register and the table are sent apart */
    assert_int_equal(gx_ledger_counters(&f.ledgers[0]).acked, 2);
    teardown(&f);
}

static void more_roots_than_the_table_holds_displace_each_other_and_all_arrive(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    enum { TREES = 10 * GX_SETTLE_SLOTS };
    static uint64_t roots[TREES], edges[TREES][3];
    for (uint32_t i = 0; i < TREES; i++) {
        for (int k = 0; k < 3; k++) edges[i][k] = gx_random_id(&f.random);
        roots[i] = begin(&f, i % 2, i, edges[i][0] ^ edges[i][1] ^ edges[i][2]);
    }
    for (int k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < TREES; i++) {
            gx_settle_ack(&f.settle, roots[i], edges[i][k]);
            assert_true(f.settle.filled <= GX_SETTLE_SLOTS);
        }
    }
    gx_settle_flush(&f.settle);
    assert_true(gx_settle_is_empty(&f.settle));
    uint32_t items = deliver(&f, 0) + deliver(&f, 1);
    assert_true(items >= TREES && items <= 3 * TREES);
    for (uint32_t l = 0; l < LEDGERS; l++) {
        assert_int_equal(gx_ledger_counters(&f.ledgers[l]).acked, TREES / 2);
        assert_int_equal(gx_ledger_counters(&f.ledgers[l]).open, 0);
        assert_int_equal(f.ledgers[l].counters.stale, 0);
    }
    assert_int_equal(f.settle.lost, 0);
    teardown(&f);
}

static void trees_of_a_turn_that_come_again_in_each_of_its_batches_are_combined(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    enum { TREES = 256, BATCHES = 5 };
    uint64_t roots[TREES];
    for (uint32_t i = 0; i < TREES; i++) roots[i] = begin(&f, 0, i, (1 << BATCHES) - 1);
    for (uint64_t batch = 0; batch < BATCHES; batch++)
        for (uint32_t i = 0; i < TREES; i++) gx_settle_ack(&f.settle, roots[i], UINT64_C(1) << batch);
    gx_settle_flush(&f.settle);
    assert_int_equal(deliver(&f, 0), TREES + 1); /* the last one's last batch lies in the register */
    assert_int_equal(gx_ledger_counters(&f.ledgers[0]).acked, TREES);
    teardown(&f);
}

static void a_displaced_root_that_comes_back_joins_what_lies_in_the_table(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint64_t a = begin(&f, 0, 1, 12), b = begin(&f, 0, 2, 3);
    gx_settle_ack(&f.settle, a, 4);
    gx_settle_ack(&f.settle, b, 1);
    assert_int_equal(f.settle.last_root, b);
    assert_int_equal(f.settle.filled, 1);
    gx_settle_ack(&f.settle, a, 8);
    gx_settle_ack(&f.settle, b, 2);
    assert_int_equal(f.settle.filled, 2);
    assert_int_equal(f.settle.table[gx_settle_place(a)].xor_, 12);
    gx_settle_flush(&f.settle);
    assert_int_equal(deliver(&f, 0), 3); /* a whole, b's last and what lay in the table */
    assert_int_equal(gx_ledger_counters(&f.ledgers[0]).acked, 2);
    teardown(&f);
}

static void a_sum_of_zero_is_not_sent(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint64_t a = begin(&f, 0, 1, 9), b = begin(&f, 0, 2, 9);
    gx_settle_send(&f.settle, a, 0);
    gx_settle_ack(&f.settle, a, 7);
    gx_settle_ack(&f.settle, a, 7);
    gx_settle_ack(&f.settle, b, 5); /* displaces a's zero to the table */
    gx_settle_ack(&f.settle, b, 5);
    gx_settle_flush(&f.settle);
    assert_true(gx_settle_is_empty(&f.settle));
    assert_int_equal(deliver(&f, 0), 0);
    assert_int_equal(gx_ledger_counters(&f.ledgers[0]).open, 2);
    teardown(&f);
}

static void failures_arrive_at_once_with_reason_task_and_text(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    static const int32_t reasons[] = { 0, GALE_REASON_CHILD_EXITED, GALE_REASON_USER + 7, INT32_MAX, -3 };
    for (int i = 0; i < 5; i++) {
        uint64_t root = begin(&f, 1, (uint64_t)i, 1);
        fail_tree(&f.settle, root, reasons[i], 32767 - (uint32_t)i, i % 2 ? "what is wrong" : NULL);
        gx_settle_ack(&f.settle, root, 1); /* the first answer wins */
    }
    gx_settle_flush(&f.settle);
    assert_int_equal(deliver(&f, 1), 15);
    assert_int_equal(f.ledgers[1].counters.stale, 5);
    for (int i = 0; i < 5; i++) {
        gx_answer got;
        assert_true(gx_ledger_next_answer(&f.ledgers[1], 0, &got));
        assert_int_equal(got.message_id, i);
        assert_int_equal(got.note->reason, reasons[i]);
        assert_int_equal(got.note->task, 32767 - i);
        assert_string_equal(got.note->text, i % 2 ? "what is wrong" : "");
        gx_ledger_answered(&f.ledgers[1], &got, 0);
    }
    assert_int_equal(gx_load_relaxed(&f.blocks.used_bytes), 0);
    teardown(&f);
}

static void a_long_text_of_a_failure_is_cut_to_its_limit(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    char text[1000];
    memset(text, 'y', sizeof text);
    text[sizeof text - 1] = 0;
    fail_tree(&f.settle, begin(&f, 0, 1, 1), 0, 1, text);
    deliver(&f, 0);
    gx_answer got;
    assert_true(gx_ledger_next_answer(&f.ledgers[0], 0, &got));
    assert_int_equal(strlen(got.note->text), GALE_FAILURE_TEXT);
    gx_ledger_answered(&f.ledgers[0], &got, 0);
    teardown(&f);
}

static void a_failure_of_a_stale_root_gives_its_text_back(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    uint64_t root = begin(&f, 0, 1, 0);
    hear(&f, 0, 1, GX_TREE_ACKED);
    fail_tree(&f.settle, root, 0, 1, "late");
    assert_int_equal(deliver(&f, 0), 2);
    assert_int_equal(f.ledgers[0].counters.stale, 1);
    assert_int_equal(gx_load_relaxed(&f.blocks.used_bytes), 0);
    teardown(&f);
}

/* Wherever the ring ends between acks and halves of failures: all arrive, in order. */
static void when_the_ring_is_full_everything_waits_and_arrives(void **state) {
    (void)state;
    for (uint32_t before = CAPACITY / 16 - 3; before <= CAPACITY / 16 + 3; before++) {
        fixture f;
        setup(&f);
        uint64_t roots[CAPACITY];
        for (uint32_t i = 0; i < before; i++) {
            roots[i] = begin(&f, 0, i, 1);
            gx_settle_send(&f.settle, roots[i], 1);
        }
        for (uint32_t i = before; i < CAPACITY; i++) {
            roots[i] = begin(&f, 0, i, 1);
            if (i % 3)
                gx_settle_send(&f.settle, roots[i], 1);
            else
                fail_tree(&f.settle, roots[i], (int32_t)i, i, "text");
        }
        assert_int_equal(f.outlets[0].sent, CAPACITY / 16);
        deliver(&f, 0);
        assert_int_equal(f.settle.lost, 0);
        for (uint32_t i = 0; i < CAPACITY; i++) {
            gx_answer got;
            assert_true(gx_ledger_next_answer(&f.ledgers[0], 0, &got));
            assert_int_equal(got.message_id, i);
            assert_int_equal(got.state, i < before || i % 3 ? GX_TREE_ACKED : GX_TREE_FAILED);
            if (got.state == GX_TREE_FAILED) {
                assert_int_equal(got.note->task, i);
                assert_string_equal(got.note->text, "text");
            }
            gx_ledger_answered(&f.ledgers[0], &got, 0);
        }
        assert_int_equal(f.ledgers[0].counters.stale, 0);
        assert_int_equal(gx_load_relaxed(&f.blocks.used_bytes), 0);
        teardown(&f);
    }
}

/* The n-th allocation after the ring is full fails, once or from then on: updates may be lost, and are counted; nothing
 * is cut in half. */
static void without_memory_updates_are_lost_whole_and_counted(void **state) {
    (void)state;
    for (size_t n = 1; n <= 40; n++) {
        fixture f;
        setup(&f);
        enum { TREES = 1500 };
        static uint64_t roots[TREES];
        for (uint32_t i = 0; i < TREES; i++) roots[i] = begin(&f, 0, i, 1);
        f.counting.fail_at = f.counting.calls + n;
        f.counting.fail_after = n % 2;
        for (uint32_t i = 0; i < TREES; i++) {
            if (i % 2)
                gx_settle_send(&f.settle, roots[i], 1);
            else
                fail_tree(&f.settle, roots[i], 7, i, i % 4 ? NULL : "text");
        }
        f.counting.fail_at = 0;
        deliver(&f, 0);
        assert_int_equal(f.half[0][0], 0);
        gx_answer got;
        uint64_t answered = 0;
        for (; gx_ledger_next_answer(&f.ledgers[0], 0, &got); answered++) {
            assert_int_equal(got.state, got.message_id % 2 ? GX_TREE_ACKED : GX_TREE_FAILED);
            if (got.note) assert_int_equal(got.note->task, got.message_id);
            gx_ledger_answered(&f.ledgers[0], &got, 0);
        }
        assert_int_equal(answered + f.settle.lost, TREES);
        assert_int_equal(gx_load_relaxed(&f.blocks.used_bytes), 0);
        teardown(&f);
    }
}

/* --- Trees that grow at random on several executors, each with its own settling --- */

enum { EXECUTORS = 3, WAITING = 4096 };

typedef struct delivery {
    uint64_t root, edge;
    uint32_t executor, depth;
} delivery;

typedef struct cluster {
    fixture parts[EXECUTORS]; /* only the settling of each and its way to the ledger of part 0 */
    delivery waiting[WAITING];
    uint32_t count;
} cluster;

static uint64_t spread(cluster *c, uint64_t root, uint32_t children, uint32_t depth) {
    uint64_t sum = 0;
    gx_random *random = &c->parts[0].random;
    for (; children > 0 && c->count < WAITING; children--) {
        delivery d = { root, gx_random_id(random), gx_random_below(random, EXECUTORS), depth };
        c->waiting[c->count++] = d;
        sum ^= d.edge;
    }
    return sum;
}

static void execute_one(cluster *c) {
    gx_random *random = &c->parts[0].random;
    uint32_t at = gx_random_below(random, c->count);
    delivery d = c->waiting[at];
    c->waiting[at] = c->waiting[--c->count];
    uint64_t children = spread(c, d.root, d.depth < 5 ? gx_random_below(random, 4) : 0, d.depth + 1);
    gx_settle_ack(&c->parts[d.executor].settle, d.root, d.edge ^ children);
}

/* Delivers what executor `e` has sent to the ledger of part 0. */
static void pass_on(cluster *c, uint32_t e) {
    fixture *f = &c->parts[e];
    gx_ring_publish(&f->outlets[0].ring);
    gx_ring_refresh(&f->in[0]);
    const uint64_t *item;
    while ((item = gx_ring_next(&f->in[0])) != NULL) receive(&c->parts[0].ledgers[0], f->half[0], item, &f->far_blocks);
    gx_ring_release(&f->in[0]);
    gx_ack_outlet_flush(&f->outlets[0]);
}

static bool is_waiting(const cluster *c, uint64_t root) {
    for (uint32_t i = 0; i < c->count; i++)
        if (c->waiting[i].root == root) return true;
    return false;
}

static void trees_across_executors_are_done_when_nothing_is_left_and_not_before(void **state) {
    (void)state;
    static cluster c;
    static uint64_t roots[1000];
    memset(&c, 0, sizeof c);
    for (uint32_t e = 0; e < EXECUTORS; e++) setup(&c.parts[e]);
    gx_ledger *ledger = &c.parts[0].ledgers[0];
    gx_random *random = &c.parts[0].random;
    uint32_t made = 0, answered = 0;
    for (uint32_t step = 0; answered < 1000; step++) {
        if (made < 1000 && c.count < 200) {
            assert_int_equal(gx_ledger_open(ledger, 1, made, 0, &roots[made]), GALE_OK);
            gx_ledger_begin(ledger, roots[made], spread(&c, roots[made], 1 + gx_random_below(random, 3), 0));
            made++;
        }
        if (c.count) execute_one(&c);
        if (c.count) execute_one(&c);
        uint32_t e = gx_random_below(random, EXECUTORS);
        if (gx_random_below(random, 16) == 0 || made == 1000) gx_settle_flush(&c.parts[e].settle);
        if (gx_random_below(random, 8) == 0 || made == 1000) pass_on(&c, e);
        gx_answer got;
        for (; gx_ledger_next_answer(ledger, 0, &got); answered++) {
            assert_int_equal(got.state, GX_TREE_ACKED);
            assert_false(is_waiting(&c, roots[got.message_id]));
            gx_ledger_answered(ledger, &got, 0);
        }
        assert_true(step < 10000000);
    }
    assert_int_equal(c.count, 0);
    assert_int_equal(ledger->counters.stale, 0);
    assert_int_equal(gx_ledger_counters(ledger).open, 0);
    for (uint32_t e = 0; e < EXECUTORS; e++) teardown(&c.parts[e]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_settle_sends_nothing),
        cmocka_unit_test(acks_of_one_root_are_combined_to_one_item),
        cmocka_unit_test(roots_that_take_turns_are_combined_in_the_table),
        cmocka_unit_test(more_roots_than_the_table_holds_displace_each_other_and_all_arrive),
        cmocka_unit_test(trees_of_a_turn_that_come_again_in_each_of_its_batches_are_combined),
        cmocka_unit_test(a_displaced_root_that_comes_back_joins_what_lies_in_the_table),
        cmocka_unit_test(a_sum_of_zero_is_not_sent),
        cmocka_unit_test(failures_arrive_at_once_with_reason_task_and_text),
        cmocka_unit_test(a_long_text_of_a_failure_is_cut_to_its_limit),
        cmocka_unit_test(a_failure_of_a_stale_root_gives_its_text_back),
        cmocka_unit_test(when_the_ring_is_full_everything_waits_and_arrives),
        cmocka_unit_test(without_memory_updates_are_lost_whole_and_counted),
        cmocka_unit_test(trees_across_executors_are_done_when_nothing_is_left_and_not_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
