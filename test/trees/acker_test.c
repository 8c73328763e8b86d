#include "trees/acker.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <gale/clock.h>
#include <gale/error.h>

enum { T = 8 };

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_acker acker;
} fixture;

static void setup(fixture *f, int64_t timeout) {
    memset(f, 0, sizeof *f);
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
    assert_int_equal(gx_acker_init(&f->acker, &f->heap, timeout, 1), GALE_OK);
}

static void teardown(fixture *f) {
    gx_acker_fini(&f->acker);
    assert_int_equal(f->counting.blocks, 0);
}

static void a_tree_is_done_when_all_that_was_created_was_consumed(void **state) {
    (void)state;
    fixture f;
    setup(&f, T);
    assert_int_equal(gx_acker_begin(&f.acker, 7, 0x11), GX_ACKER_WAITS);
    assert_int_equal(gx_acker_ack(&f.acker, 7, 0x11 ^ 0x22), GX_ACKER_WAITS);
    assert_int_equal(gx_acker_ack(&f.acker, 7, 0x22), GX_ACKER_DONE);
    assert_int_equal(gx_acker_size(&f.acker), 0);
    teardown(&f);
}

static void acks_may_overtake_the_init(void **state) {
    (void)state;
    fixture f;
    setup(&f, T);
    assert_int_equal(gx_acker_ack(&f.acker, 7, 0x22), GX_ACKER_WAITS);
    assert_int_equal(gx_acker_ack(&f.acker, 7, 0x11 ^ 0x22), GX_ACKER_WAITS);
    assert_int_equal(gx_acker_begin(&f.acker, 7, 0x11), GX_ACKER_DONE);
    assert_int_equal(gx_acker_size(&f.acker), 0);
    teardown(&f);
}

static void a_record_without_init_is_never_done(void **state) {
    (void)state;
    fixture f;
    setup(&f, T);
    assert_int_equal(gx_acker_ack(&f.acker, 7, 5), GX_ACKER_WAITS);
    assert_int_equal(gx_acker_ack(&f.acker, 7, 5), GX_ACKER_WAITS); /* zero, by chance or mistake */
    assert_int_equal(gx_acker_size(&f.acker), 1);
    teardown(&f);
}

static void a_failure_is_final_before_and_after_the_init(void **state) {
    (void)state;
    fixture f;
    setup(&f, T);
    gx_acker_begin(&f.acker, 1, 5);
    assert_int_equal(gx_acker_fail(&f.acker, 1), GX_ACKER_WAITS);
    assert_int_equal(gx_acker_size(&f.acker), 0);
    assert_int_equal(gx_acker_ack(&f.acker, 1, 5), GX_ACKER_WAITS); /* late: kept until it expires */
    assert_int_equal(gx_acker_fail(&f.acker, 2), GX_ACKER_WAITS);
    assert_int_equal(gx_acker_begin(&f.acker, 2, 0), GX_ACKER_WAITS);
    assert_int_equal(gx_acker_size(&f.acker), 1);
    teardown(&f);
}

static void a_reset_is_passed_on_once_the_tree_has_begun_and_revives_no_failed_one(void **state) {
    (void)state;
    fixture f;
    setup(&f, T);
    assert_int_equal(gx_acker_reset(&f.acker, 1), GX_ACKER_WAITS);
    assert_int_equal(gx_acker_begin(&f.acker, 1, 5), GX_ACKER_WAITS);
    assert_int_equal(gx_acker_reset(&f.acker, 1), GX_ACKER_RENEWS);
    gx_acker_fail(&f.acker, 1);
    assert_int_equal(gx_acker_reset(&f.acker, 1), GX_ACKER_WAITS);
    teardown(&f);
}

