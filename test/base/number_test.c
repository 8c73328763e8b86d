#include "base/number.h"

#include "base/random.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness/cm.h"

static void expect(const char *text, double wanted) {
    double number = -77;
    if (!gx_number_read(gx_str(text), &number)) fail_msg("'%s' is refused", text);
    if (memcmp(&number, &wanted, sizeof number) != 0) fail_msg("'%s' is %.17g, not %.17g", text, number, wanted);
}

static void what_people_and_programs_write_is_read(void **state) {
    (void)state;
    expect("0", 0);
    expect("-0", -0.0);
    expect("+1.5", 1.5);
    expect(".5", 0.5);
    expect("5.", 5);
    expect("1e3", 1000);
    expect("1E+3", 1000);
    expect("-25e-1", -2.5);
    expect("0.1", 0.1);
    expect("9007199254740993", 9007199254740992.0);
    expect("123456789012345678901234567890", 123456789012345678901234567890.0);
    expect("4.9e-324", 4.9e-324);
    expect("1e-400", 0);
    expect("1e400", (double)INFINITY);
    expect("-1e99999999999999999999", -(double)INFINITY);
    expect("0e99999999999999999999", 0);
}

static void what_is_no_decimal_number_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = { "",      " ",    "-",   ".",   "1 ",  " 1",  "1x",  "e5",  "1e",   "1e+",
                                         "1.2.3", "0x10", "inf", "nan", "1,5", "--1", "+-1", "1_0", "1e5.0" };
    double number = -77;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (gx_number_read(gx_str(texts[i]), &number)) fail_msg("'%s' is taken", texts[i]);
}

/* Both ways of reading, the short one and the library's, end at the nearest double. */
static void every_text_is_its_nearest_double(void **state) {
    (void)state;
    gx_random random = gx_random_new(7, 1);
    for (int round = 0; round < 100000; round++) {
        char text[64];
        uint64_t digits = gx_random_next(&random) >> gx_random_below(&random, 64);
        int exponent = (int)gx_random_below(&random, 50) - 25;
        if (round % 2)
            snprintf(text, sizeof text, "%llu.%02ue%d", (unsigned long long)digits, gx_random_below(&random, 100),
                     exponent);
        else
            snprintf(text, sizeof text, "-%llue%d", (unsigned long long)digits, exponent);
        expect(text, strtod(text, NULL));
    }
}

/* Half-way between two doubles, and a little more in a digit far behind. */
static void every_digit_counts_however_far_behind(void **state) {
    (void)state;
    static char text[2000];
    double half = 9007199254740993.0; /* 2^53 + 1, which is 2^53 */
    int size = snprintf(text, sizeof text, "9007199254740993.%01500d", 0);
    expect(text, half);
    text[size - 1] = '1';
    expect(text, 9007199254740994.0);
    memset(text, '9', 400);
    text[400] = 0;
    expect(text, (double)INFINITY);
    snprintf(text, sizeof text, "0.%0400d1e401", 0);
    expect(text, 1);
    snprintf(text, sizeof text, "1%0400de-400", 0);
    expect(text, 1);
}

static double random_double(gx_random *random) {
    double number;
    uint64_t bits = gx_random_next(random);
    memcpy(&number, &bits, sizeof number);
    return gx_random_below(random, 3) ? number : (double)(int64_t)bits / (double)(1 + gx_random_below(random, 100000));
}

static int fewest_digits(double number) {
    char text[40];
    int digits = 1;
    for (; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, number);
        if (strtod(text, NULL) == number) break;
    }
    return digits;
}

static int digits_of(const char *text) {
    int count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && !count)) continue;
        count++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return count - zeros;
}

static void what_is_written_is_the_shortest_that_reads_back(void **state) {
    (void)state;
    gx_random random = gx_random_new(11, 1);
    for (int round = 0; round < 50000; round++) {
        char text[GX_NUMBER_TEXT];
        double number = random_double(&random);
        if (!isfinite(number)) continue;
        size_t size = gx_number_write(text, number);
        assert_int_equal(size, strlen(text));
        expect(text, number);
        if (number != 0 && digits_of(text) != fewest_digits(number)) fail_msg("'%s' is too long", text);
    }
}

static void writes(double number, const char *wanted) {
    char text[GX_NUMBER_TEXT];
    gx_number_write(text, number);
    assert_string_equal(text, wanted);
}

static void what_is_written_looks_as_people_write(void **state) {
    (void)state;
    writes(0, "0");
    writes(-0.0, "-0");
    writes(1, "1");
    writes(0.1, "0.1");
    writes(-123.456, "-123.456");
    writes(0.0001, "0.0001");
    writes(0.00001234, "1.234e-05");
    writes(1e15, "1000000000000000");
    writes(1e16, "1e+16");
    writes(1e23, "1e+23");
    writes(5e-324, "5e-324");
    writes(1.7976931348623157e308, "1.7976931348623157e+308");
    writes(2.2250738585072014e-308, "2.2250738585072014e-308");
    writes(9007199254740993.0, "9007199254740992");
    writes((double)INFINITY, "inf");
    writes(-(double)INFINITY, "-inf");
    writes((double)NAN, "nan");
}

static void whole_numbers_are_written_to_their_ends(void **state) {
    (void)state;
    char text[24];
    text[gx_number_write_whole(text, INT64_MIN)] = 0;
    assert_string_equal(text, "-9223372036854775808");
    text[gx_number_write_count(text, UINT64_MAX)] = 0;
    assert_string_equal(text, "18446744073709551615");
    text[gx_number_write_whole(text, 0)] = 0;
    assert_string_equal(text, "0");
}

static void a_locale_with_another_point_changes_nothing(void **state) {
    (void)state;
    static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "fr_FR.utf8" };
    for (size_t i = 0; i < sizeof names / sizeof *names && !setlocale(LC_NUMERIC, names[i]); i++) continue;
    double number = 0;
    expect("1.5", 1.5);
    expect("1.234567890123456789", 1.234567890123456789);
    assert_false(gx_number_read(gx_str("1,5"), &number));
    setlocale(LC_NUMERIC, "C");
}

static void whole_numbers_are_read_to_their_ends(void **state) {
    (void)state;
    static const char *const none[] = {
        "", "-", "+", "1.0", "1e3", " 1", "1 ", "0x1", "9223372036854775808", "-9223372036854775809"
    };
    int64_t number = -77;
    assert_true(gx_number_whole(gx_str("9223372036854775807"), &number) && number == INT64_MAX);
    assert_true(gx_number_whole(gx_str("-9223372036854775808"), &number) && number == INT64_MIN);
    assert_true(gx_number_whole(gx_str("+007"), &number) && number == 7);
    assert_true(gx_number_whole(gx_str("-0"), &number) && number == 0);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) assert_false(gx_number_whole(gx_str(none[i]), &number));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_people_and_programs_write_is_read),
        cmocka_unit_test(what_is_no_decimal_number_is_refused),
        cmocka_unit_test(every_text_is_its_nearest_double),
        cmocka_unit_test(every_digit_counts_however_far_behind),
        cmocka_unit_test(what_is_written_is_the_shortest_that_reads_back),
        cmocka_unit_test(what_is_written_looks_as_people_write),
        cmocka_unit_test(whole_numbers_are_written_to_their_ends),
        cmocka_unit_test(a_locale_with_another_point_changes_nothing),
        cmocka_unit_test(whole_numbers_are_read_to_their_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
