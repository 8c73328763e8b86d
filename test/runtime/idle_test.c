#include "runtime/idle.h"

#include "harness/cm.h"

static void work_that_comes_while_it_spins_doubles_it_up_to_the_most(void **state) {
    (void)state;
    gx_idle p = gx_idle_new(2000);
    p.steps = 16;
    for (uint32_t steps = 16; steps < 2000; steps *= 2) {
        assert_int_equal(p.steps, steps);
        gx_idle_worked(&p, steps - 1);
    }
    uint32_t most = p.steps;
    gx_idle_worked(&p, 1);
    assert_int_equal(p.steps, most);
    assert_in_range(most, 2000, 4000);
}

static void work_without_an_empty_step_before_says_nothing(void **state) {
    (void)state;
    gx_idle p = gx_idle_new(2000);
    p.steps = 16;
    gx_idle_worked(&p, 0);
    gx_idle_worked(&p, 16); /* it was parked meanwhile */
    assert_int_equal(p.steps, 16);
}

static void long_sleeps_halve_it_down_to_the_least(void **state) {
    (void)state;
    gx_idle p = gx_idle_new(2000);
    for (int i = 0; i < 100; i++) gx_idle_slept(&p, (gx_nap){ 40000, 20000 });
    assert_in_range(p.steps, GX_IDLE_MIN, 2 * GX_IDLE_MIN - 1);
}

static void one_that_is_always_rung_sooner_than_it_wakes_comes_to_spin(void **state) {
    (void)state;
    gx_idle p = gx_idle_new(2000);
    p.steps = GX_IDLE_MIN;
    for (int i = 0; i < 7; i++) gx_idle_slept(&p, (gx_nap){ 39999, 20000 });
    assert_true(p.steps >= 2000);
}

static void waking_that_waits_for_a_core_halves_it(void **state) {
    (void)state;
    gx_idle p = gx_idle_new(2000);
    p.steps = 64;
    gx_idle_slept(&p, (gx_nap){ 0, GX_IDLE_WAKING });
    assert_int_equal(p.steps, 32);
}

static void a_sleep_that_ends_by_the_clock_halves_it(void **state) {
    (void)state;
    gx_idle p = gx_idle_new(2000);
    p.steps = 64;
    gx_idle_slept(&p, (gx_nap){ 1000, 0 });
    assert_int_equal(p.steps, 32);
}

static void one_that_is_not_asked_to_spin_longer_parks_after_50_us(void **state) {
    (void)state;
    gx_idle p = gx_idle_new(0);
    assert_false(gx_idle_parks(&p, 1, 1000));
    assert_false(gx_idle_parks(&p, 2, 1000 + GX_IDLE_SPIN - 1));
    assert_true(gx_idle_parks(&p, 3, 1000 + GX_IDLE_SPIN));
    assert_false(gx_idle_parks(&p, 1, 1000 + GX_IDLE_SPIN)); /* it has worked since */
}

static void where_waking_takes_long_it_spins_for_as_long_as_a_round_trip_takes(void **state) {
    (void)state;
    gx_idle p = gx_idle_new(0);
    gx_idle_slept(&p, (gx_nap){ 30000, 75000 });
    assert_false(gx_idle_parks(&p, 1, 0));
    assert_false(gx_idle_parks(&p, 2, 149999));
    assert_true(gx_idle_parks(&p, 2, 150000));
    gx_idle_slept(&p, (gx_nap){ 30000, GX_IDLE_WAKING }); /* that was for want of a core */
    assert_true(gx_idle_parks(&p, 2, GX_IDLE_SPIN));
}

static void one_that_is_asked_for_steps_makes_them_however_long_they_take(void **state) {
    (void)state;
    gx_idle p = gx_idle_new(100);
    for (uint32_t times = 1; times < 100; times++) assert_false(gx_idle_parks(&p, times, (int64_t)times * 1000000000));
    assert_true(gx_idle_parks(&p, 100, 0));
}

static void no_spins_at_all_stay_none(void **state) {
    (void)state;
    gx_idle p = gx_idle_new(1);
    for (int i = 0; i < 5; i++) gx_idle_slept(&p, (gx_nap){ 0, 1 });
    assert_int_equal(p.steps, 1);
    gx_idle_slept(&p, (gx_nap){ 40000, 20000 });
    assert_int_equal(p.steps, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_that_comes_while_it_spins_doubles_it_up_to_the_most),
        cmocka_unit_test(work_without_an_empty_step_before_says_nothing),
        cmocka_unit_test(long_sleeps_halve_it_down_to_the_least),
        cmocka_unit_test(one_that_is_always_rung_sooner_than_it_wakes_comes_to_spin),
        cmocka_unit_test(waking_that_waits_for_a_core_halves_it),
        cmocka_unit_test(a_sleep_that_ends_by_the_clock_halves_it),
        cmocka_unit_test(one_that_is_not_asked_to_spin_longer_parks_after_50_us),
        cmocka_unit_test(where_waking_takes_long_it_spins_for_as_long_as_a_round_trip_takes),
        cmocka_unit_test(one_that_is_asked_for_steps_makes_them_however_long_they_take),
        cmocka_unit_test(no_spins_at_all_stay_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
