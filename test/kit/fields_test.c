#include "kit/fields.h"

#include "harness/fake_collector.h"

#include <stdio.h>

#include "harness/cm.h"

static void names_are_cut_and_trimmed(void **state) {
    (void)state;
    gx_fields fields;
    assert_int_equal(gx_fields_parse(" host ,agent", "test", &fields, NULL), 0);
    assert_int_equal(fields.count, 2);
    assert_memory_equal(fields.text + fields.names[0].at, "host", fields.names[0].size);
    assert_memory_equal(fields.text + fields.names[1].at, "agent", fields.names[1].size);
    assert_string_equal(fields.text, " host ,agent");
}

static void expect_error(const char *text, const char *message) {
    gx_fields fields = { .count = 77 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_fields_parse(text, "test", &fields, &error), GALE_INVALID);
    assert_string_equal(error.text, message);
    assert_int_equal(fields.count, 77);
}

static void lists_that_are_none_are_refused(void **state) {
    (void)state;
    expect_error(NULL, "test names no field");
    expect_error("", "test names no field");
    expect_error(" ", "test has an empty name: ' '");
    expect_error("a,,b", "test has an empty name: 'a,,b'");
    expect_error("a,b,", "test has an empty name: 'a,b,'");
    expect_error("a, b, a", "test names 'a' twice");
    char text[2000];
    memset(text, 'a', sizeof text);
    text[GX_FIELDS_TEXT] = 0;
    expect_error(text, "test has 1024 bytes, at most 1023");
    char *end = text;
    for (int i = 0; i < GX_FIELDS_MAX; i++) end += sprintf(end, "%sf%d", i ? "," : "", i);
    gx_fields fields;
    assert_int_equal(gx_fields_parse(text, "test", &fields, NULL), 0);
    assert_int_equal(fields.count, GX_FIELDS_MAX);
    strcpy(end, ",one");
    expect_error(text, "test names more than 32 fields");
}

static void values_are_found_in_each_stream_by_name(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    gx_fields fields;
    gx_field_places places = { .of = NULL };
    assert_int_equal(gx_fields_parse("c, a", "test", &fields, NULL), 0);
    gale_value values[3] = { gale_i64(1), gale_i64(2), gale_i64(3) }, taken[2];
    static const char *const streams[] = { "a, b, c", "c, b, a", "b, a, c" };
    static const int64_t wanted[][2] = { { 3, 1 }, { 1, 3 }, { 3, 2 } };
    for (int i = 0; i < 9; i++) {
        fake_source(&fake, "source", streams[i % 3]);
        const gale_tuple *tuple = fake_tuple(&fake, values, 3);
        assert_int_equal(gx_fields_take(&fields, &places, "test", tuple, &fake.collector, taken), 0);
        assert_int_equal(taken[0].as.i64, wanted[i % 3][0]);
        assert_int_equal(taken[1].as.i64, wanted[i % 3][1]);
    }
    fake_fini(&fake);
}

static void a_field_that_is_not_there_is_told_with_the_nearest(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    gx_fields fields;
    gx_field_places places = { .of = NULL };
    gale_value value = gale_i64(1), taken[1];
    assert_int_equal(gx_fields_parse("agnet", "test", &fields, NULL), 0);
    fake_source(&fake, "source", "agent");
    assert_int_equal(gx_fields_take(&fields, &places, "test", fake_tuple(&fake, &value, 1), &fake.collector, taken),
                     GALE_FIELDS);
    assert_string_equal(fake_text(&fake.reports), "test: component 'source', stream 'default', has no field 'agnet'; "
                                                  "did you mean 'agent'?\n");
    fake_fini(&fake);
}

/* What is packed tells values apart wherever one ends. */
static void different_values_pack_differently(void **state) {
    (void)state;
    gx_buf a = GX_BUF_INIT(NULL), b = GX_BUF_INIT(NULL);
    gale_value one[2] = { gale_text("ab"), gale_text("c") }, other[2] = { gale_text("a"), gale_text("bc") };
    assert_int_equal(gx_fields_pack(one, 2, &a), 0);
    assert_int_equal(gx_fields_pack(other, 2, &b), 0);
    assert_true(a.size != b.size || memcmp(a.data, b.data, a.size) != 0);
    gx_buf_reset(&b);
    assert_int_equal(gx_fields_pack(one, 2, &b), 0);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    gx_buf_fini(&a);
    gx_buf_fini(&b);
}

/* What is found the short way is what is found the long way; and what is no text, a tick above all, is left to that. */
static void the_first_value_is_a_key_at_once_when_it_is_text(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    gx_fields first = { .count = 0 }, named;
    gx_field_places places = { .of = NULL };
    gx_buf scratch = GX_BUF_INIT(NULL);
    gale_str at_once, key;
    assert_int_equal(gx_fields_parse("b", "test", &named, NULL), 0);
    const gale_value texts[] = { gale_text(""), gale_text("word"), gale_string("a\0b", 3),
                                 gale_text("a longer word than most") };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t count = 1; count <= 3; count++) {
            const gale_value values[] = { texts[i], gale_i64(5), gale_text("behind") };
            const gale_tuple *tuple = fake_tuple(&fake, values, count);
            assert_true(gx_fields_text_key(&first, tuple, &at_once));
            assert_int_equal(gx_fields_key(&first, &places, "test", tuple, &fake.collector, &scratch, &key), 0);
            assert_true(gx_str_equal(at_once, key));
            gale_value back = gx_key_value(at_once);
            assert_true(gale_value_equal(&back, &texts[i]));
            assert_false(gx_fields_text_key(&named, tuple, &at_once));
        }
    const gale_value others[] = { gale_null(), gale_i64(4), gale_bytes("word", 4), gale_list(NULL, 0) };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(gx_fields_text_key(&first, fake_tuple(&fake, &others[i], 1), &at_once));
    assert_false(gx_fields_text_key(&first, fake_tuple(&fake, NULL, 0), &at_once));
    assert_false(gx_fields_text_key(&first, fake_tick(&fake, 1), &at_once));
    gx_buf_fini(&scratch);
    fake_fini(&fake);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_cut_and_trimmed),
        cmocka_unit_test(lists_that_are_none_are_refused),
        cmocka_unit_test(values_are_found_in_each_stream_by_name),
        cmocka_unit_test(a_field_that_is_not_there_is_told_with_the_nearest),
        cmocka_unit_test(different_values_pack_differently),
        cmocka_unit_test(the_first_value_is_a_key_at_once_when_it_is_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
