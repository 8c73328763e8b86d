#include "cli/figures.h"

#include "harness/cm.h"

#include <gale/clock.h>

static void expect_count(uint64_t count, const char *text) {
    char out[GX_FIGURE_SIZE];
    assert_string_equal(gx_figure_count(count, out), text);
}

static void expect_time(double nanoseconds, const char *text) {
    char out[GX_FIGURE_SIZE];
    assert_string_equal(gx_figure_time(nanoseconds, out), text);
}

static void expect_bytes(uint64_t bytes, const char *text) {
    char out[GX_FIGURE_SIZE];
    assert_string_equal(gx_figure_bytes(bytes, out), text);
}

static void expect_rate(uint64_t count, int64_t nanoseconds, const char *text) {
    char out[GX_FIGURE_SIZE];
    assert_string_equal(gx_figure_rate(count, nanoseconds, out), text);
}

static void counts_have_commas_by_thousands(void **state) {
    (void)state;
    expect_count(0, "0");
    expect_count(999, "999");
    expect_count(1000, "1,000");
    expect_count(1234567, "1,234,567");
    expect_count(UINT64_MAX, "18,446,744,073,709,551,615");
}

static void bytes_have_a_unit_of_a_thousand(void **state) {
    (void)state;
    expect_bytes(0, "0 B");
    expect_bytes(999, "999 B");
    expect_bytes(1000, "1.0 kB");
    expect_bytes(262144, "262 kB");
    expect_bytes(8 << 20, "8.4 MB");
    expect_bytes(999600000, "1.0 GB");
    expect_bytes(UINT64_MAX, "18446744 TB");
}

static void times_have_three_digits_and_a_unit(void **state) {
    (void)state;
    expect_time(0, "0 ns");
    expect_time(17, "17 ns");
    expect_time(999.4, "999 ns");
    expect_time(999.6, "1.00 us");
    expect_time(12345, "12.3 us");
    expect_time(123456789, "123 ms");
    expect_time(2.5e9, "2.50 s");
    expect_time(4e12, "4000 s");
}

static void rates_are_whole_from_ten_on(void **state) {
    (void)state;
    expect_rate(0, GALE_SECOND, "0");
    expect_rate(5, 0, "0");
    expect_rate(5, 2 * GALE_SECOND, "2.5");
    expect_rate(25, 2 * GALE_SECOND, "13");
    expect_rate(3000000, 2 * GALE_SECOND, "1,500,000");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_have_commas_by_thousands),
        cmocka_unit_test(bytes_have_a_unit_of_a_thousand),
        cmocka_unit_test(times_have_three_digits_and_a_unit),
        cmocka_unit_test(rates_are_whole_from_ten_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
