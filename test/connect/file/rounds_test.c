/* Lines that another number of tasks had read. */
#include "connect/file/rounds.h"
#include "harness/fake_saver.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gx_heap heap;
    gx_buf records;
    gx_file_rounds rounds;
} fixture;

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    gx_heap_init(&f->heap, &f->fake.allocator);
    f->records = (gx_buf)GX_BUF_INIT(&f->heap);
    f->rounds.heap = &f->heap;
    f->rounds.block = 2;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    gx_file_rounds_fini(&f->rounds);
    gx_buf_fini(&f->records);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

/* Lines of two bytes, each of which is a block. The tasks had read up to a line of this number. */
static void add(fixture *f, uint64_t name, int64_t first, int64_t second) {
    const int64_t places[2] = { 2 * first, 2 * second };
    assert_int_equal(gx_file_rounds_add(&f->rounds, name, places, 2), GALE_OK);
}

static bool have(fixture *f, int64_t number) {
    return gx_file_rounds_have(&f->rounds, 2 * (number - 1));
}

static gale_saved saved(const fixture *f) {
    return (gale_saved){ .records = { f->records.data, f->records.size }, .heap = (gx_heap *)(uintptr_t)&f->heap };
}

static void nobody_has_read_anything(void **state) {
    fixture *f = *state;
    assert_false(have(f, 1));
}

static void each_task_had_read_its_own_lines_up_to_where_it_was(void **state) {
    fixture *f = *state;
    add(f, 1, 5, 2); /* the first had lines 1, 3 and 5, the second line 2 */
    static const bool had[] = { true, true, true, false, true, false, false };
    for (int64_t n = 1; n <= 7; n++) assert_int_equal(have(f, n), had[n - 1]);
}

static void a_round_goes_when_its_last_line_is_behind(void **state) {
    fixture *f = *state;
    add(f, 1, 5, 2);
    add(f, 2, 4, 8);
    assert_false(have(f, 7));
    assert_int_equal(f->rounds.count, 1);
    assert_true(have(f, 8));
    assert_false(have(f, 9));
    assert_int_equal(f->rounds.count, 0);
}

static void the_same_round_counts_once(void **state) {
    fixture *f = *state;
    add(f, 1, 5, 2);
    add(f, 1, 9, 9);
    assert_int_equal(f->rounds.count, 1);
    assert_false(have(f, 9));
}

static void rounds_are_saved_and_come_back(void **state) {
    fixture *f = *state;
    gale_saver to = { &f->records, NULL, "lines", 1, GALE_OK };
    add(f, 1, 5, 2);
    add(f, 2, 4, 8);
    assert_int_equal(gx_file_rounds_save(&f->rounds, &to), GALE_OK);
    gx_file_rounds_fini(&f->rounds);
    for (int i = 0; i < 2; i++) { /* of each part; they are the same */
        gale_saved from = saved(f);
        assert_int_equal(gx_file_rounds_take(&f->rounds, &from), GALE_OK);
        assert_int_equal(from.records.size, 0);
        gx_saved_fini(&from);
    }
    assert_int_equal(f->rounds.count, 2);
    assert_true(have(f, 5));
    assert_true(have(f, 8));
}

static void what_is_no_round_is_refused(void **state) {
    fixture *f = *state;
    const gale_value count = gale_i64(1), half[] = { gale_i64(1), gale_bytes("1234567", 7) };
    const gale_value none[] = { gale_i64(1), gale_bytes("", 0) };
    const gale_value *rounds[] = { half, none, NULL };
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds; i++) {
        gx_buf_reset(&f->records);
        assert_int_equal(gx_record_add(&f->records, &count, 1), GALE_OK);
        if (rounds[i]) assert_int_equal(gx_record_add(&f->records, rounds[i], 2), GALE_OK);
        gale_saved from = saved(f);
        assert_int_equal(gx_file_rounds_take(&f->rounds, &from), GALE_DAMAGED);
        gx_saved_fini(&from);
    }
}

static void without_memory_nothing_is_added(void **state) {
    fixture *f = *state;
    const int64_t lines[2] = { 5, 2 };
    int rc = GALE_NO_MEMORY;
    for (uint64_t n = 1; rc == GALE_NO_MEMORY; n++) {
        assert_in_range(n, 1, 10);
        f->fake.fail_at = f->fake.allocations + n;
        rc = gx_file_rounds_add(&f->rounds, 1, lines, 2);
        assert_int_equal(f->rounds.count, rc == GALE_OK);
    }
    f->fake.fail_at = 0;
    assert_int_equal(rc, GALE_OK);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(nobody_has_read_anything),
        CASE(each_task_had_read_its_own_lines_up_to_where_it_was),
        CASE(a_round_goes_when_its_last_line_is_behind),
        CASE(the_same_round_counts_once),
        CASE(rounds_are_saved_and_come_back),
        CASE(what_is_no_round_is_refused),
        CASE(without_memory_nothing_is_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
