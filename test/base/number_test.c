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
    char lengthy[GX_NUMBER_SIZE];
    memset(lengthy, '1', sizeof lengthy);
    assert_false(gx_number_read((gale_str){ lengthy, sizeof lengthy }, &number));
    assert_true(gx_number_read((gale_str){ lengthy, sizeof lengthy - 1 }, &number));
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
        cmocka_unit_test(a_locale_with_another_point_changes_nothing),
        cmocka_unit_test(whole_numbers_are_read_to_their_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
