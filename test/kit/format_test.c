#include "kit/rig.h"

#include <gale/kit.h>
#include <math.h>

static int make(gale_format_options options, gale_bolt *ret_bolt, gale_error *error) {
    options.size = sizeof options;
    return gale_format_bolt(&options, ret_bolt, error);
}

static void expect(gale_format_options options, const gale_value values[3], const char *emitted) {
    rig r;
    if (!options.fields) options.fields = "a, b, c";
    rig_begin(&r, make(options, &r.bolt, NULL), "a, b, c");
    rig_expect_of(&r, values, 3, emitted);
    rig_end(&r);
}

static void a_template_has_values_in_place_of_names(void **state) {
    (void)state;
    const gale_value list[] = { gale_i64(1), gale_text("x\"") };
    const gale_value values[] = { gale_text("/p"), gale_i64(-7), gale_f64(0.5) };
    const gale_value others[] = { gale_null(), gale_bool(true), gale_list(list, 2) };
    expect((gale_format_options){ .template_ = "{a} had {b}, {c}!" }, values, "[\"/p had -7, 0.5!\"]\n");
    expect((gale_format_options){ .template_ = "{ a }{a}" }, values, "[\"/p/p\"]\n");
    expect((gale_format_options){ .template_ = "<{a}|{b}|{c}>" }, others, "[\"<|true|[1,\\\"x\\\\\\\"\\\"]>\"]\n");
    expect((gale_format_options){ .template_ = "{{a}} {{{b}}}" }, values, "[\"{a} {-7}\"]\n");
    expect((gale_format_options){ .template_ = "no field" }, values, "[\"no field\"]\n");
    expect((gale_format_options){ .template_ = "" }, values, "[\"\"]\n");
}

static void json_and_csv_have_the_fields_that_are_named(void **state) {
    (void)state;
    const gale_value values[] = { gale_text("a,\"b\""), gale_null(), gale_f64((double)NAN) };
    expect((gale_format_options){ .form = GALE_FORMAT_JSON }, values,
           "[\"{\\\"a\\\":\\\"a,\\\\\\\"b\\\\\\\"\\\",\\\"b\\\":null,\\\"c\\\":null}\"]\n");
    expect((gale_format_options){ .form = GALE_FORMAT_JSON, .fields = "b" }, values, "[\"{\\\"b\\\":null}\"]\n");
    expect((gale_format_options){ .form = GALE_FORMAT_CSV, .fields = "b, a" }, values,
           "[\",\\\"a,\\\"\\\"b\\\"\\\"\\\"\"]\n");
}

static void the_text_goes_out_behind_what_is_kept(void **state) {
    (void)state;
    const gale_value values[] = { gale_text("x"), gale_i64(1), gale_i64(2) };
    rig r;
    gale_format_options options = { .fields = "a", .template_ = "{a}", .keep = "c, b", .as = "text" };
    rig_begin(&r, make(options, &r.bolt, NULL), "a, b, c");
    rig_expect_of(&r, values, 3, "[2,1,\"x\"]\n");
    assert_string_equal(r.bolt.outputs[0].fields, "c, b, text");
    rig_tick_is_passed_over(&r);
    fake_source(&r.fake, "others", "c, a");
    assert_int_equal(rig_take(&r, values, 2), GALE_FIELDS);
    fake_source(&r.fake, "others", "b, c");
    assert_int_equal(rig_take(&r, values, 2), GALE_FIELDS);
    rig_end(&r);
}

static void a_text_that_is_no_utf8_goes_out_as_bytes(void **state) {
    (void)state;
    const gale_value values[] = { gale_bytes("\xff", 1), gale_bytes("b", 1), gale_null() };
    expect((gale_format_options){ .template_ = "{a}" }, values, "[{\"base64\":\"/w==\"}]\n");
    expect((gale_format_options){ .template_ = "{b}" }, values, "[\"b\"]\n");
    expect((gale_format_options){ .form = GALE_FORMAT_JSON, .fields = "a" }, values,
           "[\"{\\\"a\\\":{\\\"base64\\\":\\\"/w==\\\"}}\"]\n");
}

static void what_cannot_be_emitted_fails(void **state) {
    (void)state;
    const gale_value value = gale_text("x");
    rig r;
    gale_format_options options = { .fields = "a", .template_ = "{a}" };
    rig_begin(&r, make(options, &r.bolt, NULL), "a");
    r.fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(rig_take(&r, &value, 1), GALE_NO_MEMORY);
    rig_end(&r);
}

static int make_any(gale_bolt *ret_bolt) {
    return make((gale_format_options){ .fields = "line", .form = GALE_FORMAT_JSON }, ret_bolt, NULL);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    rig_survives(make_any, "line", "a text that is long enough for a second piece of memory, or a third one", 5);
}

#define REFUSES(message, ...) RIG_REFUSES(make((gale_format_options){ __VA_ARGS__ }, &bolt, &error), message)

static void options_that_are_wrong_are_told(void **state) {
    (void)state;
    gale_format_options options = { .size = 0 };
    char lengthy[4097] = { 0 }, pieces[1000] = "";
    memset(lengthy, 'x', 4096);
    for (int i = 0; i < 65; i++) strcat(pieces, "x{a}");
    REFUSES("format bolt: fields names no field", .template_ = "x");
    REFUSES("format bolt: template is not given, which says what the text is", .fields = "a");
    REFUSES("format bolt: template is given, which JSON and CSV do not have", .fields = "a", .form = GALE_FORMAT_CSV,
            .template_ = "x");
    REFUSES("format bolt: form is 3, which is neither text (0), json (1) nor csv (2)", .fields = "a", .form = 3);
    REFUSES("format bolt: template: there is no field 'erors'; did you mean 'errors'?", .fields = "path, errors",
            .template_ = "{erors}");
    REFUSES("format bolt: template: there is no field ''", .fields = "a", .template_ = "{}");
    REFUSES("format bolt: template: '{' at byte 3 has no counterpart; a field is {name}, a brace {{", .fields = "a",
            .template_ = "x {a");
    REFUSES("format bolt: template: '{' at byte 1 has no counterpart; a field is {name}, a brace {{", .fields = "a",
            .template_ = "{a{b}");
    REFUSES("format bolt: template: '}' at byte 4 has no counterpart; a field is {name}, a brace }}", .fields = "a",
            .template_ = "{a}}");
    REFUSES("format bolt: template: '{' at byte 1 has no counterpart; a field is {name}, a brace {{", .fields = "a",
            .template_ = "{");
    REFUSES("format bolt: template has 4096 bytes, at most 4095", .fields = "a", .template_ = lengthy);
    REFUSES("format bolt: template has more than 128 pieces", .fields = "a", .template_ = pieces);
    REFUSES("format bolt: as: 'line' goes out already", .fields = "a", .template_ = "x", .keep = "line");
    REFUSES("format bolt: as names 2 fields, must name one: 'a,b'", .fields = "a", .template_ = "x", .as = "a,b");
    RIG_REFUSES(gale_format_bolt(&options, &bolt, &error),
                "format bolt: options.size is 0; set it to the size of the structure");
    RIG_REFUSES(gale_format_bolt(&options, NULL, &error), "format bolt: there is no place for its definition");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_template_has_values_in_place_of_names),
        cmocka_unit_test(json_and_csv_have_the_fields_that_are_named),
        cmocka_unit_test(the_text_goes_out_behind_what_is_kept),
        cmocka_unit_test(a_text_that_is_no_utf8_goes_out_as_bytes),
        cmocka_unit_test(what_cannot_be_emitted_fails),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(options_that_are_wrong_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
