#include "ds/histogram.h"

#include "base/random.h"
#include "harness/cm.h"

#include <math.h>

static gx_histogram histogram;
static gx_histogram_reading reading;

static int setup(void **state) {
    (void)state;
    memset(&histogram, 0, sizeof histogram);
    memset(&reading, 0, sizeof reading);
    return 0;
}

static void every_value_lies_in_its_bucket(void **state) {
    (void)state;
    gx_random random = gx_random_new(1, 0);
    for (int i = 0; i < 200000; i++) {
        int64_t value = (int64_t)(gx_random_next(&random) >> (2 + i % 62));
        size_t bucket = gx_histogram_bucket(value);
        assert_true(bucket < GX_HISTOGRAM_BUCKETS);
        int64_t top = gx_histogram_bucket_top(bucket);
        assert_true(value <= top);
        assert_true(bucket == 0 || value > gx_histogram_bucket_top(bucket - 1));
        assert_true(top - value <= value / 32);
    }
}

static void small_values_have_a_bucket_each(void **state) {
    (void)state;
    for (int64_t value = 0; value < 64; value++) {
        assert_int_equal(gx_histogram_bucket(value), value);
        assert_int_equal(gx_histogram_bucket_top((size_t)value), value);
    }
}

static void buckets_rise_without_gap(void **state) {
    (void)state;
    for (size_t bucket = 0; bucket + 1 < GX_HISTOGRAM_BUCKETS; bucket++) {
        int64_t top = gx_histogram_bucket_top(bucket);
        assert_true(top < gx_histogram_bucket_top(bucket + 1));
        if (top < (INT64_C(1) << 62) - 1) {
            assert_int_equal(gx_histogram_bucket(top), bucket);
            assert_int_equal(gx_histogram_bucket(top + 1), bucket + 1);
        }
    }
    assert_int_equal(gx_histogram_bucket_top(GX_HISTOGRAM_BUCKETS), INT64_MAX);
    assert_int_equal(gx_histogram_bucket_top(SIZE_MAX), INT64_MAX);
}

static void values_out_of_range_count_at_the_ends(void **state) {
    (void)state;
    assert_int_equal(gx_histogram_bucket(-1), 0);
    assert_int_equal(gx_histogram_bucket(INT64_MIN), 0);
    assert_int_equal(gx_histogram_bucket(INT64_MAX), gx_histogram_bucket((INT64_C(1) << 62) - 1));
    gx_histogram_add(&histogram, INT64_MIN);
    gx_histogram_add(&histogram, INT64_MAX);
    gx_histogram_read(&histogram, &reading);
    assert_int_equal(reading.count, 2);
    assert_int_equal(reading.max, INT64_MAX);
    assert_int_equal(gx_histogram_quantile(&reading, 0.5), 0);
}

static void an_empty_reading_answers_zero(void **state) {
    (void)state;
    gx_histogram_read(&histogram, &reading);
    assert_int_equal(gx_histogram_quantile(&reading, 0.5), 0);
    assert_int_equal(gx_histogram_quantile(&reading, 1), 0);
    assert_int_equal(reading.max, 0);
}

static void quantiles_of_one_to_a_hundred_are_exact_where_buckets_are(void **state) {
    (void)state;
    for (int64_t value = 1; value <= 100; value++) gx_histogram_add(&histogram, value > 50 ? 50 : value);
    gx_histogram_read(&histogram, &reading);
    assert_int_equal(gx_histogram_quantile(&reading, 0), 1);
    assert_int_equal(gx_histogram_quantile(&reading, -5), 1);
    assert_int_equal(gx_histogram_quantile(&reading, NAN), 1);
    assert_int_equal(gx_histogram_quantile(&reading, 0.01), 1);
    for (int i = 1; i <= 50; i++) assert_int_equal(gx_histogram_quantile(&reading, i / 100.0), i);
    assert_int_equal(gx_histogram_quantile(&reading, 0.011), 2);
    assert_int_equal(gx_histogram_quantile(&reading, 1), 50);
    assert_int_equal(gx_histogram_quantile(&reading, 9), 50);
}

static void a_quantile_is_never_above_the_largest_value(void **state) {
    (void)state;
    gx_histogram_add(&histogram, 1000000);
    gx_histogram_read(&histogram, &reading);
    assert_true(gx_histogram_bucket_top(gx_histogram_bucket(1000000)) > 1000000);
    assert_int_equal(gx_histogram_quantile(&reading, 0.5), 1000000);
}

static void readings_add_up(void **state) {
    (void)state;
    static gx_histogram other;
    memset(&other, 0, sizeof other);
    gx_histogram_add(&histogram, 3);
    gx_histogram_add(&other, 9);
    gx_histogram_add(&other, 3);
    gx_histogram_read(&other, &reading);
    gx_histogram_read(&histogram, &reading);
    assert_int_equal(reading.count, 3);
    assert_int_equal(reading.buckets[3], 2);
    assert_int_equal(reading.max, 9);
}

static void a_sum_takes_each_value_for_the_middle_of_its_step(void **state) {
    (void)state;
    gx_histogram_read(&histogram, &reading);
    assert_true(gx_histogram_sum(&reading) == 0);
    gx_histogram_add_many(&histogram, 63, 3);
    gx_histogram_add(&histogram, 0);
    gx_histogram_read(&histogram, &reading);
    assert_true(gx_histogram_sum(&reading) == 189);
    gx_histogram_add(&histogram, 1000000); /* 999424 to 1015807 */
    memset(&reading, 0, sizeof reading);
    gx_histogram_read(&histogram, &reading);
    assert_true(gx_histogram_sum(&reading) == 189 + 1007615.5);
}

static void what_is_below_a_bound_is_counted_up_to_it(void **state) {
    (void)state;
    const int64_t bounds[] = { -1, 0, 5, 5, 1000000, 1015807, INT64_MAX };
    const uint64_t expected[] = { 0, 1, 3, 3, 3, 4, 5 };
    uint64_t counts[7];
    gx_histogram_add(&histogram, 0);
    gx_histogram_add_many(&histogram, 5, 2);
    gx_histogram_add(&histogram, 1000000);
    gx_histogram_add(&histogram, INT64_MAX);
    gx_histogram_read(&histogram, &reading);
    gx_histogram_below(&reading, bounds, 7, counts);
    for (size_t i = 0; i < 7; i++) assert_int_equal(counts[i], expected[i]);
    gx_histogram_below(&reading, bounds, 0, NULL);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_value_lies_in_its_bucket),
        TEST(small_values_have_a_bucket_each),
        TEST(buckets_rise_without_gap),
        TEST(values_out_of_range_count_at_the_ends),
        TEST(an_empty_reading_answers_zero),
        TEST(quantiles_of_one_to_a_hundred_are_exact_where_buckets_are),
        TEST(a_quantile_is_never_above_the_largest_value),
        TEST(readings_add_up),
        TEST(a_sum_takes_each_value_for_the_middle_of_its_step),
        TEST(what_is_below_a_bound_is_counted_up_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
