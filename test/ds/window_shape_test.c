#include "ds/window_shape.h"

#include "harness/cm.h"

static void a_multiple_of_the_slide_is_at_or_before_a_time_also_before_zero(void **state) {
    (void)state;
    gx_window_shape shape = gx_window_shape_of(10, 5);
    assert_int_equal(gx_window_floor(&shape, 0), 0);
    assert_int_equal(gx_window_floor(&shape, 4), 0);
    assert_int_equal(gx_window_floor(&shape, 5), 5);
    assert_int_equal(gx_window_floor(&shape, -1), -5);
    assert_int_equal(gx_window_floor(&shape, -5), -5);
    assert_int_equal(gx_window_floor(&shape, -6), -10);
}

static void a_tumbling_window_is_one_pane(void **state) {
    (void)state;
    gx_window_shape shape = gx_window_shape_of(60, 60);
    int64_t end;
    assert_true(gx_window_tumbles(&shape));
    assert_int_equal(gx_window_pane_of(&shape, 119, &end), 60);
    assert_int_equal(end, 120);
    assert_int_equal(gx_window_first_end(&shape, 60), 120);
    assert_int_equal(gx_window_last_end(&shape, 60), 120);
}

/* By definition: a window [end - length, end) for each multiple of the slide. */
static void expect_time(const gx_window_shape *shape, int64_t time) {
    int64_t end, pane = gx_window_pane_of(shape, time, &end), first = INT64_MAX, last = INT64_MIN;
    assert_true(pane <= time && time < end);
    for (int64_t window = -100 * shape->slide; window <= 100 * shape->slide; window += shape->slide) {
        bool holds = time >= window - shape->length && time < window;
        assert_int_equal(holds, pane >= window - shape->length && end <= window);
        if (holds && window < first) first = window;
        if (holds) last = window;
    }
    assert_int_equal(gx_window_first_end(shape, pane), first);
    assert_int_equal(gx_window_last_end(shape, pane), last);
}

static void each_window_holds_a_pane_whole_or_not_at_all(void **state) {
    (void)state;
    for (int64_t length = 1; length <= 12; length++)
        for (int64_t slide = 1; slide <= length; slide++) {
            gx_window_shape shape = gx_window_shape_of(length, slide);
            for (int64_t time = -30; time <= 30; time++) expect_time(&shape, time);
        }
}

static void a_slide_has_two_panes_at_most_however_odd_the_length(void **state) {
    (void)state;
    gx_window_shape shape = gx_window_shape_of(3600 * INT64_C(1000000000) + 1, 1000000000);
    int64_t first_end, second_end;
    int64_t first = gx_window_pane_of(&shape, 5 * INT64_C(1000000000), &first_end);
    assert_int_equal(gx_window_pane_of(&shape, first_end, &second_end), first_end);
    assert_int_equal(second_end - first, 1000000000);
}

static void the_largest_times_do_not_overflow(void **state) {
    (void)state;
    gx_window_shape shape = gx_window_shape_of(GX_WINDOW_LENGTH_MAX, GX_WINDOW_LENGTH_MAX - 1);
    int64_t end, pane = gx_window_pane_of(&shape, GX_WINDOW_TIME_MAX, &end);
    assert_true(pane <= GX_WINDOW_TIME_MAX && end > GX_WINDOW_TIME_MAX);
    assert_true(gx_window_last_end(&shape, pane) > GX_WINDOW_TIME_MAX);
    pane = gx_window_pane_of(&shape, -GX_WINDOW_TIME_MAX, &end);
    assert_true(pane <= -GX_WINDOW_TIME_MAX && end > -GX_WINDOW_TIME_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_multiple_of_the_slide_is_at_or_before_a_time_also_before_zero),
        cmocka_unit_test(a_tumbling_window_is_one_pane),
        cmocka_unit_test(each_window_holds_a_pane_whole_or_not_at_all),
        cmocka_unit_test(a_slide_has_two_panes_at_most_however_odd_the_length),
        cmocka_unit_test(the_largest_times_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
