#include "ds/window_buckets.h"

#include "window_heap.h"

#include <float.h>
#include <math.h>

static void what_is_told_is_no_farther_from_zero_and_nearer_by_less_than_a_256th(void **state) {
    (void)state;
    gx_random random = gx_random_new(1, 0);
    for (int i = 0; i < 200000; i++) {
        double number = ldexp((double)gx_random_next(&random), (int)gx_random_below(&random, 2000) - 1070);
        if (i % 2) number = -number;
        if (fabs(number) < DBL_MIN || fabs(number) > DBL_MAX) continue;
        double told = gx_bucket_number(gx_bucket_of(number));
        assert_true(signbit(told) == signbit(number));
        assert_true(fabs(told) <= fabs(number));
        assert_true(fabs(told) > fabs(number) * (1 - 1.0 / 256));
    }
}

static void whole_numbers_up_to_512_are_told_exactly(void **state) {
    (void)state;
    for (int n = -512; n <= 512; n++) assert_true(gx_bucket_number(gx_bucket_of(n)) == n);
    assert_false(gx_bucket_number(gx_bucket_of(513)) == 513);
}

static void numbers_are_in_order_nan_is_above_all(void **state) {
    (void)state;
    const double order[] = { -INFINITY, -DBL_MAX, -1.5, -1, -DBL_MIN, 0, DBL_MIN, 1, 1.5, DBL_MAX, INFINITY, NAN };
    for (size_t i = 1; i < sizeof order / sizeof *order; i++)
        assert_true(gx_bucket_of(order[i - 1]) < gx_bucket_of(order[i]));
    assert_int_equal(gx_bucket_of(-0.0), gx_bucket_of(0.0));
    assert_true(gx_bucket_of(NAN) < GX_BUCKET_LIMIT);
    assert_true(isinf(gx_bucket_number(gx_bucket_of(INFINITY))) && gx_bucket_number(gx_bucket_of(-INFINITY)) < 0);
    assert_true(isnan(gx_bucket_number(gx_bucket_of(NAN))));
    assert_true(isnan(gx_bucket_number(gx_bucket_of(-NAN))));
}

static void add(gx_buckets *pane, double number) {
    assert_true(gx_buckets_reserve(pane, &heap));
    gx_buckets_add(pane, gx_bucket_of(number), 1);
}

static void the_smallest_is_rank_one_and_the_largest_the_last(void **state) {
    (void)state;
    gx_buckets pane = { 0 };
    gx_bucket_sums sums = { 0 };
    const double numbers[] = { 5, -3, 5, 100, 0 };
    const double ranks[] = { -3, 0, 5, 5, 100 };
    for (size_t i = 0; i < 5; i++) add(&pane, numbers[i]);
    assert_true(gx_bucket_sums_enter(&sums, &heap, &pane));
    assert_int_equal(sums.total, 5);
    for (uint64_t r = 1; r <= 5; r++) assert_true(gx_bucket_sums_at(&sums, r) == ranks[r - 1]);
    gx_buckets_fini(&pane, &heap);
    gx_bucket_sums_fini(&sums, &heap);
}

/* Panes come and go; what is left is what the panes that are there hold. */
static void what_is_taken_back_leaves_no_trace(void **state) {
    (void)state;
    enum { PANES = 8 };
    gx_buckets panes[PANES] = { { 0 } };
    gx_bucket_sums sums = { 0 };
    gx_random random = gx_random_new(9, 0);
    for (int round = 0; round < 500; round++) {
        gx_buckets *pane = &panes[round % PANES];
        gx_bucket_sums_leave(&sums, pane);
        gx_buckets_fini(pane, &heap);
        uint32_t many = (uint32_t)gx_random_below(&random, 30);
        for (uint32_t i = 0; i < many; i++) add(pane, (double)gx_random_below(&random, 40) - 20);
        gx_buckets_trim(pane, &heap);
        assert_true(gx_bucket_sums_enter(&sums, &heap, pane));
        uint64_t total = 0, rank = 0, counts[41] = { 0 };
        for (int p = 0; p < PANES; p++)
            for (uint32_t i = 0; i < panes[p].used; i++) {
                counts[(int)gx_bucket_number(panes[p].items[i].index) + 20] += panes[p].items[i].count;
                total += panes[p].items[i].count;
            }
        assert_int_equal(sums.total, total);
        for (int n = 0; n < 41; n++)
            for (uint64_t i = 0; i < counts[n]; i++) assert_true(gx_bucket_sums_at(&sums, ++rank) == n - 20);
    }
    for (int p = 0; p < PANES; p++) {
        gx_bucket_sums_leave(&sums, &panes[p]);
        gx_buckets_fini(&panes[p], &heap);
    }
    assert_int_equal(sums.used, 0);
    assert_int_equal(sums.total, 0);
    gx_bucket_sums_fini(&sums, &heap);
}

static void without_memory_nothing_changes(void **state) {
    (void)state;
    gx_buckets pane = { 0 };
    gx_bucket_sums sums = { 0 };
    fail_at(1);
    assert_false(gx_buckets_reserve(&pane, &heap));
    for (int i = 0; i < 4; i++) add(&pane, i);
    fail_at(1);
    assert_false(gx_buckets_reserve(&pane, &heap));
    fail_at(1);
    assert_false(gx_bucket_sums_enter(&sums, &heap, &pane));
    assert_int_equal(sums.total, 0);
    assert_true(gx_bucket_sums_enter(&sums, &heap, &pane));
    assert_int_equal(sums.total, 4);
    add(&pane, 9);
    fail_at(1);
    gx_buckets_trim(&pane, &heap); /* stays as large as it is */
    assert_int_equal(pane.used, 5);
    gx_buckets_fini(&pane, &heap);
    gx_bucket_sums_fini(&sums, &heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told_is_no_farther_from_zero_and_nearer_by_less_than_a_256th),
        cmocka_unit_test(whole_numbers_up_to_512_are_told_exactly),
        cmocka_unit_test(numbers_are_in_order_nan_is_above_all),
        cmocka_unit_test(the_smallest_is_rank_one_and_the_largest_the_last),
        cmocka_unit_test(what_is_taken_back_leaves_no_trace),
        cmocka_unit_test(without_memory_nothing_changes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
