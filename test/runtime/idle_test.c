#include "runtime/idle.h"

#include "harness/cm.h"

static void work_that_comes_while_it_spins_doubles_it_up_to_the_most(void **state) {
    (void)state;
    gx_idle p = { 16, 2000 };
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
    gx_idle p = { 16, 2000 };
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
    gx_idle p = { GX_IDLE_MIN, 2000 };
    for (int i = 0; i < 7; i++) gx_idle_slept(&p, (gx_nap){ 39999, 20000 });
    assert_true(p.steps >= 2000);
}

static void waking_that_waits_for_a_core_halves_it(void **state) {
    (void)state;
    gx_idle p = { 64, 2000 };
    gx_idle_slept(&p, (gx_nap){ 0, GX_IDLE_WAKING });
    assert_int_equal(p.steps, 32);
}

static void a_sleep_that_ends_by_the_clock_halves_it(void **state) {
    (void)state;
    gx_idle p = { 64, 2000 };
    gx_idle_slept(&p, (gx_nap){ 1000, 0 });
    assert_int_equal(p.steps, 32);
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
        cmocka_unit_test(no_spins_at_all_stay_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
