#include "base/clock.h"

#include "base/os/thread.h"
#include "harness/cm.h"

static void the_monotonic_clock_never_goes_back(void **state) {
    (void)state;
    gale_clock clock = gale_clock_monotonic();
    assert_int_equal(clock.size, sizeof clock);
    int64_t before = gx_now(&clock);
    for (int i = 0; i < 1000; i++) {
        int64_t now = gx_now(&clock);
        assert_true(now >= before);
        before = now;
    }
}

static void the_wall_clock_counts_from_1970(void **state) {
    (void)state;
    gale_clock clock = gale_clock_wall();
    assert_true(gx_now(&clock) > INT64_C(1500000000) * GALE_SECOND);
}

static void a_manual_clock_stands_until_it_is_moved(void **state) {
    (void)state;
    gale_manual_clock *manual = gale_manual_clock_new(-5);
    gale_clock clock = gale_manual_clock_handle(manual);
    assert_int_equal(gx_now(&clock), -5);
    assert_int_equal(gx_now(&clock), -5);
    assert_int_equal(gale_manual_clock_advance(manual, 7), 2);
    assert_int_equal(gx_now(&clock), 2);
    assert_int_equal(gale_manual_clock_advance(manual, 0), 2);
    gale_manual_clock_free(manual);
    gale_manual_clock_free(NULL);
}

static void a_manual_clock_neither_goes_back_nor_wraps(void **state) {
    (void)state;
    gale_manual_clock *manual = gale_manual_clock_new(10);
    assert_int_equal(gale_manual_clock_advance(manual, -3), 10);
    assert_int_equal(gale_manual_clock_advance(manual, INT64_MIN), 10);
    assert_int_equal(gale_manual_clock_advance(manual, INT64_MAX), INT64_MAX);
    assert_int_equal(gale_manual_clock_advance(manual, 1), INT64_MAX);
    gale_manual_clock_free(manual);
}

static void *advance_often(void *user) {
    for (int i = 0; i < 10000; i++) gale_manual_clock_advance(user, 3);
    return NULL;
}

static void no_advance_of_two_threads_is_lost(void **state) {
    (void)state;
    gale_manual_clock *manual = gale_manual_clock_new(0);
    gx_thread other = { 0 };
    assert_true(gx_thread_start(&other, "mover", advance_often, manual));
    advance_often(manual);
    assert_true(gx_thread_join(&other, -1));
    assert_int_equal(gale_manual_clock_advance(manual, 0), 60000);
    gale_manual_clock_free(manual);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_monotonic_clock_never_goes_back),
        cmocka_unit_test(the_wall_clock_counts_from_1970),
        cmocka_unit_test(a_manual_clock_stands_until_it_is_moved),
        cmocka_unit_test(a_manual_clock_neither_goes_back_nor_wraps),
        cmocka_unit_test(no_advance_of_two_threads_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
