#include "trees/retention.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <gale/clock.h>

#define GENERATION_LAST ((1u << GX_LEDGER_GENERATION_BITS) - 1)

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_blocks blocks;
    gx_ledger ledger;
    gx_plan plan;
    gx_retention retention;
} fixture;

static void setup(fixture *f, int64_t initial, int64_t most) {
    memset(f, 0, sizeof *f);
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    gx_blocks_init(&f->blocks, &f->heap);
    gx_ledger_init(&f->ledger, &f->heap, 3, 0, gx_random_new(1, 2));
    f->plan = (gx_plan){ .retains = true, .replay_initial = initial, .replay_most = most };
    assert_int_equal(gx_retention_init(&f->retention, &f->ledger, &f->blocks, &f->plan), GALE_OK);
}

static void teardown(fixture *f) {
    assert_null(gx_retention_flaw(&f->retention));
    assert_null(gx_ledger_flaw(&f->ledger));
    gx_retention_fini(&f->retention);
    assert_int_equal(f->ledger.counters.retained_bytes, 0);
    gx_ledger_fini(&f->ledger);
    gx_blocks_fini(&f->blocks);
    assert_int_equal(f->counting.blocks, 0);
}

/* A tree with a retained tuple. */
static uint64_t keep(fixture *f, uint64_t message_id, const char *text) {
    uint64_t root = 0;
    gale_value value = gale_text(text);
    gx_retained what = { .first = 5, .attempts = 1 };
    assert_int_equal(gx_ledger_open(&f->ledger, 5, message_id, 0, &root), GALE_OK);
    assert_int_equal(gx_retention_keep(&f->retention, root, what, &value, 1), GALE_OK);
    return root;
}

static void fail_and_wait(fixture *f, uint64_t root, int64_t now) {
    gx_answer answer;
    gx_ledger_fail(&f->ledger, root, GALE_REASON_FAILED, 2, "no");
    assert_true(gx_ledger_next_answer(&f->ledger, now, &answer));
    gx_retention_wait(&f->retention, &answer, now);
}

static void where_nothing_is_retained_nothing_is_allocated(void **state) {
    (void)state;
    fixture f;
    setup(&f, 1, 2);
    gx_retention none;
    size_t calls = f.counting.calls;
    gx_plan plan = { .retains = false };
    assert_int_equal(gx_retention_init(&none, &f.ledger, &f.blocks, &plan), GALE_OK);
    assert_null(gx_retention_at(&none, 0));
    gx_retention_drop(&none, 0);
    gx_retention_fini(&none);
    assert_int_equal(f.counting.calls, calls);
    teardown(&f);
}

static void a_kept_tuple_is_there_until_it_is_dropped(void **state) {
    (void)state;
    fixture f;
    setup(&f, 1, 2);
    uint64_t root = keep(&f, 1, "abc"), slot = gx_ledger_slot(root);
    const gx_retained *kept = gx_retention_at(&f.retention, slot);
    gale_value value = gale_body_value((const gale_body *)kept->body->bytes, 0);
    assert_int_equal(value.size, 3);
    assert_memory_equal(value.as.string, "abc", 3);
    assert_true(f.ledger.counters.retained_bytes > 0);
    gx_retention_drop(&f.retention, slot);
    assert_null(gx_retention_at(&f.retention, slot));
    gx_retention_drop(&f.retention, slot);
    teardown(&f);
}

