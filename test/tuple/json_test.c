#include "tuple/json.h"

#include "harness/cm.h"
#include "tuple/body.h"
#include "tuple/row.h"
#include "tuple/schema.h"

#include <math.h>

static void writes(gale_value value, const char *expected) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&out);
    gx_json_value(&json, &value);
    assert_string_equal(gx_buf_text(&out), expected);
    gx_buf_fini(&out);
}

static void every_type_has_its_json(void **state) {
    (void)state;
    gale_value list[] = { gale_null(), gale_bool(true), gale_i64(-12) };
    gale_value map[] = { gale_text("z"), gale_list(list, 3), gale_text("a"), gale_f64(0.5) };
    writes(gale_null(), "null");
    writes(gale_bool(false), "false");
    writes(gale_i64(INT64_MIN), "-9223372036854775808");
    writes(gale_text("a \"b\""), "\"a \\\"b\\\"\"");
    writes(gale_bytes("abc", 3), "{\"base64\":\"YWJj\"}");
    writes(gale_f64(NAN), "null");
    writes(gale_f64(-INFINITY), "null");
    writes(gale_list(NULL, 0), "[]");
    writes(gale_map(NULL, 0), "{}");
    writes(gale_map(map, 2), "{\"z\":[null,true,-12],\"a\":0.5}");
}

static void a_list_that_holds_itself_ends(void **state) {
    (void)state;
    gale_value loop[1] = { gale_null() };
    loop[0] = gale_list(loop, 1);
    gx_buf out = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&out);
    gx_json_value(&json, &loop[0]);
    assert_true(out.size < 200);
    gx_buf_fini(&out);
}

/* One task of "count" with a stream of two fields. */
static const char *const fields[] = { "word", "count" };
static const gx_schema_stream streams[] = { { "default", fields, 2 } };
static const gx_schema_component component = { "count", streams, 1 };

static void a_tuple_is_read_and_written_by_its_fields(void **state) {
    (void)state;
    const gx_schema_component *components[] = { gx_schema_system(), &component };
    gale_schema schema = { components, 1 };
    gale_value values[] = { gale_text("nathan"), gale_i64(3), gale_bool(true) }, value;
    _Alignas(8) uint8_t body[128];
    assert_true(gx_body_measure(values, 3) <= (int64_t)sizeof body);
    gx_body_encode(values, 3, body);
    gale_head head = { .stream = 0 };
    gale_tuple tuple = { (const gale_body *)(void *)body, &head, &schema, 0, 1, 0 };
    assert_string_equal(gale_tuple_component(&tuple), "count");
    assert_string_equal(gale_tuple_stream(&tuple), "default");
    assert_int_equal(gale_tuple_task(&tuple), 1);
    assert_string_equal(gale_tuple_field(&tuple, 1), "count");
    assert_null(gale_tuple_field(&tuple, 2));
    assert_true(gale_tuple_get(&tuple, "count", &value));
    assert_int_equal(value.as.i64, 3);
    assert_false(gale_tuple_get(&tuple, "wrod", &value));
    assert_int_equal(value.as.i64, 3);
    assert_false(gale_tuple_is_tick(&tuple));
    gx_buf out = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&out);
    gx_json_tuple_values(&json, &tuple);
    assert_string_equal(gx_buf_text(&out), "{\"word\":\"nathan\",\"count\":3,\"2\":true}");
    gx_buf_fini(&out);
}

static void a_tick_comes_from_the_system(void **state) {
    (void)state;
    const gx_schema_component *components[] = { gx_schema_system(), &component };
    gale_schema schema = { components, 1 };
    gale_value period = gale_i64(2), value;
    _Alignas(8) uint8_t body[16];
    gx_body_encode(&period, 1, body);
    gale_head head = { .stream = GX_STREAM_TICK };
    gale_tuple tuple = { (const gale_body *)(void *)body, &head, &schema, 0, 0, 0 };
    assert_true(gale_tuple_is_tick(&tuple));
    assert_string_equal(gale_tuple_component(&tuple), "__system");
    assert_string_equal(gale_tuple_stream(&tuple), "__tick");
    assert_true(gale_tuple_get(&tuple, "rate_secs", &value));
    assert_int_equal(value.as.i64, 2);
}

static void a_tuple_of_an_unknown_sender_has_no_names(void **state) {
    (void)state;
    gale_value value = gale_i64(2), got;
    _Alignas(8) uint8_t body[16];
    gx_body_encode(&value, 1, body);
    gale_head head = { .stream = 4 };
    gale_tuple tuple = { (const gale_body *)(void *)body, &head, NULL, 0, 9, 0 };
    assert_string_equal(gale_tuple_component(&tuple), "");
    assert_string_equal(gale_tuple_stream(&tuple), "");
    assert_false(gale_tuple_get(&tuple, "word", &got));
    assert_null(gale_tuple_field(&tuple, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_json),
        cmocka_unit_test(a_list_that_holds_itself_ends),
        cmocka_unit_test(a_tuple_is_read_and_written_by_its_fields),
        cmocka_unit_test(a_tick_comes_from_the_system),
        cmocka_unit_test(a_tuple_of_an_unknown_sender_has_no_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
