#include "ds/window_distinct.h"

#include "window_heap.h"

enum { EXACT = 100 };

/* The hash of value n. */
static uint64_t hash(uint64_t n) {
    return gx_random_mix(n + 12345);
}

static void add(gx_tally *pane, uint64_t n) {
    assert_true(gx_distinct_reserve(pane, &heap, hash(n), EXACT));
    gx_distinct_add(pane, hash(n));
}

static uint64_t count_of(const gx_tally *pane) {
    gx_distinct window = { 0 };
    assert_true(gx_distinct_enter(&window, &heap, pane, EXACT));
    uint64_t count = gx_distinct_count(&window);
    gx_tally_fini(&window.tally, &heap);
    return count;
}

static void it_is_exact_up_to_the_limit(void **state) {
    (void)state;
    gx_tally pane = { 0 };
    assert_int_equal(count_of(&pane), 0);
    for (uint64_t n = 0; n < EXACT; n++) {
        add(&pane, n);
        add(&pane, n);
        add(&pane, n / 2);
        assert_int_equal(count_of(&pane), n + 1);
    }
    assert_false(pane.coarse);
    add(&pane, EXACT);
    assert_true(pane.coarse);
    gx_tally_fini(&pane, &heap);
}

/* 1.6 % is the standard deviation; over 25 sets of values at each size the mean square error is near it, and no single one
 * is above five times as much. */
static void above_it_the_error_is_as_stated_at_every_size(void **state) {
    (void)state;
    enum { SETS = 25 };
    static const uint64_t sizes[] = { 150, 500, 2000, 5000, 10000, 20000, 50000, 200000 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double squares = 0;
        for (uint64_t set = 0; set < SETS; set++) {
            gx_tally pane = { 0 };
            for (uint64_t n = 0; n < sizes[s]; n++) add(&pane, set << 32 | n);
            double error = (double)count_of(&pane) / (double)sizes[s] - 1;
            assert_true(error < 0.08 && error > -0.08);
            squares += error * error;
            gx_tally_fini(&pane, &heap);
        }
        assert_true(squares / SETS < 0.022 * 0.022);
    }
}

/* Panes come and go, exact and coarse; the window says what one that began with those that are there says. */
static void a_pane_that_leaves_leaves_no_trace(void **state) {
    (void)state;
    enum { PANES = 6 };
    gx_tally panes[PANES] = { { 0 } };
    gx_distinct window = { 0 };
    gx_random random = gx_random_new(2, 0);
    int coarse = 0, fine = 0;
    for (int round = 0; round < 300; round++) {
        gx_tally *pane = &panes[round % PANES];
        gx_distinct_leave(&window, pane);
        gx_tally_fini(pane, &heap);
        uint64_t many = gx_random_below(&random, round % 50 < 25 ? 30 : 300), span = 1 + gx_random_below(&random, 1000);
        for (uint64_t i = 0; i < many; i++) add(pane, gx_random_below(&random, (uint32_t)span));
        gx_tally_trim(pane, &heap);
        assert_true(gx_distinct_enter(&window, &heap, pane, EXACT));
        if (gx_distinct_is_small(&window, EXACT)) {
            gx_tally_fini(&window.tally, &heap);
            window = (gx_distinct){ 0 };
            for (int p = 0; p < PANES; p++) assert_true(gx_distinct_enter(&window, &heap, &panes[p], EXACT));
            assert_false(window.tally.coarse);
        }
        gx_distinct other = { 0 };
        for (int p = 0; p < PANES; p++) assert_true(gx_distinct_enter(&other, &heap, &panes[p], EXACT));
        if (window.tally.coarse == other.tally.coarse)
            assert_int_equal(gx_distinct_count(&window), gx_distinct_count(&other));
        coarse += window.tally.coarse;
        fine += !window.tally.coarse;
        gx_tally_fini(&other.tally, &heap);
    }
    assert_true(coarse > 50 && fine > 50);
    for (int p = 0; p < PANES; p++) {
        gx_distinct_leave(&window, &panes[p]);
        gx_tally_fini(&panes[p], &heap);
    }
    assert_int_equal(window.tally.used, 0);
    assert_int_equal(window.entries, 0);
    gx_tally_fini(&window.tally, &heap);
}

/* As one that was read back from where it was saved. */
static void a_coarse_pane_that_has_little_room_takes_all_registers(void **state) {
    (void)state;
    gx_tally pane = { 0 };
    for (uint64_t n = 0; n <= EXACT; n++) add(&pane, n);
    gx_tally_trim(&pane, &heap);
    for (uint64_t n = 0; n < 100000; n++) add(&pane, n);
    assert_int_equal(pane.used, GX_DISTINCT_REGISTERS);
    gx_tally_fini(&pane, &heap);
}

static void without_memory_nothing_changes(void **state) {
    (void)state;
    gx_tally pane = { 0 };
    gx_distinct window = { 0 };
    fail_at(1);
    assert_false(gx_distinct_reserve(&pane, &heap, hash(EXACT), EXACT));
    for (uint64_t n = 0; n < EXACT; n++) add(&pane, n);
    fail_at(1);
    assert_false(gx_distinct_reserve(&pane, &heap, hash(EXACT), EXACT));
    assert_false(pane.coarse);
    assert_int_equal(pane.used, EXACT);
    fail_at(1);
    assert_false(gx_distinct_enter(&window, &heap, &pane, EXACT));
    assert_true(gx_distinct_enter(&window, &heap, &pane, EXACT));
    gx_tally more = { 0 };
    for (uint64_t n = EXACT - 5; n < EXACT + 5; n++) add(&more, n);
    fail_at(1);
    assert_false(gx_distinct_enter(&window, &heap, &more, EXACT));
    assert_int_equal(gx_distinct_count(&window), EXACT);
    assert_true(gx_distinct_enter(&window, &heap, &more, EXACT));
    assert_true(window.tally.coarse);
    gx_tally_fini(&pane, &heap);
    gx_tally_fini(&more, &heap);
    gx_tally_fini(&window.tally, &heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_exact_up_to_the_limit),
        cmocka_unit_test(above_it_the_error_is_as_stated_at_every_size),
        cmocka_unit_test(a_pane_that_leaves_leaves_no_trace),
        cmocka_unit_test(a_coarse_pane_that_has_little_room_takes_all_registers),
        cmocka_unit_test(without_memory_nothing_changes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
