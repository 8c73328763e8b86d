#include "connect/file/template.h"

#include "base/buf.h"
#include "harness/counting_allocator.h"

#include <stdio.h>

#include "harness/cm.h"

static gx_template parse(const char *text) {
    gx_template made;
    gale_error error = GALE_ERROR_INIT;
    if (gx_template_parse(gx_str(text), "path", &made, &error) < 0) fail_msg("%s", error.text);
    return made;
}

/* Where a tuple goes whose fields all have this value. */
static void expect_path(const char *text, gale_value value, const char *expected) {
    gx_template made = parse(text);
    gale_value values[GX_FIELDS_MAX];
    gx_buf path = GX_BUF_INIT(NULL);
    uint32_t wrong;
    for (int i = 0; i < GX_FIELDS_MAX; i++) values[i] = value;
    assert_int_equal(gx_template_write(&made, values, 1795478401 * GALE_SECOND + 250000000, 3, &path, &wrong), 0);
    assert_string_equal(gx_buf_text(&path), expected);
    gx_buf_fini(&path);
}

static void refused(const char *text, const char *message) {
    gx_template made = { .count = 77 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_template_parse(gx_str(text), "path", &made, &error), GALE_INVALID);
    assert_string_equal(error.text, message);
    assert_int_equal(made.count, 77);
}

static void a_path_without_braces_is_itself(void **state) {
    (void)state;
    gx_template made = parse("a/b.txt");
    assert_false(made.varies);
    assert_int_equal(made.count, 1);
    assert_int_equal(made.fields.count, 0);
    expect_path("a/b.txt", gale_null(), "a/b.txt");
    expect_path("-", gale_null(), "-");
    expect_path("{{a}}{{{{", gale_null(), "{a}{{");
}

static void values_times_and_the_task_stand_where_they_are_named(void **state) {
    (void)state;
    gx_template made = parse("out/{host}/{time:%Y}-{host}{task}.log");
    assert_true(made.varies && made.has_task && !made.has_now);
    assert_int_equal(made.fields.count, 2); /* each once */
    assert_true(gx_str_is(gx_fields_name(&made.fields, 0), "host"));
    assert_true(gx_str_is(gx_fields_name(&made.fields, 1), "time"));
    expect_path("out/{host}.{ task }", gale_text("a"), "out/a.3");
    expect_path("{t:%Y/%m/%d %H:%M:%S}", gale_i64(0), "1970/01/01 00:00:00");
    expect_path("{t:%FT%T.%L}", gale_f64(-0.25), "1969-12-31T23:59:59.750");
    expect_path("{now:%F}", gale_null(), "2026-11-24");
    expect_path("{now:%S.%L}", gale_null(), "01.250");
    gx_template task = parse("out.{task}");
    assert_false(task.varies);
}

