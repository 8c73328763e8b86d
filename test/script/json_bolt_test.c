/* JSON to fields. */
#include "kit/rig.h"

#include <gale_script.h>
#include <stdio.h>

static int make(gale_bolt *ret_bolt, gale_json_options options, gale_error *error) {
    options.size = sizeof options;
    return gale_json_bolt(&options, ret_bolt, error);
}

#define OPTIONS(...) ((gale_json_options){ __VA_ARGS__ })

static void paths_become_fields(void **state) {
    (void)state;
    rig r;
    rig_begin(&r, make(&r.bolt, OPTIONS(.fields = "a.b, l.1 as second, l.1.0 as deep, 7 as seven"), NULL), "line");
    assert_string_equal(r.bolt.outputs[0].fields, "b, second, deep, seven");
    rig_expect(&r, "{\"a\":{\"b\":\"x\"},\"l\":[1,[2]],\"7\":7}", "[\"x\",[2],2,7]\n");
    rig_expect(&r, "{\"a\":[1],\"l\":{\"1\":5}}", "[null,5,null,null]\n");
    rig_expect(&r, "[1,2,3,4,5,6,7,8]", "[null,null,null,8]\n");
    rig_expect(&r, "{}", "[null,null,null,null]\n");
    rig_tick_is_passed_over(&r);
    rig_end(&r);
}

