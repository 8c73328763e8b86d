#include "kit/rig.h"

#include "kit/logfmt.h"

#include <gale/kit.h>
#include <stdio.h>
#include <stdlib.h>

static int make(gale_key_value_options options, gale_bolt *ret_bolt, gale_error *error) {
    options.size = sizeof options;
    return gale_key_value_bolt(&options, ret_bolt, error);
}

static void begin(rig *r, gale_key_value_options options) {
    rig_begin(r, make(options, &r->bolt, NULL), "line");
}

/* --- The splitter --- */

static const gx_logfmt_format usual = { ' ', '=' };

/* The pairs, a key alone without "=", and what is wrong. */
static void expect_pairs(gx_logfmt_format format, const char *text, const char *wanted) {
    gx_buf scratch = GX_BUF_INIT(NULL), out = GX_BUF_INIT(NULL);
    gx_logfmt logfmt = gx_logfmt_begin(format, gx_str(text), &scratch);
    gale_str keys[20], values[20];
    size_t count = 0;
    while (count < 20 && gx_logfmt_next(&logfmt, &keys[count], &values[count])) count++;
    for (size_t i = 0; i < count; i++)
        gx_buf_format(&out, values[i].data ? "[%.*s=%.*s]" : "[%.*s]", GX_STR(keys[i]), GX_STR(values[i]));
    if (logfmt.problem) gx_buf_add_text(&out, logfmt.problem);
    assert_string_equal(gx_buf_text(&out), wanted);
    gx_buf_fini(&scratch);
    gx_buf_fini(&out);
}

static void a_text_is_cut_into_its_pairs(void **state) {
    (void)state;
    expect_pairs(usual, "", "");
    expect_pairs(usual, " \t ", "");
    expect_pairs(usual, "a=1 b=\"two words\" c", "[a=1][b=two words][c]");
    expect_pairs(usual, "  a=1\tb=2\r\n", "[a=1][b=2]");
    expect_pairs(usual, "a= b=\"\" c=", "[a=][b=][c=]");
    expect_pairs(usual, "url=/x?y=1&z=2 at=10:00", "[url=/x?y=1&z=2][at=10:00]");
    expect_pairs((gx_logfmt_format){ '&', '=' }, "a=1&b=x y&&c", "[a=1][b=x y][c]");
    expect_pairs((gx_logfmt_format){ ';', ':' }, "a: 1 ; b:2;c:\"x;y\" ; d", "[a= 1][b=2][c=x;y][d]");
}

static void what_is_escaped_in_quotes_is_what_json_means(void **state) {
    (void)state;
    expect_pairs(usual, "a=\"\\\"x\\\" \\\\ \\/ \\n\\r\\t\\b\\f\"", "[a=\"x\" \\ / \n\r\t\b\f]");
    expect_pairs(usual, "a=\"\\u0041\\u00e4\\u20AC\\ud83d\\ude42\" b=\"x\\ny\"",
                 "[a=A\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82][b=x\ny]");
    expect_pairs(usual, "a=\"\\ud83d\\ude4 \\udE42\\ud83d\\ud83d\"",
                 "[a=\xef\xbf\xbd\\ude4 \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd]");
    expect_pairs(usual, "a=\"C:\\dir \\u12\"", "[a=C:\\dir \\u12]");
    expect_pairs(usual, "a=C:\\new", "[a=C:\\new]");
}

static void a_text_that_is_malformed_says_how(void **state) {
    (void)state;
    expect_pairs(usual, "a=1 =2", "[a=1]there is no key before an assignment");
    expect_pairs(usual, "a=\"1", "a quote is not closed");
    expect_pairs(usual, "a=\"1\\\"", "a quote is not closed");
    expect_pairs(usual, "a=\"1\"b=2", "something follows a closing quote at once");
    expect_pairs(usual, "a=x\"y\"", "there is a quote in a value that does not begin with one");
    expect_pairs(usual, "\"a\"=1", "there is a quote in a key");
}

/* --- The bolt --- */

static void keys_that_are_wanted_become_fields(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_key_value_options){ .fields = "level, ms float, ok bool, n int, any auto" });
    rig_expect(&r, "level=info ms=1.5 ok n=3 any=7 more=x", "[\"info\",1.5,true,3,7]\n");
    rig_expect(&r, "any=x n=-1 ok=false level=\"a \\\"b\\\"\"", "[\"a \\\"b\\\"\",null,false,-1,\"x\"]\n");
    rig_expect(&r, "level= ms= n=\"\"", "[\"\",null,null,null,null]\n");
    rig_expect(&r, "", "[null,null,null,null,null]\n");
    rig_expect(&r, "n=1 n=2", "[null,null,null,2,null]\n");
    rig_tick_is_passed_over(&r);
    rig_end(&r);
}

static void what_cannot_be_read_goes_to_a_stream_of_its_own(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_key_value_options){ .fields = "n int" });
    rig_expect(&r, "n=x", "1:[\"n=x\",\"field 'n': 'x' is no int\"]\n");
    rig_expect(&r, "n", "1:[\"n\",\"field 'n': 'true' is no int\"]\n");
    rig_expect(&r, "n=1 m=\"", "1:[\"n=1 m=\\\"\",\"a quote is not closed\"]\n");
    streams_unheard = 1 << 1;
    rig_expect(&r, "=", "");
    assert_string_equal(fake_text(&r.fake.logged),
                        "no line of these keys and values, there is no key before an assignment: =\n");
    rig_clean(&r);
    assert_string_equal(fake_text(&r.fake.logged),
                        "1 line was no line of these keys and values; who subscribes to the stream 'bad' gets them\n");
    rig_end(&r);
}