static void every_value_is_harmless(void **state) {
    (void)state;
    static const char *const values[][2] = {
        { "", "%empty" },
        { ".", "%2E" },
        { "..", "%2E." },
        { "../../etc/x", "%2E.%2F..%2Fetc%2Fx" },
        { "/", "%2F" },
        { "a.b", "a.b" },
        { "a\nb\x7f", "a%0Ab%7F" },
        { "%empty", "%25empty" },
        { "%2F", "%252F" },
        { "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        expect_path("{v}", gale_text(values[i][0]), values[i][1]);
    expect_path("{v}", gale_bytes("\0\xff", 2), "%00\xff");
    expect_path("{v}", gale_null(), "%null");
    expect_path("{v}", gale_i64(-5), "-5");
    expect_path("{v}", gale_bool(true), "true");
    gale_value items[] = { gale_i64(1), gale_text("/") };
    expect_path("{v}", gale_list(items, 2), "[1,\"%2F\"]");
}

static const char *write_value(const gx_template *made, gx_buf *path, gale_value value) {
    gale_value values[GX_FIELDS_MAX];
    uint32_t wrong;
    for (int i = 0; i < GX_FIELDS_MAX; i++) values[i] = value;
    gx_buf_reset(path);
    assert_int_equal(gx_template_write(made, values, 0, 0, path, &wrong), 0);
    return gx_buf_text(path);
}

static void long_values_are_cut_and_still_differ(void **state) {
    (void)state;
    char text[301], first[200];
    gx_buf path = GX_BUF_INIT(NULL);
    gx_template made = parse("{v}");
    memset(text, 'x', 300);
    text[300] = 0;
    text[100] = 0;
    assert_string_equal(write_value(&made, &path, gale_text(text)), text); /* it just fits */
    text[100] = 'x';
    snprintf(first, sizeof first, "%s", write_value(&made, &path, gale_text(text)));
    assert_int_equal(strlen(first), 100);
    assert_memory_equal(first + 82, "%~", 2);
    text[299] = 'y';
    assert_string_not_equal(write_value(&made, &path, gale_text(text)), first);
    for (int i = 0; i < 300; i += 3) memcpy(text + i, "\xe2\x82\xac", 3); /* whole characters stay: 27 of three bytes */
    assert_int_equal(strlen(write_value(&made, &path, gale_text(text))), 81 + 18);
    memset(text, '/', 300);
    assert_int_equal(strlen(write_value(&made, &path, gale_text(text))), 81 + 18);
    made = parse("{a}-{b}-{c}-{d}"); /* four share a name of 223 bytes */
    memset(text, 'x', 300);
    assert_int_equal(strlen(write_value(&made, &path, gale_text(text))), 4 * 55 + 3);
    gx_buf_fini(&path);
}

static void a_time_is_a_number_of_seconds_in_the_years_0_to_9999(void **state) {
    (void)state;
    gx_template made = parse("{a}{t:%F}");
    gx_buf path = GX_BUF_INIT(NULL);
    const gale_value values[] = { gale_text("0"),         gale_null(),     gale_i64(INT64_MAX), gale_i64(-62167219201),
                                  gale_i64(253402300800), gale_f64(1e300), gale_f64(-1e300),    gale_f64(0.0 / 0.0) };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const gale_value both[] = { gale_text("x"), values[i] };
        uint32_t wrong = 77;
        assert_int_equal(gx_template_write(&made, both, 0, 0, &path, &wrong), GALE_TYPE);
        assert_int_equal(wrong, 1);
    }
    gx_buf_fini(&path);
    expect_path("{t:%F}", gale_i64(-62167219200), "0000-01-01");
    expect_path("{t:%F}", gale_f64(253402300799), "9999-12-31");
}

static void what_is_no_path_is_refused_with_its_place(void **state) {
    (void)state;
    char text[GX_FILE_PATH_MAX + 10];
    refused("", "path: it names no file");
    refused("a/{host", "path: '{' at byte 3 has no '}'; '{{' is a brace");
    refused("a/{ho{st}", "path: '{' at byte 3 has no '}'; '{{' is a brace");
    refused("a}b", "path: '}' at byte 2 has no '{'; '}}' is a brace");
    refused("a{}", "path: '{}' at byte 2: it names no field");
    refused("{ :%F}", "path: '{ :%F}' at byte 1: it names no field");
    refused("{now}", "path: '{now}' at byte 1: a format is missing, as in {now:%Y-%m-%d}");
    refused("{task:%F}", "path: '{task:%F}' at byte 1: the number of a task has no format");
    refused("{a:b}", "path: '{a:b}' at byte 1: what follows the ':' is a format of time, as in {time:%Y-%m-%d}");
    refused("{a:}", "path: '{a:}' at byte 1: what follows the ':' is a format of time, as in {time:%Y-%m-%d}");
    refused("{a:%Q}",
            "path: '{a:%Q}' at byte 1: there is no '%Q'; there are %Y %m %d %H %M %S %F %T %j %y %b %a and others");
    refused("{a:%\x01}", "path: '{a:%\x01}' at byte 1: there is no '%' with byte 1; there are %Y %m %d %H %M %S %F %T "
                         "%j %y %b %a and others");
    refused("{a:%F%}", "path: '{a:%F%}' at byte 1: its format ends with a '%'");
    refused("{a,b}", "path: '{a,b}' at byte 1: no field has a comma in its name");
    refused("{a}/", "path: it ends with a '/'");
    memset(text, 'x', sizeof text);
    text[GX_FILE_PATH_MAX + 1] = 0;
    refused(text, "path: it is too long");
    text[GX_FILE_PATH_MAX] = 0;
    assert_false(parse(text).varies); /* the system may think otherwise */
}

static void names_and_paths_have_room_for_every_value(void **state) {
    (void)state;
    char text[GX_FILE_PATH_MAX + 10];
    memset(text, 'x', 300);
    memcpy(text + 194, "{a}", 4);
    refused(text, "path: a name between two '/' would have 224 bytes and more, and may have 223");
    memcpy(text + 193, "{a}", 4);
    parse(text);
    refused("{a}{b}{c}{d}{e}{f}{g}{h}", "path: a name between two '/' would have 240 bytes and more, and may have 223");
    parse("{a}{b}{c}{d}/{e}{f}{g}{h}");
    refused("{a:%Y%Y%Y%Y%Y%Y%Y%Y%Y%Y%Y%Y%Y%Y}",
            "path: a name between two '/' would have 224 bytes and more, and may have 223");
    char *end = text;
    end += sprintf(end, "{a:");
    for (int i = 0; i < 260; i++) end += sprintf(end, i % 13 ? "%%Y" : "/%%Y");
    strcpy(end, "}");
    refused(text, "path: it could become too long");
}

static void too_many_parts_and_fields_are_refused(void **state) {
    (void)state;
    char text[2000], *end = text;
    for (int i = 0; i <= GX_FIELDS_MAX; i++) end += sprintf(end, "%s{f%02d}", i % 4 ? "" : "/", i);
    refused(text, "path: '{f32}' at byte 170: the path names too many fields");
    end = text;
    for (int i = 0; i < GX_TEMPLATE_PARTS / 2 + 1; i++) end += sprintf(end, "/{a}");
    refused(text, "path: it has too many parts");
}

static void every_failing_allocation_is_told(void **state) {
    (void)state;
    gx_template made = parse("{a}/{b}");
    gale_value items[] = { gale_i64(1) };
    const gale_value values[] = { gale_text("x"), gale_list(items, 1) };
    for (uint64_t at = 1; at < 4; at++) {
        counting_allocator counting = { .fail_at = at };
        gale_allocator allocator = counting_handle(&counting);
        gx_heap heap;
        uint32_t wrong;
        gx_heap_init(&heap, &allocator);
        gx_buf path = GX_BUF_INIT(&heap);
        assert_int_equal(gx_template_write(&made, values, 0, 0, &path, &wrong), at < 3 ? GALE_NO_MEMORY : 0);
        gx_buf_fini(&path);
        assert_int_equal(counting.blocks, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_without_braces_is_itself),
        cmocka_unit_test(values_times_and_the_task_stand_where_they_are_named),
        cmocka_unit_test(every_value_is_harmless),
        cmocka_unit_test(long_values_are_cut_and_still_differ),
        cmocka_unit_test(a_time_is_a_number_of_seconds_in_the_years_0_to_9999),
        cmocka_unit_test(what_is_no_path_is_refused_with_its_place),
        cmocka_unit_test(names_and_paths_have_room_for_every_value),
        cmocka_unit_test(too_many_parts_and_fields_are_refused),
        cmocka_unit_test(every_failing_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