static void values_are_what_json_says(void **state) {
    (void)state;
    rig r;
    rig_begin(&r, make(&r.bolt, OPTIONS(.fields = "v"), NULL), "line");
    static const char *const rows[][2] = { { "9223372036854775807", "[9223372036854775807]\n" },
                                           { "-0.5", "[-0.5]\n" },
                                           { "1e2", "[100.0]\n" },
                                           { "\"\\u0000\\ud83d\\ude00\"", "[\"\\u0000\xf0\x9f\x98\x80\"]\n" },
                                           { "false", "[false]\n" },
                                           { "null", "[null]\n" },
                                           { "{\"a\":[],\"b\":{}}", "[{\"a\":[],\"b\":{}}]\n" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[100];
        snprintf(text, sizeof text, "{\"v\": %s}", rows[i][0]);
        rig_expect(&r, text, rows[i][1]);
    }
    rig_end(&r);
}

static void types_are_asked_for(void **state) {
    (void)state;
    rig r;
    rig_begin(&r, make(&r.bolt, OPTIONS(.fields = "i int, f float, b bool, s string, x auto"), NULL), "line");
    rig_expect(&r, "{\"i\":\"7\",\"f\":2,\"b\":\"true\",\"s\":\"x\",\"x\":\"1.5\"}", "[7,2.0,true,\"x\",1.5]\n");
    rig_expect(&r, "{\"i\":7,\"f\":2.5,\"b\":false,\"s\":null,\"x\":[]}", "[7,2.5,false,null,[]]\n");
    rig_expect(&r, "{\"i\":true}", "1:[\"{\\\"i\\\":true}\",\"field 'i': bool is no int\"]\n");
    rig_expect(&r, "{\"i\":\"7x\"}", "1:[\"{\\\"i\\\":\\\"7x\\\"}\",\"field 'i': '7x' is no int\"]\n");
    rig_expect(&r, "{\"s\":7.50}", "[null,null,null,\"7.50\",null]\n");
    rig_expect(&r, "{\"s\":[7]}", "1:[\"{\\\"s\\\":[7]}\",\"field 's': list is no string\"]\n");
    rig_expect(&r, "{\"f\":[]}", "1:[\"{\\\"f\\\":[]}\",\"field 'f': list is no float\"]\n");
    rig_end(&r);
}

/* What nobody asks for makes no line bad, however large. */
static void whole_numbers_beyond_64_bits_are_as_they_are_asked_for(void **state) {
    (void)state;
    rig r;
    const char *line = "{\"a\":18446744073709551616,\"z\":1e999,\"y\":\"\\ud800\"}";
    rig_begin(&r, make(&r.bolt, OPTIONS(.fields = "a, a as f float, a as s string, a as x auto"), NULL), "line");
    rig_expect(&r, line,
               "[1.8446744073709552e+19,1.8446744073709552e+19,\"18446744073709551616\",\"18446744073709551616\"]\n");
    rig_end(&r);
    rig_begin(&r, make(&r.bolt, OPTIONS(.fields = "a int"), NULL), "line");
    rig_expect(&r, "{\"a\":9223372036854775808}",
               "1:[\"{\\\"a\\\":9223372036854775808}\",\"field 'a': '9223372036854775808' is no int\"]\n");
    rig_end(&r);
    rig_begin(&r, make(&r.bolt, OPTIONS(.document = "doc"), NULL), "line");
    rig_expect(&r, "[9223372036854775808]", "[[\"9223372036854775808\"]]\n");
    rig_expect(&r, "[1e999]", "1:[\"[1e999]\",\"1:2: the number is larger than any float\"]\n");
    rig_expect(&r, "[\"x\\ud800\"]", "1:[\"[\\\"x\\\\ud800\\\"]\",\"1:4: half of a surrogate pair stands alone\"]\n");
    rig_end(&r);
}

static void the_whole_document_can_go_out(void **state) {
    (void)state;
    rig r;
    rig_begin(&r, make(&r.bolt, OPTIONS(.keep = "line"), NULL), "line");
    assert_string_equal(r.bolt.outputs[0].fields, "line, doc");
    rig_expect(&r, "7", "[\"7\",7]\n");
    rig_expect(&r, "[\"a\"]", "[\"[\\\"a\\\"]\",[\"a\"]]\n");
    rig_end(&r);
    rig_begin(&r, make(&r.bolt, OPTIONS(.fields = "a", .document = "all", .required = "a"), NULL), "line");
    rig_expect(&r, "{\"a\":1}", "[1,{\"a\":1}]\n");
    rig_end(&r);
}

static void what_is_no_json_is_bad_with_its_place(void **state) {
    (void)state;
    rig r;
    rig_begin(&r, make(&r.bolt, OPTIONS(.fields = "a"), NULL), "line");
    static const char *const rows[][2] = {
        { "", "" }, { "{'a\nb", "" }, { "{", "" }, { "{}x", "" }, { "18446744073709551616", "" }, { "nan", "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        gale_value line = gale_text(rows[i][0]);
        assert_int_equal(rig_take(&r, &line, 1), 0);
        assert_memory_equal(fake_text(&r.fake.emitted), "1:[", 3);
    }
    rig_expect(&r, "{\n \"a\": x}", "1:[\"{\\n \\\"a\\\": x}\",\"2:7: expected a value\"]\n");
    gale_value bytes = gale_bytes("{\"a\":\"\xff\"}", 9);
    assert_int_equal(rig_take(&r, &bytes, 1), 0);
    assert_memory_equal(fake_text(&r.fake.emitted), "1:[{\"base64\"", 12);
    rig_end(&r);
}

static void nest(char *text, int depth) {
    int at = snprintf(text, 20, "{\"a\":");
    for (int i = 0; i < depth; i++) text[at++] = '[';
    for (int i = 0; i < depth; i++) text[at++] = ']';
    snprintf(text + at, 2, "}");
}

static void what_goes_out_is_as_deep_as_a_value_may_be(void **state) {
    (void)state;
    rig r;
    char text[5000];
    rig_begin(&r, make(&r.bolt, OPTIONS(.fields = "a, b"), NULL), "line");
    nest(text, GALE_VALUE_DEPTH);
    gale_value line = gale_text(text);
    assert_int_equal(rig_take(&r, &line, 1), 0);
    assert_memory_equal(fake_text(&r.fake.emitted), "[[[", 3);
    nest(text, GALE_VALUE_DEPTH + 1);
    line = gale_text(text);
    assert_int_equal(rig_take(&r, &line, 1), 0);
    assert_non_null(strstr(fake_text(&r.fake.emitted), "\"1:38: more than 32 lists and objects inside each other"));
    nest(text, 2400);
    line = gale_text(text);
    assert_int_equal(rig_take(&r, &line, 1), 0);
    assert_non_null(strstr(fake_text(&r.fake.emitted), "more than 32 lists"));
    memcpy(text, "{\"x\"", 4);
    line = gale_text(text);
    assert_int_equal(rig_take(&r, &line, 1), 0);
    assert_non_null(strstr(fake_text(&r.fake.emitted), "\"1:517: more than 512 lists"));
    rig_end(&r);
}

static void what_is_too_large_or_not_there_is_bad(void **state) {
    (void)state;
    rig r;
    rig_begin(&r, make(&r.bolt, OPTIONS(.fields = "a, x.b", .required = "b", .max_bytes = 20), NULL), "line");
    rig_expect(&r, "{\"x\":{\"b\":1}}", "[null,1]\n");
    rig_expect(&r, "{\"x\":{}}", "1:[\"{\\\"x\\\":{}}\",\"field 'b' is required, and not there\"]\n");
    rig_expect(&r, "                     ", "1:[\"                     \",\"it has 21 bytes, at most 20\"]\n");
    rig_end(&r);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    RIG_REFUSES(make(&bolt, OPTIONS(.fields = "a..b"), &error),
                "json bolt: fields: 'a..b': a path is up to 16 names, none of them empty, with points between them");
    static const char *const foreign[] = { "$.user.name", "$", "$['user']", "items[0]", "items[*].id", "a.b[2].c" };
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        char wanted[200];
        snprintf(wanted, sizeof wanted,
                 "json bolt: fields: '%s': a path is names and places with points between them: user.name for "
                 "$.user.name, items.0.id for items[0].id",
                 foreign[i]);
        RIG_REFUSES(make(&bolt, OPTIONS(.fields = foreign[i]), &error), wanted);
    }
    gale_bolt own;
    assert_int_equal(make(&own, OPTIONS(.fields = "$type, a.$b"), NULL), GALE_OK); /* names of their own */
    own.free_user(own.user);
    RIG_REFUSES(make(&bolt, OPTIONS(.fields = "a.0"), &error),
                "json bolt: fields: 'a.0': a place in a list needs a name: 'as NAME'");
    RIG_REFUSES(make(&bolt, OPTIONS(.fields = "a as"), &error),
                "json bolt: fields: 'a as': there is no name behind 'as'");
    RIG_REFUSES(make(&bolt, OPTIONS(.fields = "a as b int c"), &error),
                "json bolt: fields: 'a as b int c': is not 'field', 'field as name' or 'field as name type'");
    RIG_REFUSES(make(&bolt, OPTIONS(.fields = "a, b.a"), &error), "json bolt: fields: 'a' goes out already");
    RIG_REFUSES(make(&bolt, OPTIONS(.fields = "a, , b"), &error), "json bolt: fields has an empty name");
    RIG_REFUSES(make(&bolt, OPTIONS(.fields = "a", .document = "a"), &error),
                "json bolt: document: 'a' goes out already");
    RIG_REFUSES(make(&bolt, OPTIONS(.fields = "name", .required = "nam"), &error),
                "json bolt: required: 'nam' is none of the fields; did you mean 'name'?");
    RIG_REFUSES(make(&bolt, OPTIONS(.max_bytes = UINT64_C(1) << 40), &error),
                "json bolt: max_bytes is 1099511627776, at most 1073741824");
    RIG_REFUSES(make(NULL, OPTIONS(.fields = "a"), &error), "json bolt: there is no place for its definition");
}

static int make_simple(gale_bolt *ret_bolt) {
    return make(ret_bolt, OPTIONS(.fields = "a", .document = "all"), NULL);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    rig_survives(make_simple, "line", "{\"a\":[1,{\"b\":[]}]}", 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_become_fields),
        cmocka_unit_test(values_are_what_json_says),
        cmocka_unit_test(types_are_asked_for),
        cmocka_unit_test(whole_numbers_beyond_64_bits_are_as_they_are_asked_for),
        cmocka_unit_test(the_whole_document_can_go_out),
        cmocka_unit_test(what_is_no_json_is_bad_with_its_place),
        cmocka_unit_test(what_goes_out_is_as_deep_as_a_value_may_be),
        cmocka_unit_test(what_is_too_large_or_not_there_is_bad),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
