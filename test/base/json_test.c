#include "base/json.h"

#include "base/random.h"
#include "base/str.h"
#include "harness/cm.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

static const char *f64_text(gx_buf *buf, double value) {
    gx_buf_reset(buf);
    gx_json json = gx_json_to(buf);
    gx_json_f64(&json, value);
    return gx_buf_text(buf);
}

static void commas_and_colons_are_the_writers(void **state) {
    (void)state;
    gx_buf buf = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&buf);
    gx_json_open(&json, '{');
    gx_json_key(&json, gx_str("a"));
    gx_json_open(&json, '[');
    gx_json_i64(&json, INT64_MIN);
    gx_json_u64(&json, UINT64_MAX);
    gx_json_open(&json, '[');
    gx_json_close(&json, ']');
    gx_json_open(&json, '{');
    gx_json_close(&json, '}');
    gx_json_null(&json);
    gx_json_close(&json, ']');
    gx_json_key(&json, gx_str("b"));
    gx_json_bool(&json, true);
    gx_json_key(&json, gx_str("c"));
    gx_json_bool(&json, false);
    gx_json_close(&json, '}');
    assert_string_equal(gx_buf_text(&buf),
                        "{\"a\":[-9223372036854775808,18446744073709551615,[],{},null],\"b\":true,\"c\":false}");
    gx_buf_fini(&buf);
}

static void strings_escape_only_what_must_be(void **state) {
    (void)state;
    gx_buf buf = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&buf);
    gx_json_string(&json, (gale_str){ "a\"b\\c\n\r\t\b\f\x01\x1f/\x7f\xc3\xa9\0z", 18 });
    assert_string_equal(gx_buf_text(&buf), "\"a\\\"b\\\\c\\n\\r\\t\\b\\f\\u0001\\u001f/\\u007f\xc3\xa9\\u0000z\"");
    gx_buf_reset(&buf);
    json = gx_json_to(&buf);
    gx_json_string(&json, (gale_str){ NULL, 0 });
    assert_string_equal(gx_buf_text(&buf), "\"\"");
    gx_buf_fini(&buf);
}

static void control_characters_of_two_bytes_are_escaped_too(void **state) {
    (void)state;
    gx_buf buf = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&buf);
    gx_json_string(&json, gx_str("\xc2\x80"
                                 "a\xc2\x9b"
                                 "2J\xc2\x9f\xc2\xa0\xc3\x9b"));
    assert_string_equal(gx_buf_text(&buf), "\"\\u0080a\\u009b2J\\u009f\xc2\xa0\xc3\x9b\"");
    gx_buf_reset(&buf);
    json = gx_json_to(&buf);
    gx_json_string(&json, (gale_str){ "\xc2\x9b", 1 }); /* cut off: what follows is not looked at */
    assert_string_equal(gx_buf_text(&buf), "\"\xc2\"");
    gx_buf_fini(&buf);
}

static void floats_are_short_and_look_like_floats(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        { 0.0, "0.0" },
        { -0.0, "-0.0" },
        { 1.0, "1.0" },
        { -3.0, "-3.0" },
        { 0.1, "0.1" },
        { 1.5, "1.5" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 1e15, "1000000000000000.0" },
        { 123456789012345.0, "123456789012345.0" },
        { 9007199254740993.0, "9007199254740992.0" },
        { 1e300, "1e+300" },
        { DBL_MAX, "1.7976931348623157e+308" },
        { DBL_MIN, "2.2250738585072014e-308" },
        { 4.9406564584124654e-324, "5e-324" },
        { NAN, "null" },
        { INFINITY, "null" },
        { -INFINITY, "null" },
    };
    gx_buf buf = GX_BUF_INIT(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(f64_text(&buf, rows[i].value), rows[i].text);
    gx_buf_fini(&buf);
}

static void any_finite_float_reads_back_the_same(void **state) {
    (void)state;
    gx_buf buf = GX_BUF_INIT(NULL);
    gx_random random = gx_random_new(5, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = gx_random_next(&random);
        if (i % 4 == 0) bits &= UINT64_C(0x800fffffffffffff); /* subnormal */
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        const char *text = f64_text(&buf, value);
        double again = strtod(text, NULL);
        assert_memory_equal(&value, &again, sizeof value);
        assert_non_null(strpbrk(text, ".e"));
    }
    gx_buf_fini(&buf);
}

static void the_point_does_not_follow_the_locale(void **state) {
    (void)state;
    static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8" };
    gx_buf buf = GX_BUF_INIT(NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        setlocale(LC_NUMERIC, names[i]); /* where the system has it */
        assert_string_equal(f64_text(&buf, 2.5), "2.5");
        assert_string_equal(f64_text(&buf, 2.5e-30), "2.5e-30");
    }
    setlocale(LC_NUMERIC, "C");
    gx_buf_fini(&buf);
}

static void base64_is_padded(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        { "", "\"\"" },        { "f", "\"Zg==\"" },        { "fo", "\"Zm8=\"" },
        { "foo", "\"Zm9v\"" }, { "foob", "\"Zm9vYg==\"" }, { "\xff\xfe\xfd\xfb", "\"//79+w==\"" }
    };
    gx_buf buf = GX_BUF_INIT(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gx_buf_reset(&buf);
        gx_json json = gx_json_to(&buf);
        gx_json_base64(&json, rows[i][0], strlen(rows[i][0]));
        assert_string_equal(gx_buf_text(&buf), rows[i][1]);
    }
    gx_buf_fini(&buf);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_and_colons_are_the_writers),
        cmocka_unit_test(strings_escape_only_what_must_be),
        cmocka_unit_test(control_characters_of_two_bytes_are_escaped_too),
        cmocka_unit_test(floats_are_short_and_look_like_floats),
        cmocka_unit_test(any_finite_float_reads_back_the_same),
        cmocka_unit_test(the_point_does_not_follow_the_locale),
        cmocka_unit_test(base64_is_padded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
