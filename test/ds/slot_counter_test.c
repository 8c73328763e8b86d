#include "ds/slot_counter.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

static gx_heap heap;
static counting_allocator counting;

static int setup(void **state) {
    (void)state;
    counting = (counting_allocator){ 0 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap_init(&heap, &handle);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    return counting.blocks == 0 ? 0 : -1;
}

static gx_slot_counter *make(int64_t slots) {
    gx_slot_counter *counter = NULL;
    assert_int_equal(gx_slot_counter_new(&heap, slots, 1, &counter, NULL), GALE_OK);
    return counter;
}

static void fewer_than_one_slot_are_refused(void **state) {
    (void)state;
    gx_slot_counter *counter = NULL;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_slot_counter_new(&heap, 0, 1, &counter, &error), GALE_INVALID);
    assert_string_equal(error.text, "a slot counter needs at least 1 slot, not 0");
    assert_int_equal(gx_slot_counter_new(&heap, -10, 1, &counter, NULL), GALE_INVALID);
    assert_int_equal(gx_slot_counter_new(&heap, INT64_MAX, 1, &counter, &error), GALE_TOO_LARGE);
    assert_null(counter);
    gx_slot_counter_free(NULL);
}

static void counts_are_kept_by_object_and_slot(void **state) {
    (void)state;
    gx_slot_counter *counter = make(3);
    for (int i = 0; i < 4; i++) assert_int_equal(gx_slot_counter_increment(counter, gx_str("a"), 0), GALE_OK);
    gx_slot_counter_increment(counter, gx_str("a"), 2);
    gx_slot_counter_increment(counter, gx_str("b"), 2);
    assert_int_equal(gx_slot_counter_count(counter, gx_str("a"), 0), 4);
    assert_int_equal(gx_slot_counter_count(counter, gx_str("a"), 1), 0);
    assert_int_equal(gx_slot_counter_count(counter, gx_str("a"), 2), 1);
    assert_int_equal(gx_slot_counter_total(counter, gx_str("a")), 5);
    assert_int_equal(gx_slot_counter_total(counter, gx_str("b")), 1);
    assert_int_equal(gx_slot_counter_size(counter), 2);
    gx_slot_counter_free(counter);
}

static void an_unknown_object_counts_zero_and_is_not_tracked_by_asking(void **state) {
    (void)state;
    gx_slot_counter *counter = make(1);
    assert_int_equal(gx_slot_counter_count(counter, gx_str("x"), 0), 0);
    assert_int_equal(gx_slot_counter_total(counter, gx_str("x")), 0);
    assert_int_equal(gx_slot_counter_size(counter), 0);
    gx_slot_counter_free(counter);
}

static void a_slot_out_of_range_is_refused_and_tracks_nothing(void **state) {
    (void)state;
    gx_slot_counter *counter = make(2);
    assert_int_equal(gx_slot_counter_increment(counter, gx_str("a"), 2), GALE_INVALID);
    assert_int_equal(gx_slot_counter_increment(counter, gx_str("a"), -1), GALE_INVALID);
    assert_int_equal(gx_slot_counter_wipe_slot(counter, 2), GALE_INVALID);
    assert_int_equal(gx_slot_counter_wipe_slot(counter, INT64_MIN), GALE_INVALID);
    assert_int_equal(gx_slot_counter_count(counter, gx_str("a"), 2), 0);
    assert_int_equal(gx_slot_counter_size(counter), 0);
    gx_slot_counter_free(counter);
}

static void wiping_a_slot_keeps_objects_tracked(void **state) {
    (void)state;
    gx_slot_counter *counter = make(2);
    gx_slot_counter_increment(counter, gx_str("a"), 0);
    gx_slot_counter_increment(counter, gx_str("b"), 0);
    gx_slot_counter_increment(counter, gx_str("b"), 1);
    assert_int_equal(gx_slot_counter_wipe_slot(counter, 0), GALE_OK);
    assert_int_equal(gx_slot_counter_size(counter), 2);
    assert_int_equal(gx_slot_counter_total(counter, gx_str("a")), 0);
    assert_int_equal(gx_slot_counter_total(counter, gx_str("b")), 1);
    gale_str object;
    assert_int_equal(gx_slot_counter_at(counter, 0, &object), 0);
    assert_true(gx_str_is(object, "a"));
    gx_slot_counter_free(counter);
}

static void wiping_zeros_drops_only_objects_without_counts(void **state) {
    (void)state;
    gx_slot_counter *counter = make(2);
    static const char *const words[] = { "a", "b", "c", "d", "e" };
    for (size_t i = 0; i < 5; i++) gx_slot_counter_increment(counter, gx_str(words[i]), (int64_t)i % 2);
    gx_slot_counter_wipe_zeros(counter);
    assert_int_equal(gx_slot_counter_size(counter), 5);
    gx_slot_counter_wipe_slot(counter, 0);
    gx_slot_counter_wipe_zeros(counter);
    assert_int_equal(gx_slot_counter_size(counter), 2);
    assert_int_equal(gx_slot_counter_total(counter, gx_str("b")), 1);
    assert_int_equal(gx_slot_counter_total(counter, gx_str("d")), 1);
    gx_slot_counter_wipe_slot(counter, 1);
    gx_slot_counter_wipe_zeros(counter);
    assert_int_equal(gx_slot_counter_size(counter), 0);
    gx_slot_counter_free(counter);
}

static size_t run_with_failure_at(size_t n) {
    counting = (counting_allocator){ .fail_at = n };
    gx_slot_counter *counter = NULL;
    int made = gx_slot_counter_new(&heap, 3, 1, &counter, NULL);
    assert_true(made == GALE_OK || (made == GALE_NO_MEMORY && !counter));
    for (char c = 'A'; counter && c < 'z'; c++) {
        size_t before = gx_slot_counter_size(counter);
        int result = gx_slot_counter_increment(counter, (gale_str){ &c, 1 }, 1);
        assert_true(result == GALE_OK || result == GALE_NO_MEMORY);
        assert_int_equal(gx_slot_counter_size(counter), before + (result == GALE_OK));
    }
    gx_slot_counter_free(counter);
    assert_int_equal(counting.blocks, 0);
    return counting.calls;
}

static void any_failing_allocation_changes_nothing(void **state) {
    (void)state;
    size_t calls = run_with_failure_at(0);
    for (size_t n = 1; n <= calls; n++) run_with_failure_at(n);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(fewer_than_one_slot_are_refused),
        TEST(counts_are_kept_by_object_and_slot),
        TEST(an_unknown_object_counts_zero_and_is_not_tracked_by_asking),
        TEST(a_slot_out_of_range_is_refused_and_tracks_nothing),
        TEST(wiping_a_slot_keeps_objects_tracked),
        TEST(wiping_zeros_drops_only_objects_without_counts),
        TEST(any_failing_allocation_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
