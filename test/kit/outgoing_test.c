#include "harness/fake_collector.h"
#include "kit/outgoing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gx_heap heap;
    gx_outgoing lines;
} fixture;

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    gx_heap_init(&f->heap, &f->fake.allocator);
    gx_outgoing_init(&f->lines, &f->heap);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    gx_outgoing_fini(&f->lines);
    assert_int_equal(gx_heap_reserved(&f->heap), 0);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

static void add(fixture *f, const char *line, gale_handle tuple) {
    assert_true(gx_outgoing_reserve(&f->lines));
    gx_buf_add_text(&f->lines.bytes, line);
    gx_outgoing_add(&f->lines, tuple);
}

static void expect_unwritten(const fixture *f, const char *text) {
    gale_str rest = gx_outgoing_unwritten(&f->lines);
    assert_int_equal(rest.size, strlen(text));
    if (rest.size) assert_memory_equal(rest.data, text, rest.size);
}

static void nothing_waits_at_first(void **state) {
    fixture *f = *state;
    gale_handle tuple;
    expect_unwritten(f, "");
    assert_int_equal(gx_outgoing_waiting(&f->lines), 0);
    assert_false(gx_outgoing_take(&f->lines, UINT64_MAX, &tuple));
}

static void a_line_leaves_when_all_of_it_was_taken(void **state) {
    fixture *f = *state;
    gale_handle tuple = 0;
    add(f, "abc\n", 7);
    add(f, "d\n", 8);
    f->lines.written = 5;
    expect_unwritten(f, "\n");
    assert_false(gx_outgoing_take(&f->lines, 3, &tuple));
    assert_true(gx_outgoing_take(&f->lines, 5, &tuple));
    assert_int_equal(tuple, 7);
    assert_false(gx_outgoing_take(&f->lines, 5, &tuple));
    assert_int_equal(gx_outgoing_waiting(&f->lines), 2);
    f->lines.written = 6;
    assert_true(gx_outgoing_take(&f->lines, 6, &tuple));
    assert_int_equal(tuple, 8);
    expect_unwritten(f, "");
}

static void the_next_one_is_written_what_was_not_taken_whole(void **state) {
    fixture *f = *state;
    gale_handle tuple;
    add(f, "abc\n", 7);
    add(f, "def\n", 8);
    f->lines.written = 8;
    assert_true(gx_outgoing_take(&f->lines, 6, &tuple));
    assert_int_equal(gx_outgoing_rewind(&f->lines, f->lines.written), 0);
    expect_unwritten(f, "def\n");
    assert_false(gx_outgoing_take(&f->lines, f->lines.written, &tuple));
}

static void many_come_and_go_in_the_memory_of_few(void **state) {
    fixture *f = *state;
    gale_handle tuple;
    char line[32];
    uint64_t reserved = 0;
    for (gale_handle i = 0; i < 100000; i++) {
        snprintf(line, sizeof line, "%06llu\n", (unsigned long long)i);
        add(f, line, i);
        f->lines.written += strlen(line);
        if (i < 100) continue;
        assert_true(gx_outgoing_take(&f->lines, f->lines.written - 700, &tuple));
        assert_int_equal(tuple, i - 100);
        if (i == 50000) reserved = gx_heap_reserved(&f->heap);
    }
    assert_int_equal(gx_heap_reserved(&f->heap), reserved);
    assert_int_equal(f->lines.count, 100);
    assert_int_equal(gx_outgoing_at(&f->lines, 0)->tuple, 100000 - 100);
}

static void running_out_of_memory_changes_nothing(void **state) {
    fixture *f = *state;
    f->fake.fail_at = f->fake.allocations + 1;
    assert_false(gx_outgoing_reserve(&f->lines));
    f->fake.fail_at = 0;
    add(f, "a\n", 1);
    expect_unwritten(f, "a\n");
}

/* Writes all of it. */
static uint32_t end_in(fixture *f, uint64_t taken) {
    gale_handle tuple;
    f->lines.written = gx_outgoing_formed(&f->lines);
    while (gx_outgoing_take(&f->lines, taken, &tuple)) continue;
    return gx_outgoing_rewind(&f->lines, taken);
}

static void those_that_end_in_the_first_line_are_counted_and_others_not(void **state) {
    fixture *f = *state;
    gale_handle tuple;
    add(f, "abc\n", 7);
    add(f, "defg\n", 8);
    add(f, "h\n", 9);
    assert_int_equal(end_in(f, 0), 0); /* it has taken nothing */
    assert_int_equal(end_in(f, 3), 1);
    assert_int_equal(end_in(f, 0), 1);
    assert_int_equal(end_in(f, 1), 2);
    assert_int_equal(end_in(f, 6), 0); /* it had taken the line before */
    assert_int_equal(end_in(f, 8), 1);
    assert_true(gx_outgoing_drop(&f->lines, &tuple));
    assert_int_equal(tuple, 8);
    assert_int_equal(gx_outgoing_rewind(&f->lines, 0), 0);
    expect_unwritten(f, "h\n");
    assert_int_equal(end_in(f, 10), 1);
    assert_int_equal(end_in(f, 11), 0);
    assert_false(gx_outgoing_drop(&f->lines, &tuple));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(those_that_end_in_the_first_line_are_counted_and_others_not, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_waits_at_first, setup, teardown),
        cmocka_unit_test_setup_teardown(a_line_leaves_when_all_of_it_was_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(the_next_one_is_written_what_was_not_taken_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(many_come_and_go_in_the_memory_of_few, setup, teardown),
        cmocka_unit_test_setup_teardown(running_out_of_memory_changes_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
