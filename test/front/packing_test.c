#include "front/packing.h"

#include "kit/rig.h"

#include <gale/json.h>
#include <math.h>
#include <stdlib.h>

static const char fields[] = "a, b, c";

static void begin_pack(rig *r, const char *key) {
    rig_begin(r, gx_packing_bolt(fields, key, &r->bolt, NULL), fields);
}

static void begin_unpack(rig *r, const char *names) {
    rig_begin(r, gx_unpacking_bolt(names, NULL, &r->bolt, NULL), "value, key");
}

/* --- In ------------------------------------------------------------------------------------------------------------- */

static void a_message_has_all_fields_and_its_key_is_that_of_the_grouping(void **state) {
    (void)state;
    rig r;
    const gale_value values[] = { gale_text("x"), gale_i64(7), gale_null() };
    begin_pack(&r, "a");
    rig_expect_of(&r, values, 3, "[\"x\",\"{\\\"a\\\":\\\"x\\\",\\\"b\\\":7,\\\"c\\\":null}\"]\n");
    rig_tick_is_passed_over(&r);
    rig_end(&r);
}

static void expect_key(const char *key, const gale_value *values, const char *begins) {
    rig r;
    begin_pack(&r, key);
    assert_int_equal(rig_take(&r, values, 3), GALE_OK);
    assert_memory_equal(fake_text(&r.fake.emitted), begins, strlen(begins));
    rig_end(&r);
}

static void a_key_is_a_text_of_one_field_and_a_list_of_several(void **state) {
    (void)state;
    const gale_value values[] = { gale_i64(-7), gale_null(), gale_f64(0.5) };
    const gale_value others[] = { gale_text(""), gale_bool(true), gale_bytes("\xff", 1) };
    expect_key("a", values, "[\"-7\",");
    expect_key("b", values, "[\"\",");
    expect_key("c", values, "[\"0.5\",");
    expect_key("a", others, "[\"\",");
    expect_key("b", others, "[\"true\",");
    expect_key("c", others, "[{\"base64\":\"/w==\"},");
    expect_key("c, a, b", values, "[\"[0.5,-7,null]\",");
}

/* --- In and out again ------------------------------------------------------------------------------------------------ */

/* What packing makes of three values, as a text that is the caller's. */
static char *packed(const gale_value *values) {
    rig r;
    begin_pack(&r, "a");
    assert_int_equal(rig_take(&r, values, 3), GALE_OK);
    gale_json_item item = GALE_JSON_FIRST(gx_str(fake_text(&r.fake.emitted)));
    assert_true(gale_json_next(&item) && gale_json_next(&item));
    char *text = malloc(item.value.size);
    assert_true(gale_json_text(item.value, text, item.value.size) >= 0);
    rig_end(&r);
    return text;
}

static void stays_as_it_was(gale_value value) {
    const gale_value values[] = { value, value, gale_text("end") };
    char *text = packed(values), *again;
    rig r;
    begin_unpack(&r, fields);
    const gale_value message[] = { gale_text(text), gale_null() };
    assert_int_equal(rig_take(&r, message, 2), GALE_OK);
    assert_int_equal(r.fake.emissions, 1);
    char *emitted = strdup(fake_text(&r.fake.emitted));
    rig_end(&r);

    rig plain; /* what the values look like that went in */
    begin_pack(&plain, "a");
    assert_int_equal(plain.fake.collector.ops->emit(&plain.fake.collector, 0, values, 3), 1);
    again = strdup(fake_text(&plain.fake.emitted));
    rig_end(&plain);
    assert_string_equal(emitted, again);
    free(text);
    free(emitted);
    free(again);
}

static void every_value_stays_as_it_was(void **state) {
    (void)state;
    const gale_value two[] = { gale_i64(1), gale_f64(1) };
    const gale_value pair[] = { gale_text("base64"), gale_text("AAE=") }; /* a map that looks like bytes */
    stays_as_it_was(gale_null());
    stays_as_it_was(gale_bool(false));
    stays_as_it_was(gale_i64(INT64_MIN));
    stays_as_it_was(gale_i64(9007199254740993));
    stays_as_it_was(gale_f64(1));
    stays_as_it_was(gale_f64(-0.1));
    stays_as_it_was(gale_f64(INFINITY));
    stays_as_it_was(gale_text("\"quoted\" \xc3\xa4 \n"));
    stays_as_it_was(gale_string("nul\0inside", 10));
    stays_as_it_was(gale_bytes("\x00\xff", 2));
    stays_as_it_was(gale_list(two, 2));
    stays_as_it_was(gale_map(pair, 1));
}