static void waits_double_and_never_pass_the_greatest(void **state) {
    (void)state;
    static const struct {
        int64_t initial, most, expected[6];
    } cases[] = {
        { 1, 60, { 1, 2, 4, 8, 16, 32 } },
        { 10, 60, { 10, 20, 40, 60, 60, 60 } },
        { 5, 5, { 5, 5, 5, 5, 5, 5 } },
        { 3, 4, { 3, 4, 4, 4, 4, 4 } },
        { 0, 60, { 0, 0, 0, 0, 0, 0 } },
        { INT64_MAX / 2, INT64_MAX, { INT64_MAX / 2, INT64_MAX - 1, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        setup(&f, cases[i].initial, cases[i].most);
        for (uint32_t n = 0; n < 6; n++)
            assert_int_equal(gx_retention_backoff(&f.retention, n + 1), cases[i].expected[n]);
        assert_int_equal(gx_retention_backoff(&f.retention, UINT32_MAX), cases[i].initial ? cases[i].most : 0);
        teardown(&f);
    }
    fixture f;
    setup(&f, 1, INT64_MAX);
    for (uint32_t n = 1; n <= 63; n++) assert_int_equal(gx_retention_backoff(&f.retention, n), INT64_C(1) << (n - 1));
    assert_int_equal(gx_retention_backoff(&f.retention, 64), INT64_MAX);
    teardown(&f);
}

static void what_waits_comes_when_it_is_due_whatever_its_level(void **state) {
    (void)state;
    fixture f;
    setup(&f, 10, 1000);
    uint64_t a = keep(&f, 1, "a"), b = keep(&f, 2, "b"), c = keep(&f, 3, "c"), slot;
    assert_int_equal(gx_retention_due(&f.retention), INT64_MAX);
    gx_retention_at(&f.retention, gx_ledger_slot(a))->attempts = 3; /* 40 */
    fail_and_wait(&f, a, 0);
    fail_and_wait(&f, b, 1);
    fail_and_wait(&f, c, 2);
    assert_int_equal(gx_ledger_counters(&f.ledger).open, 3);
    assert_int_equal(f.ledger.counters.failed, 0);
    assert_int_equal(gx_retention_due(&f.retention), 11);
    assert_false(gx_retention_next(&f.retention, 10, &slot));
    assert_true(gx_retention_next(&f.retention, 12, &slot));
    assert_int_equal(slot, gx_ledger_slot(b));
    assert_true(gx_retention_next(&f.retention, 12, &slot));
    assert_int_equal(slot, gx_ledger_slot(c));
    assert_false(gx_retention_next(&f.retention, 39, &slot));
    assert_int_equal(gx_retention_due(&f.retention), 40);
    assert_true(gx_retention_next(&f.retention, 40, &slot));
    assert_int_equal(slot, gx_ledger_slot(a));
    assert_int_equal(gx_retention_due(&f.retention), INT64_MAX);
    teardown(&f);
}

static void a_tree_that_waits_has_no_root_and_gets_a_new_one(void **state) {
    (void)state;
    fixture f;
    setup(&f, 10, 10);
    uint64_t root = keep(&f, 1, "a"), slot;
    fail_and_wait(&f, root, 0);
    gx_ledger_ack(&f.ledger, root, 0);
    gx_ledger_fail(&f.ledger, root, GALE_REASON_FAILED, 1, "late");
    assert_int_equal(f.ledger.counters.stale, 2);
    assert_true(gx_retention_next(&f.retention, 10, &slot));
    uint64_t again = gx_ledger_reopen(&f.ledger, slot, 10);
    assert_int_not_equal(again, root);
    assert_int_equal(gx_ledger_slot(again), gx_ledger_slot(root));
    gx_ledger_ack(&f.ledger, root, 0);
    assert_int_equal(f.ledger.counters.stale, 3);
    gx_ledger_begin(&f.ledger, again, 7);
    gx_ledger_ack(&f.ledger, again, 7);
    assert_int_equal(gx_ledger_counters(&f.ledger).acked, 1);
    assert_int_equal(gx_ledger_counters(&f.ledger).trees, 1);
    teardown(&f);
}

static void a_generation_that_wraps_waits_for_as_long_as_a_slot_rests(void **state) {
    (void)state;
    fixture f;
    setup(&f, 10, 10);
    uint64_t root = keep(&f, 1, "a"), slot;
    root |= (uint64_t)GENERATION_LAST << GX_LEDGER_SLOT_BITS;
    gx_ledger_at(&f.ledger, gx_ledger_slot(root))->root = root;
    fail_and_wait(&f, root, 0);
    int64_t rest = gx_ledger_rest(&f.ledger);
    assert_int_equal(gx_retention_due(&f.retention), rest);
    assert_false(gx_retention_next(&f.retention, rest - 1, &slot));
    assert_true(gx_retention_next(&f.retention, rest, &slot));
    teardown(&f);
}

static void a_stop_answers_what_waits(void **state) {
    (void)state;
    fixture f;
    setup(&f, 10, 10);
    for (uint64_t i = 0; i < 5; i++) fail_and_wait(&f, keep(&f, i, "a"), 0);
    gx_ledger_stop(&f.ledger);
    gx_answer answer;
    for (uint64_t i = 0; i < 5; i++) {
        assert_true(gx_ledger_next_answer(&f.ledger, 0, &answer));
        assert_int_equal(answer.state, GX_TREE_STOPPED);
        gx_retention_drop(&f.retention, answer.slot);
        gx_ledger_answered(&f.ledger, &answer, 0);
    }
    assert_false(gx_ledger_next_answer(&f.ledger, 0, &answer));
    assert_int_equal(f.ledger.counters.stopped, 5);
    assert_int_equal(gx_ledger_counters(&f.ledger).open, 0);
    teardown(&f);
}

static void what_cannot_be_kept_leaves_nothing(void **state) {
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        fixture f;
        setup(&f, 1, 2);
        uint64_t root = 0;
        gale_value value = gale_text("x"), bad = { .type = 99 };
        assert_int_equal(gx_ledger_open(&f.ledger, 5, 1, 0, &root), GALE_OK);
        assert_int_equal(gx_retention_keep(&f.retention, root, (gx_retained){ 0 }, &bad, 1), GALE_INVALID);
        f.counting.fail_at = f.counting.calls + n;
        assert_int_equal(gx_retention_keep(&f.retention, root, (gx_retained){ 0 }, &value, 1), GALE_NO_MEMORY);
        assert_null(gx_retention_at(&f.retention, gx_ledger_slot(root)));
        teardown(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_nothing_is_retained_nothing_is_allocated),
        cmocka_unit_test(a_kept_tuple_is_there_until_it_is_dropped),
        cmocka_unit_test(waits_double_and_never_pass_the_greatest),
        cmocka_unit_test(what_waits_comes_when_it_is_due_whatever_its_level),
        cmocka_unit_test(a_tree_that_waits_has_no_root_and_gets_a_new_one),
        cmocka_unit_test(a_generation_that_wraps_waits_for_as_long_as_a_slot_rests),
        cmocka_unit_test(a_stop_answers_what_waits),
        cmocka_unit_test(what_cannot_be_kept_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
