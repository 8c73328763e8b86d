#include "tuple/tsv.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <math.h>
#include <string.h>

static void expect(gale_value value, const char *expected) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_tsv_value(&out, &value);
    assert_string_equal(gx_buf_text(&out), expected);
    gx_buf_fini(&out);
}

static void numbers_and_truth_values_are_as_in_json(void **state) {
    (void)state;
    expect(gale_i64(-1), "-1");
    expect(gale_f64(0.5), "0.5");
    expect(gale_bool(true), "true");
}

static void what_is_no_number_differs_from_null_and_from_each_other(void **state) {
    (void)state;
    expect(gale_f64(NAN), "NaN");
    expect(gale_f64(INFINITY), "Infinity");
    expect(gale_f64(-INFINITY), "-Infinity");
    expect(gale_null(), "\\N");
}

static void what_a_reader_would_take_for_something_else_is_escaped(void **state) {
    (void)state;
    expect(gale_text("\\N"), "\\\\N");
    expect(gale_text("a\nb"), "a\\nb");
    expect(gale_text("a\\nb"), "a\\\\nb");
    expect(gale_text("\t\r\n\\"), "\\t\\r\\n\\\\");
    expect(gale_text(""), "");
    expect(gale_bytes("\xff\\\n", 3), "\xff\\\\\\n");
}

static void lists_are_json_whose_backslashes_are_escaped_as_any_others(void **state) {
    (void)state;
    gale_value items[] = { gale_i64(1), gale_text("a\nb") };
    expect(gale_list(items, 2), "[1,\"a\\\\nb\"]");
    expect(gale_list(items, 1), "[1]");
    expect(gale_list(NULL, 0), "[]");
}

/* --- A reader ----------------------------------------------------------------------------------------------------- */

/* Undoes one field, by the rule that the documents have. False: it is null. */
static bool undo(gale_str field, gx_buf *to) {
    gx_buf_reset(to);
    if (field.size == 2 && memcmp(field.data, "\\N", 2) == 0) return false;
    for (size_t i = 0; i < field.size; i++) {
        char c = field.data[i];
        assert_true(c != '\t' && c != '\n' && c != '\r');
        if (c == '\\') {
            assert_true(++i < field.size);
            c = field.data[i];
            assert_non_null(strchr("tnr\\", c));
            c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : '\\';
        }
        gx_buf_add_byte(to, c);
    }
    return true;
}

/* Mostly of bytes that mean something. */
static size_t draw_text(gx_random *random, char *to) {
    static const char bytes[] = "\\\\\\tnrN\t\n\rab\0\x0d\x5c\x5d\xdc\xff\"[]";
    size_t size = gx_random_below(random, 40);
    for (size_t i = 0; i < size; i++)
        to[i] = gx_random_below(random, 4) ? bytes[gx_random_below(random, sizeof bytes)] : 'x';
    return size;
}

static void every_text_is_read_back_unchanged_and_none_is_null(void **state) {
    gx_random random = gx_random_new(1, 1);
    gx_buf line = GX_BUF_INIT(NULL), back = GX_BUF_INIT(NULL);
    char text[40];
    (void)state;
    for (int i = 0; i < 100000; i++) {
        size_t size = draw_text(&random, text);
        gale_value value = gx_random_below(&random, 2) ? gale_bytes(text, size) : gale_string(text, size);
        gx_buf_reset(&line);
        gx_tsv_value(&line, &value);
        assert_true(undo((gale_str){ line.data, line.size }, &back));
        assert_int_equal(back.size, size);
        assert_true(size == 0 || memcmp(back.data, text, size) == 0);
    }
    gx_buf_fini(&line);
    gx_buf_fini(&back);
}

static void a_failing_allocation_is_told(void **state) {
    (void)state;
    gale_value items[] = { gale_i64(1), gale_text("x") }, list = gale_list(items, 2);
    counting_allocator counting = { .fail_at = 1 };
    gale_allocator allocator = counting_handle(&counting);
    gx_heap heap;
    gx_heap_init(&heap, &allocator);
    gx_buf out = GX_BUF_INIT(&heap);
    gx_tsv_value(&out, &list);
    assert_true(out.failed);
    gx_buf_fini(&out);
    assert_int_equal(counting.blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_truth_values_are_as_in_json),
        cmocka_unit_test(what_is_no_number_differs_from_null_and_from_each_other),
        cmocka_unit_test(what_a_reader_would_take_for_something_else_is_escaped),
        cmocka_unit_test(lists_are_json_whose_backslashes_are_escaped_as_any_others),
        cmocka_unit_test(every_text_is_read_back_unchanged_and_none_is_null),
        cmocka_unit_test(a_failing_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