static void all_other_keys_become_a_map_where_that_is_asked_for(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_key_value_options){ .fields = "b", .rest = "others" });
    rig_expect(&r, "z=1 b=2 a=\"x\\ny\" c z=3", "[\"2\",{\"z\":\"3\",\"a\":\"x\\ny\",\"c\":\"true\"}]\n");
    rig_expect(&r, "b=1", "[\"1\",{}]\n");
    assert_string_equal(r.bolt.outputs[0].fields, "b, others");
    rig_end(&r);
    begin(&r, (gale_key_value_options){ .rest = "all" });
    rig_expect(&r, "a=1", "[{\"a\":\"1\"}]\n");
    rig_end(&r);
    begin(&r, (gale_key_value_options){ .fields = "" });
    rig_expect(&r, "a=1", "[{\"a\":\"1\"}]\n");
    assert_string_equal(r.bolt.outputs[0].fields, "rest");
    gale_value line = gale_bytes("\xff=1", 3), value = gale_bytes("a=\xff", 3);
    rig_expect_of(&r, &line, 1, "1:[{\"base64\":\"/z0x\"},\"a key is not UTF-8\"]\n");
    rig_expect_of(&r, &value, 1, "[{\"a\":{\"base64\":\"/w==\"}}]\n");
    rig_end(&r);
}

static void so_many_other_keys_are_taken_and_no_more(void **state) {
    (void)state;
    char line[5000], *end = line;
    rig r;
    begin(&r, (gale_key_value_options){ .fields = "n", .rest = "others" });
    for (int i = 0; i < 512; i++) end += sprintf(end, "k%d ", i);
    gale_value value = gale_text(line);
    assert_int_equal(rig_take(&r, &value, 1), GALE_OK);
    assert_non_null(strstr(fake_text(&r.fake.emitted), "\"k511\":\"true\""));
    strcpy(end, "k511=again");
    value = gale_text(line);
    assert_int_equal(rig_take(&r, &value, 1), GALE_OK);
    assert_non_null(strstr(fake_text(&r.fake.emitted), "\"k511\":\"again\""));
    strcpy(end, "another");
    value = gale_text(line);
    assert_int_equal(rig_take(&r, &value, 1), GALE_OK);
    assert_non_null(strstr(fake_text(&r.fake.emitted), "\"it has more than 512 other keys\"]"));
    rig_end(&r);
}

static void separators_are_chosen(void **state) {
    (void)state;
    rig r;
    begin(&r, (gale_key_value_options){ .fields = "a, b", .separator = "&", .assign = ":" });
    rig_expect(&r, "a:x y&b:1=2", "[\"x y\",\"1=2\"]\n");
    rig_end(&r);
}

static int make_any(gale_bolt *ret_bolt) {
    return make((gale_key_value_options){ .fields = "a, b" }, ret_bolt, NULL);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    rig_survives(make_any, "line", "a=\"say \\\"hi\\\"\" b=\"\\n\"", 4);
}

#define REFUSES(message, ...) RIG_REFUSES(make((gale_key_value_options){ __VA_ARGS__ }, &bolt, &error), message)

static void options_that_are_wrong_are_told(void **state) {
    (void)state;
    gale_key_value_options options = { .size = 0 };
    REFUSES("key value bolt: rest: 'a' goes out already", .fields = "a", .rest = "a");
    REFUSES("key value bolt: fields: 'numbr' is no type of 'n numbr' (string, int, float, bool, auto)",
            .fields = "n numbr");
    REFUSES("key value bolt: separator must be one character of ASCII, no quote, backslash or end of a line",
            .fields = "a", .separator = "\"");
    REFUSES("key value bolt: assign must be one character of ASCII, no quote, backslash or end of a line",
            .fields = "a", .assign = "=>");
    REFUSES("key value bolt: assign must be neither a blank nor the separator", .fields = "a", .assign = " ");
    REFUSES("key value bolt: assign must be neither a blank nor the separator", .fields = "a", .separator = "=");
    RIG_REFUSES(gale_key_value_bolt(&options, &bolt, &error),
                "key value bolt: options.size is 0; set it to the size of the structure");
    RIG_REFUSES(gale_key_value_bolt(&options, NULL, &error), "key value bolt: there is no place for its definition");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_cut_into_its_pairs),
        cmocka_unit_test(what_is_escaped_in_quotes_is_what_json_means),
        cmocka_unit_test(a_text_that_is_malformed_says_how),
        cmocka_unit_test(keys_that_are_wanted_become_fields),
        cmocka_unit_test(what_cannot_be_read_goes_to_a_stream_of_its_own),
        cmocka_unit_test(all_other_keys_become_a_map_where_that_is_asked_for),
        cmocka_unit_test(so_many_other_keys_are_taken_and_no_more),
        cmocka_unit_test(separators_are_chosen),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(options_that_are_wrong_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
