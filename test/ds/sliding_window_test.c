#include "ds/sliding_window.h"

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

static gx_sliding_window *make(int64_t slots) {
    gx_sliding_window *window = NULL;
    assert_int_equal(gx_sliding_window_new(&heap, slots, 1, &window, NULL), GALE_OK);
    return window;
}

/* What an advance reports about one word: ABSENT when nothing. */
enum { ABSENT = -1 };

typedef struct watch {
    const char *word;
    int64_t count;
    int reports;
} watch;

static void see(gx_sliding_window *window, watch *w) {
    for (size_t i = 0; i < gx_sliding_window_size(window); i++) {
        gale_str object;
        int64_t count = gx_sliding_window_at(window, i, &object);
        w->reports++;
        if (gx_str_is(object, w->word)) w->count = count;
    }
    gx_sliding_window_advance(window);
}

static int64_t advance(gx_sliding_window *window, const char *word) {
    watch w = { word, ABSENT, 0 };
    see(window, &w);
    return w.count;
}

static void fewer_than_two_slots_are_refused(void **state) {
    (void)state;
    gx_sliding_window *window = NULL;
    gale_error error = GALE_ERROR_INIT;
    static const int64_t bad[] = { 1, 0, -1, INT64_MIN };
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(gx_sliding_window_new(&heap, bad[i], 1, &window, NULL), GALE_INVALID);
    gx_sliding_window_new(&heap, 1, 1, &window, &error);
    assert_string_equal(error.text, "a sliding window needs at least 2 slots, not 1");
    assert_int_equal(gx_sliding_window_new(&heap, INT64_MAX, 1, &window, &error), GALE_TOO_LARGE);
    assert_null(window);
    gx_sliding_window_free(NULL);
}

static void an_empty_window_reports_nothing(void **state) {
    (void)state;
    gx_sliding_window *window = make(2);
    for (int i = 0; i < 5; i++) {
        watch w = { "a", ABSENT, 0 };
        see(window, &w);
        assert_int_equal(w.reports, 0);
    }
    gx_sliding_window_advance(window);
    gx_sliding_window_free(window);
}

/* The example of the documentation: five slots, one event in each of the first four. */
static void one_event_in_each_of_four_slots_rises_stays_and_falls(void **state) {
    (void)state;
    static const int64_t events[] = { 1, 1, 1, 1, 0, 0, 0, 0, 0, 0 };
    static const int64_t counts[] = { 1, 2, 3, 4, 4, 3, 2, 1, 0, ABSENT };
    gx_sliding_window *window = make(5);
    for (size_t i = 0; i < 10; i++) {
        for (int64_t n = 0; n < events[i]; n++)
            assert_int_equal(gx_sliding_window_increment(window, gx_str("a")), GALE_OK);
        assert_int_equal(advance(window, "a"), counts[i]);
    }
    assert_int_equal(gx_sliding_window_size(window), 0);
    gx_sliding_window_free(window);
}

static void a_window_is_the_sum_of_its_last_slots(void **state) {
    (void)state;
    static const int64_t events[] = { 5, 0, 2, 9, 0, 0, 0, 1, 7, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1 };
    enum { N = sizeof events / sizeof *events };
    for (int64_t slots = 2; slots <= 12; slots++) {
        gx_sliding_window *window = make(slots);
        int64_t before = ABSENT;
        for (int64_t i = 0; i < N; i++) {
            for (int64_t n = 0; n < events[i]; n++) (void)gx_sliding_window_increment(window, gx_str("w"));
            int64_t sum = 0;
            for (int64_t j = i; j >= 0 && j > i - slots; j--) sum += events[j];
            bool dropped = sum == 0 && before <= 0; /* zero is reported once */
            int64_t expected = dropped ? ABSENT : sum;
            assert_int_equal(advance(window, "w"), expected);
            before = expected;
        }
        gx_sliding_window_free(window);
    }
}

static void an_object_that_fell_to_zero_is_reported_once_and_dropped(void **state) {
    (void)state;
    gx_sliding_window *window = make(2);
    (void)gx_sliding_window_increment(window, gx_str("a"));
    assert_int_equal(advance(window, "a"), 1);
    assert_int_equal(advance(window, "a"), 1);
    assert_int_equal(gx_sliding_window_size(window), 1);
    assert_int_equal(advance(window, "a"), 0);
    assert_int_equal(gx_sliding_window_size(window), 0);
    assert_int_equal(advance(window, "a"), ABSENT);
    gx_sliding_window_free(window);
}

static void an_object_that_comes_back_at_zero_stays(void **state) {
    (void)state;
    gx_sliding_window *window = make(2);
    (void)gx_sliding_window_increment(window, gx_str("a"));
    advance(window, "a");
    advance(window, "a"); /* the next report would be 0 */
    (void)gx_sliding_window_increment(window, gx_str("a"));
    assert_int_equal(advance(window, "a"), 1);
    assert_int_equal(advance(window, "a"), 1);
    assert_int_equal(advance(window, "a"), 0);
    gx_sliding_window_free(window);
}

static size_t run_with_failure_at(size_t n) {
    counting = (counting_allocator){ .fail_at = n };
    gx_sliding_window *window = NULL;
    int made = gx_sliding_window_new(&heap, 3, 1, &window, NULL);
    assert_true(made == GALE_OK || (made == GALE_NO_MEMORY && !window));
    for (char c = 'A'; window && c < 'z'; c++) {
        int result = gx_sliding_window_increment(window, (gale_str){ &c, 1 });
        assert_true(result == GALE_OK || result == GALE_NO_MEMORY);
    }
    if (window) gx_sliding_window_advance(window);
    gx_sliding_window_free(window);
    assert_int_equal(counting.blocks, 0);
    return counting.calls;
}

static void any_failing_allocation_is_reported(void **state) {
    (void)state;
    size_t calls = run_with_failure_at(0);
    for (size_t n = 1; n <= calls; n++) run_with_failure_at(n);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(fewer_than_two_slots_are_refused),
        TEST(an_empty_window_reports_nothing),
        TEST(one_event_in_each_of_four_slots_rises_stays_and_falls),
        TEST(a_window_is_the_sum_of_its_last_slots),
        TEST(an_object_that_fell_to_zero_is_reported_once_and_dropped),
        TEST(an_object_that_comes_back_at_zero_stays),
        TEST(any_failing_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
