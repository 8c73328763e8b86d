/* <gale/json.h>: values of JSON as the text where they stand. */
#include "base/str.h"
#include "harness/cm.h"

#include <gale/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void is_refused(const char *text, const char *why) {
    gale_error error = GALE_ERROR_INIT;
    gale_str json = gx_str("untouched");
    assert_int_equal(gale_json_check(gx_str(text), &json, &error), GALE_SYNTAX);
    assert_string_equal(error.text, why);
    assert_string_equal(json.data, "untouched");
}

static void is_found(const char *json, const char *path, const char *value) {
    gale_str found;
    assert_true(gale_json_get(gx_str(json), path, &found));
    if (!gx_str_is(found, value)) fail_msg("%s at %s: '%.*s'", json, path, GX_STR(found));
}

static void a_text_is_one_value_with_blanks_around_it(void **state) {
    (void)state;
    gale_str json;
    assert_int_equal(gale_json_check(gx_str(" \n[1, 2]\t"), &json, NULL), GALE_OK);
    assert_true(gx_str_is(json, "[1, 2]"));
    is_refused("", "1:1: expected a value");
    is_refused("{\"a\":\n 01}", "2:3: expected ',' or '}'");
    is_refused("1 2", "1:3: expected the end of the text");
    is_refused("\"\xff\"", "1:2: the bytes are not UTF-8");
    is_refused("NaN", "1:1: expected a value");
    assert_int_equal(gale_json_check((gale_str){ NULL, 0 }, NULL, NULL), GALE_SYNTAX);
}

static void kinds_are_told_by_the_first_character(void **state) {
    (void)state;
    static const struct {
        const char *text;
        gale_json_kind kind;
    } known[] = { { "null", GALE_JSON_NULL }, { "true", GALE_JSON_BOOL },   { "-1", GALE_JSON_NUMBER },
                  { "0", GALE_JSON_NUMBER },  { "\"\"", GALE_JSON_STRING }, { "[]", GALE_JSON_LIST },
                  { "{}", GALE_JSON_OBJECT }, { "", GALE_JSON_NONE },       { "?", GALE_JSON_NONE } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(gale_json_kind_of(gx_str(known[i].text)), known[i].kind);
}

static void members_are_found_by_paths_and_the_last_of_twins_counts(void **state) {
    (void)state;
    gale_str found;
    is_found("{\"a\" : {\"b\":[1, {\"x\":2}]} , \"c\":\"}\"}", "a.b", "[1, {\"x\":2}]");
    is_found("{\"a\":1,\"c\":\"],}\\\"\",\"a\":2}", "a", "2");
    is_found("{\"\\u00e9\":3}", "\xc3\xa9", "3");
    is_found("[7]", "", "[7]");
    assert_false(gale_json_get(gx_str("{\"a\":1}"), "b", &found));
    assert_false(gale_json_get(gx_str("{\"a\":1}"), "a.b", &found));
    assert_false(gale_json_get(gx_str("[1]"), "0", &found));
}

static void a_wrong_item_does_not_hide_its_neighbours(void **state) {
    (void)state;
    static const char *const items[] = { "1", "1e999", "NaN", "\"\\ud800\"", "{\"a\":[}}", "1 2", "3" };
    gale_json_item item = GALE_JSON_FIRST(gx_str("[1,1e999 , NaN,\"\\ud800\",{\"a\":[}}, 1 2,3]"));
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        assert_true(gale_json_next(&item));
        assert_int_equal(item.index, i);
        if (!gx_str_is(item.value, items[i])) fail_msg("%zu: '%.*s'", i, GX_STR(item.value));
    }
    assert_false(gale_json_next(&item));
    assert_false(item.broken);
}

/* Every text that was cut is told, and nothing is read behind its end: each has memory of its own. */
static void a_cut_text_is_broken(void **state) {
    (void)state;
    static const char whole[] = " [1, {\"a\\\"]\" : [\"b\", -2.5e3]}, null]";
    for (size_t size = 2; size < sizeof whole - 1; size++) {
        char *copy = malloc(size - 1);
        memcpy(copy, whole + 1, size - 1);
        gale_json_item item = GALE_JSON_FIRST(((gale_str){ copy, size - 1 }));
        while (gale_json_next(&item)) continue;
        if (!item.broken) fail_msg("%.*s", (int)size, whole);
        assert_false(gale_json_next(&item));
        free(copy);
    }
    gale_json_item behind = GALE_JSON_FIRST(gx_str("[1] 2"));
    while (gale_json_next(&behind)) continue;
    assert_true(behind.broken);
}

