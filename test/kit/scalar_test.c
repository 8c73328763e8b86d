#include "kit/scalar.h"

#include "harness/cm.h"

static gale_value read_as(const char *text, int32_t type) {
    gale_value value = gale_text("untouched");
    if (!gx_scalar_read(gx_str(text), true, type, &value)) fail_msg("'%s' is no %s", text, gx_scalar_name(type));
    return value;
}

static void expect(const char *text, int32_t type, gale_value wanted) {
    gale_value value = read_as(text, type);
    if (!gale_value_equal(&value, &wanted)) fail_msg("'%s' as %s is something else", text, gx_scalar_name(type));
}

static void refuse(const char *text, int32_t type) {
    gale_value value = gale_null();
    if (gx_scalar_read(gx_str(text), true, type, &value)) fail_msg("'%s' is taken for %s", text, gx_scalar_name(type));
}

static void a_text_is_what_its_type_says_or_refused(void **state) {
    (void)state;
    expect("12", GX_SCALAR_STRING, gale_text("12"));
    expect("-12", GX_SCALAR_INT, gale_i64(-12));
    expect("+012", GX_SCALAR_INT, gale_i64(12));
    expect("12", GX_SCALAR_FLOAT, gale_f64(12));
    expect("-1.5e2", GX_SCALAR_FLOAT, gale_f64(-150));
    expect("true", GX_SCALAR_BOOL, gale_bool(true));
    expect("FALSE", GX_SCALAR_BOOL, gale_bool(false));
    refuse("12.0", GX_SCALAR_INT);
    refuse(" 12", GX_SCALAR_INT);
    refuse("9223372036854775808", GX_SCALAR_INT);
    refuse("1,5", GX_SCALAR_FLOAT);
    refuse("NaN", GX_SCALAR_FLOAT);
    refuse("1e999", GX_SCALAR_FLOAT);
    refuse("yes", GX_SCALAR_BOOL);
    refuse("1", GX_SCALAR_BOOL);
}

static void auto_takes_for_a_number_only_what_a_number_holds(void **state) {
    (void)state;
    expect("0", GX_SCALAR_AUTO, gale_i64(0));
    expect("-7", GX_SCALAR_AUTO, gale_i64(-7));
    expect("0.5", GX_SCALAR_AUTO, gale_f64(0.5));
    expect("-.5", GX_SCALAR_AUTO, gale_f64(-0.5));
    expect("1e3", GX_SCALAR_AUTO, gale_f64(1000));
    expect("True", GX_SCALAR_AUTO, gale_bool(true));
    static const char *const texts[] = { "0049",  "-007", "+49",      "00.5", "9223372036854775808",
                                         "1e999", "-",    ".",        "12ms", "1.2.3",
                                         "tRUE",  "nan",  "10.0.0.1", "-x" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) expect(texts[i], GX_SCALAR_AUTO, gale_text(texts[i]));
}

static void no_text_is_null_but_for_a_string(void **state) {
    (void)state;
    expect("", GX_SCALAR_STRING, gale_text(""));
    for (int32_t type = GX_SCALAR_INT; type < GX_SCALAR_COUNT; type++) expect("", type, gale_null());
}

static void a_text_that_is_no_utf8_is_bytes(void **state) {
    (void)state;
    gale_value value = gale_null();
    assert_true(gx_scalar_read(gx_str("\xff"), false, GX_SCALAR_STRING, &value));
    assert_int_equal(value.type, GALE_TYPE_BYTES);
    assert_true(gx_scalar_read(gx_str("\xff"), false, GX_SCALAR_AUTO, &value));
    assert_int_equal(value.type, GALE_TYPE_BYTES);
    assert_true(gx_scalar_read(gx_str("\xc3\xa4"), false, GX_SCALAR_STRING, &value));
    assert_int_equal(value.type, GALE_TYPE_STRING);
}

static void types_have_names(void **state) {
    (void)state;
    for (int32_t type = 0; type < GX_SCALAR_COUNT; type++)
        assert_int_equal(gx_scalar_type_of(gx_str(gx_scalar_name(type))), type);
    assert_int_equal(gx_scalar_type_of(gx_str("integer")), GX_SCALAR_COUNT);
    assert_int_equal(gx_scalar_type_of(gx_str("")), GX_SCALAR_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_what_its_type_says_or_refused),
        cmocka_unit_test(auto_takes_for_a_number_only_what_a_number_holds),
        cmocka_unit_test(no_text_is_null_but_for_a_string),
        cmocka_unit_test(a_text_that_is_no_utf8_is_bytes),
        cmocka_unit_test(types_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