/* Whatever the order of its messages, a tree of five units is done at the last one, and not before. */
static void every_order_of_a_small_tree_is_done_at_its_last_message(void **state) {
    (void)state;
    const uint64_t units[5] = { 0x1 ^ 0x2, 0x1 ^ 0x4 ^ 0x8, 0x2, 0x4, 0x8 }; /* the first is the spout's */
    fixture f;
    setup(&f, T);
    for (uint32_t order = 0; order < 5 * 4 * 3 * 2; order++) {
        uint32_t left[5] = { 0, 1, 2, 3, 4 }, code = order;
        for (uint32_t n = 5; n > 0; n--) {
            uint32_t at = code % n, unit = left[at];
            code /= n;
            left[at] = left[n - 1];
            int verdict = unit ? gx_acker_ack(&f.acker, 9, units[unit]) : gx_acker_begin(&f.acker, 9, units[0]);
            assert_int_equal(verdict, n == 1 ? GX_ACKER_DONE : GX_ACKER_WAITS);
        }
        assert_int_equal(gx_acker_size(&f.acker), 0);
    }
    teardown(&f);
}

/* Rotations at T, 2 T, ...: what is put at once after one is gone at the third rotation from then. */
static void what_is_not_renewed_is_forgotten_after_more_than_2T_and_at_most_3T(void **state) {
    (void)state;
    fixture f;
    setup(&f, T);
    gx_acker_begin(&f.acker, 1, 5);
    gx_acker_begin(&f.acker, 2, 5);
    for (int64_t now = 1; now < 3 * T; now++) {
        gx_acker_tick(&f.acker, now);
        if (now == T) gx_acker_ack(&f.acker, 1, 6);          /* does not renew */
        if (now == T + 1) (void)gx_acker_reset(&f.acker, 2); /* does */
        assert_int_equal(gx_acker_size(&f.acker), 2);
    }
    gx_acker_tick(&f.acker, 3 * T);
    assert_int_equal(gx_acker_size(&f.acker), 1);
    assert_int_equal(gx_acker_ack(&f.acker, 2, 5), GX_ACKER_DONE);
    teardown(&f);
}

static void without_a_timeout_only_records_without_init_are_forgotten(void **state) {
    (void)state;
    fixture f;
    setup(&f, 0);
    gx_acker_begin(&f.acker, 1, 5);
    gx_acker_ack(&f.acker, 2, 5);
    for (int64_t i = 1; i <= 10; i++) gx_acker_tick(&f.acker, i * 30 * GALE_SECOND);
    assert_int_equal(gx_acker_size(&f.acker), 1);
    assert_int_equal(gx_acker_ack(&f.acker, 1, 5), GX_ACKER_DONE);
    teardown(&f);
}

static void without_memory_a_message_is_refused_and_the_rest_is_as_it_was(void **state) {
    (void)state;
    for (size_t n = 1; n < 20; n++) {
        fixture f;
        setup(&f, T);
        f.counting.fail_at = f.counting.calls + n;
        f.counting.fail_after = true;
        uint64_t root = 1;
        while (gx_acker_begin(&f.acker, root, root) == GX_ACKER_WAITS) root++;
        assert_int_equal(gx_acker_size(&f.acker), root - 1);
        assert_int_equal(gx_acker_ack(&f.acker, root, 1), GALE_NO_MEMORY);
        assert_int_equal(gx_acker_fail(&f.acker, root), GALE_NO_MEMORY);
        assert_int_equal(gx_acker_reset(&f.acker, root), GALE_NO_MEMORY);
        for (uint64_t i = 1; i < root; i++) assert_int_equal(gx_acker_ack(&f.acker, i, i), GX_ACKER_DONE);
        f.counting.fail_at = 0;
        teardown(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_done_when_all_that_was_created_was_consumed),
        cmocka_unit_test(acks_may_overtake_the_init),
        cmocka_unit_test(a_record_without_init_is_never_done),
        cmocka_unit_test(a_failure_is_final_before_and_after_the_init),
        cmocka_unit_test(a_reset_is_passed_on_once_the_tree_has_begun_and_revives_no_failed_one),
        cmocka_unit_test(every_order_of_a_small_tree_is_done_at_its_last_message),
        cmocka_unit_test(what_is_not_renewed_is_forgotten_after_more_than_2T_and_at_most_3T),
        cmocka_unit_test(without_a_timeout_only_records_without_init_are_forgotten),
        cmocka_unit_test(without_memory_a_message_is_refused_and_the_rest_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