static void texts_lose_their_escapes_and_are_cut_at_characters(void **state) {
    (void)state;
    char text[20];
    assert_int_equal(gale_json_text(gx_str("\"a\\u00e9\\n\""), text, sizeof text), 4);
    assert_string_equal(text, "a\xc3\xa9\n");
    assert_int_equal(gale_json_text(gx_str("\"a\\u00e9\\n\""), text, 3), 4);
    assert_string_equal(text, "a");
    assert_int_equal(gale_json_text(gx_str("\"\\ud800\""), text, sizeof text), -1);
    assert_string_equal(text, "");
    assert_int_equal(gale_json_text(gx_str("-12"), text, sizeof text), 3);
    assert_string_equal(text, "-12");
    assert_int_equal(gale_json_text(gx_str("\"a\""), NULL, 0), 1);
    assert_true(gale_json_is(gx_str("\"\\u0061b\""), "ab"));
    assert_false(gale_json_is(gx_str("\"ab\""), "a"));
    assert_false(gale_json_is(gx_str("1"), "1"));
}

static void numbers_are_whole_or_the_nearest(void **state) {
    (void)state;
    int64_t whole = 7;
    double number;
    assert_true(gale_json_whole(gx_str("-9223372036854775808"), &whole) && whole == INT64_MIN);
    assert_false(gale_json_whole(gx_str("9223372036854775808"), &whole));
    assert_false(gale_json_whole(gx_str("1.0"), &whole));
    assert_false(gale_json_whole(gx_str("\"1\""), &whole));
    assert_false(gale_json_whole(gx_str(""), &whole));
    assert_true(gale_json_number(gx_str("9223372036854775808"), &number) && number == 0x1p63);
    assert_true(gale_json_number(gx_str("-5e-324"), &number) && number < 0);
    assert_false(gale_json_number(gx_str("1e999"), &number));
    assert_false(gale_json_number(gx_str("1x"), &number));
}

static void values_are_appended_to_memory_that_grows(void **state) {
    (void)state;
    char *data = NULL;
    size_t size = 0, room = 0;
    const gale_value pairs[] = { gale_text("a"), gale_f64(0.1), gale_text("b"), gale_f64((double)NAN) };
    const gale_value map = gale_map(pairs, 2), bytes = gale_bytes("\0\1", 2);
    assert_true(gale_json_append(&map, &data, &size, &room));
    assert_true(gale_json_append(&bytes, &data, &size, &room));
    assert_true(gale_json_append(NULL, &data, &size, &room));
    assert_string_equal(data, "{\"a\":0.1,\"b\":null}{\"base64\":\"AAE=\"}null");
    assert_int_equal(size, strlen(data));
    assert_true(room > size);
    free(data);
}

static void a_scalar_has_one_text(void **state) {
    (void)state;
    static const struct {
        double number;
        const char *text;
    } known[] = { { 0.1, "0.1" },
                  { 1e16, "1e+16" },
                  { -0.0, "-0.0" },
                  { 5e-324, "5e-324" },
                  { 1e300, "1e+300" },
                  { (double)NAN, "NaN" },
                  { (double)INFINITY, "Infinity" },
                  { 250, "250.0" } };
    char number[GALE_NUMBER_TEXT];
    gale_str text;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        gale_value value = gale_f64(known[i].number);
        assert_true(gale_value_text(&value, number, &text));
        assert_true(gx_str_is(text, known[i].text));
    }
    const gale_value whole = gale_i64(INT64_MIN), bytes = gale_bytes("x", 1), list = gale_list(&whole, 1);
    assert_true(gale_value_text(&whole, number, &text) && gx_str_is(text, "-9223372036854775808"));
    assert_true(gale_value_text(&bytes, number, &text) && gx_str_is(text, "x"));
    assert_true(gale_value_text(NULL, number, &text) && text.size == 0);
    assert_false(gale_value_text(&list, number, &text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_one_value_with_blanks_around_it),
        cmocka_unit_test(kinds_are_told_by_the_first_character),
        cmocka_unit_test(members_are_found_by_paths_and_the_last_of_twins_counts),
        cmocka_unit_test(a_wrong_item_does_not_hide_its_neighbours),
        cmocka_unit_test(a_cut_text_is_broken),
        cmocka_unit_test(texts_lose_their_escapes_and_are_cut_at_characters),
        cmocka_unit_test(numbers_are_whole_or_the_nearest),
        cmocka_unit_test(values_are_appended_to_memory_that_grows),
        cmocka_unit_test(a_scalar_has_one_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
