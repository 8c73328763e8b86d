#include "tuple/csv.h"

#include "harness/counting_allocator.h"

#include "harness/cm.h"

static void expect(gale_value value, const char *expected) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_csv_value(&out, &value);
    assert_string_equal(gx_buf_text(&out), expected);
    gx_buf_fini(&out);
}

static void what_needs_no_quotes_has_none(void **state) {
    (void)state;
    expect(gale_text("a b\tc'\\"), "a b\tc'\\");
    expect(gale_bytes("\xff", 1), "\xff");
    expect(gale_i64(-1), "-1");
    expect(gale_f64(0.5), "0.5");
    expect(gale_bool(true), "true");
}

static void commas_quotes_and_ends_of_lines_stand_between_quotes(void **state) {
    (void)state;
    expect(gale_text("a,b"), "\"a,b\"");
    expect(gale_text("a\nb\r"), "\"a\nb\r\"");
    expect(gale_text("\""), "\"\"\"\"");
    expect(gale_text("\"a\"b"), "\"\"\"a\"\"b\"");
    gale_value items[] = { gale_i64(1), gale_text("x") };
    expect(gale_list(items, 2), "\"[1,\"\"x\"\"]\"");
    expect(gale_list(items, 1), "[1]");
}

static void nothing_and_an_empty_text_differ(void **state) {
    (void)state;
    expect(gale_null(), "");
    expect(gale_text(""), "\"\"");
}

static void a_failing_allocation_is_told(void **state) {
    (void)state;
    gale_value items[] = { gale_i64(1), gale_text("x") }, list = gale_list(items, 2);
    for (size_t at = 1; at < 4; at++) {
        counting_allocator counting = { .fail_at = at };
        gale_allocator allocator = counting_handle(&counting);
        gx_heap heap;
        gx_heap_init(&heap, &allocator);
        gx_buf out = GX_BUF_INIT(&heap);
        gx_csv_value(&out, &list);
        assert_int_equal(out.failed, at < 3);
        gx_buf_fini(&out);
        assert_int_equal(counting.blocks, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_needs_no_quotes_has_none),
        cmocka_unit_test(commas_quotes_and_ends_of_lines_stand_between_quotes),
        cmocka_unit_test(nothing_and_an_empty_text_differ),
        cmocka_unit_test(a_failing_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
