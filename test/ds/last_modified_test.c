#include "ds/last_modified.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <gale/clock.h>

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

static gx_last_modified *make(int64_t n, int64_t now) {
    gx_last_modified *tracker = NULL;
    assert_int_equal(gx_last_modified_new(&heap, n, now, &tracker, NULL), GALE_OK);
    return tracker;
}

/* As the rolling count does it at each tick: first ask, then mark. `steps` are seconds between ticks. */
static void check_ask_then_mark(int64_t n, const int64_t *steps, const int64_t *expected, size_t count) {
    int64_t now = 1234 * GALE_SECOND;
    gx_last_modified *tracker = make(n, now);
    for (size_t i = 0; i < count; i++) {
        now += steps[i] * GALE_SECOND;
        assert_int_equal(gx_last_modified_seconds_since_oldest(tracker, now), expected[i]);
        gx_last_modified_mark(tracker, now);
    }
    gx_last_modified_free(tracker);
}

static void fewer_than_one_moment_are_refused(void **state) {
    (void)state;
    gx_last_modified *tracker = NULL;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_last_modified_new(&heap, 0, 0, &tracker, &error), GALE_INVALID);
    assert_string_equal(error.text, "a time tracker needs at least 1 moment, not 0");
    assert_int_equal(gx_last_modified_new(&heap, -1, 0, &tracker, NULL), GALE_INVALID);
    assert_int_equal(gx_last_modified_new(&heap, INT64_MAX, 0, &tracker, NULL), GALE_TOO_LARGE);
    assert_null(tracker);
    gx_last_modified_free(NULL);
}

static void regular_ticks_grow_to_the_window_and_stay(void **state) {
    (void)state;
    static const int64_t threes[] = { 3, 3, 3, 3, 3 }, grown[] = { 3, 6, 9, 9, 9 };
    check_ask_then_mark(3, threes, grown, 5);
    static const int64_t minutes[] = { 60, 60, 60, 60, 60, 60 }, hours[] = { 60, 120, 180, 240, 300, 300 };
    check_ask_then_mark(5, minutes, hours, 6);
    check_ask_then_mark(1, threes, threes, 5);
}

static void irregular_ticks_are_added_up(void **state) {
    (void)state;
    static const int64_t steps[] = { 3, 4, 3, 3, 3 }, expected[] = { 3, 7, 10, 10, 9 };
    check_ask_then_mark(3, steps, expected, 5);
}

static void marking_before_asking_gives_one_slot_less(void **state) {
    (void)state;
    static const int64_t expected[] = { 3, 6, 6, 6 };
    int64_t now = 0;
    gx_last_modified *tracker = make(3, now);
    (void)gx_last_modified_seconds_since_oldest(tracker, now); /* the place that asking at the tick before left */
    gx_last_modified_mark(tracker, now);
    for (size_t i = 0; i < 4; i++) {
        now += 3 * GALE_SECOND;
        gx_last_modified_mark(tracker, now);
        assert_int_equal(gx_last_modified_seconds_since_oldest(tracker, now), expected[i]);
    }
    gx_last_modified_free(tracker);
}

static void a_full_tracker_forgets_its_oldest_moment(void **state) {
    (void)state;
    gx_last_modified *tracker = make(2, 0);
    for (int64_t t = 1; t <= 7; t++) gx_last_modified_mark(tracker, t * GALE_SECOND);
    assert_int_equal(gx_last_modified_seconds_since_oldest(tracker, 10 * GALE_SECOND), 4);
    assert_int_equal(gx_last_modified_seconds_since_oldest(tracker, 10 * GALE_SECOND), 3);
    gx_last_modified_free(tracker);
}

static void an_empty_tracker_answers_zero_and_goes_on(void **state) {
    (void)state;
    gx_last_modified *tracker = make(1, 0);
    assert_int_equal(gx_last_modified_seconds_since_oldest(tracker, 5 * GALE_SECOND), 5);
    assert_int_equal(gx_last_modified_seconds_since_oldest(tracker, 5 * GALE_SECOND), 0);
    gx_last_modified_mark(tracker, 6 * GALE_SECOND);
    assert_int_equal(gx_last_modified_seconds_since_oldest(tracker, 8 * GALE_SECOND), 2);
    gx_last_modified_free(tracker);
}

static void seconds_are_rounded(void **state) {
    (void)state;
    static const int64_t halves[][2] = { { 0, 0 }, { 1, 1 }, { 2, 1 }, { 3, 2 }, { -1, 0 }, { -2, -1 }, { -3, -1 } };
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        int64_t at = halves[i][0] * GALE_SECOND / 2, seconds = halves[i][1], half = halves[i][0] % 2 != 0;
        gx_last_modified *tracker = make(3, 0);
        assert_int_equal(gx_last_modified_seconds_since_oldest(tracker, at), seconds);
        assert_int_equal(gx_last_modified_seconds_since_oldest(tracker, at + 1), seconds);
        assert_int_equal(gx_last_modified_seconds_since_oldest(tracker, at - 1), seconds - half);
        gx_last_modified_free(tracker);
    }
}

static void any_failing_allocation_makes_nothing(void **state) {
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        counting = (counting_allocator){ .fail_at = n };
        gx_last_modified *tracker = NULL;
        assert_int_equal(gx_last_modified_new(&heap, 4, 0, &tracker, NULL), GALE_NO_MEMORY);
        assert_null(tracker);
        assert_int_equal(counting.blocks, 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(fewer_than_one_moment_are_refused),
        TEST(regular_ticks_grow_to_the_window_and_stay),
        TEST(irregular_ticks_are_added_up),
        TEST(marking_before_asking_gives_one_slot_less),
        TEST(a_full_tracker_forgets_its_oldest_moment),
        TEST(an_empty_tracker_answers_zero_and_goes_on),
        TEST(seconds_are_rounded),
        TEST(any_failing_allocation_makes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