static void fields_may_be_called_as_exact_json_calls_values(void **state) {
    (void)state;
    rig r;
    const gale_value values[] = { gale_i64(1) };
    rig_begin(&r, gx_packing_bolt("map", "map", &r.bolt, NULL), "map");
    rig_expect_of(&r, values, 1, "[\"1\",\"{\\\"map\\\":1}\"]\n");
    rig_end(&r);
    begin_unpack(&r, "map");
    rig_expect(&r, "{\"map\":1}", "[1]\n");
    rig_end(&r);
}

/* --- What is none ---------------------------------------------------------------------------------------------------- */

static void rejects(rig *r, gale_value value, const char *words) {
    assert_int_equal(rig_take(r, &value, 1), GALE_OK);
    assert_int_equal(r->fake.emissions, 0);
    assert_string_equal(r->fake.fail_text, words);
}

static void what_is_no_message_of_these_fields_is_rejected_in_words(void **state) {
    (void)state;
    rig r;
    begin_unpack(&r, "a, b");
    rejects(&r, gale_null(), "the message has no value");
    rejects(&r, gale_i64(7), "the message has no value");
    rejects(&r, gale_text(""), "the message is no object of JSON");
    rejects(&r, gale_text("[1, 2]"), "the message is no object of JSON");
    rejects(&r, gale_text("{\"a\": 1} more"), "the message is no object of JSON");
    rejects(&r, gale_bytes("\xff\xfe", 2), "the message is no object of JSON");
    rejects(&r, gale_text("{\"a\": 1}"), "the message lacks the field b");
    rejects(&r, gale_text("{\"a\": 1, \"b\": {\"base64\": \"?\"}}"), "the message has no value for the field b");
    rejects(&r, gale_text("{\"a\": 1, \"a\": 2, \"b\": 3}"), "the message is no object of JSON");
    rig_expect(&r, "{\"b\": 2, \"more\": [], \"a\": 1}", "[1,2]\n");
    rig_tick_is_passed_over(&r);
    rig_end(&r);
}

static void a_message_may_be_another_field(void **state) {
    (void)state;
    rig r;
    const gale_value values[] = { gale_text("x"), gale_text("{\"a\": 1}") };
    rig_begin(&r, gx_unpacking_bolt("a", "second", &r.bolt, NULL), "first, second");
    rig_expect_of(&r, values, 2, "[1]\n");
    rig_end(&r);
}

static void names_that_are_none_are_refused(void **state) {
    (void)state;
    RIG_REFUSES(gx_packing_bolt("a", "a, a", &bolt, &error), "pack bolt: key names 'a' twice");
    RIG_REFUSES(gx_packing_bolt("", "a", &bolt, &error), "pack bolt: fields names no field");
    RIG_REFUSES(gx_unpacking_bolt("a, a", NULL, &bolt, &error), "unpack bolt: fields names 'a' twice");
}

static int make_pack(gale_bolt *ret_bolt) {
    return gx_packing_bolt("line", "line", ret_bolt, NULL);
}

static void memory_that_runs_out_is_survived(void **state) {
    (void)state;
    rig_survives(make_pack, "line", "text", 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_has_all_fields_and_its_key_is_that_of_the_grouping),
        cmocka_unit_test(a_key_is_a_text_of_one_field_and_a_list_of_several),
        cmocka_unit_test(every_value_stays_as_it_was),
        cmocka_unit_test(fields_may_be_called_as_exact_json_calls_values),
        cmocka_unit_test(what_is_no_message_of_these_fields_is_rejected_in_words),
        cmocka_unit_test(a_message_may_be_another_field),
        cmocka_unit_test(names_that_are_none_are_refused),
        cmocka_unit_test(memory_that_runs_out_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
