#include "trees/forgotten.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

enum { T = 1000 };

typedef struct fixture {
    counting_allocator counting;
    gx_heap heap;
    gx_forgotten forgotten;
} fixture;

static void setup(fixture *f) {
    *f = (fixture){ 0 };
    gale_allocator handle = counting_handle(&f->counting);
    gx_heap_init(&f->heap, &handle);
}

static void teardown(fixture *f) {
    gx_forgotten_fini(&f->forgotten);
    assert_int_equal(f->counting.blocks, 0);
}

static void note(fixture *f, uint16_t task, uint64_t root, int64_t now, int64_t timeout) {
    gx_root pair = { root, 1 };
    gx_forgotten_note(&f->forgotten, &f->heap, task, (gx_roots){ &pair, 1 }, now, timeout);
}

static void who_forgot_a_tree_is_known_and_nobody_forgot_another(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    assert_int_equal(gx_forgotten_by(&f.forgotten, 7), 0);
    gx_root pairs[] = { { 7, 1 }, { 8, 1 } };
    gx_forgotten_note(&f.forgotten, &f.heap, 3, (gx_roots){ pairs, 2 }, 0, T);
    note(&f, 4, 8, 0, T);
    assert_int_equal(gx_forgotten_by(&f.forgotten, 7), 3);
    assert_int_equal(gx_forgotten_by(&f.forgotten, 8), 4); /* the last one */
    assert_int_equal(gx_forgotten_by(&f.forgotten, 9), 0);
    teardown(&f);
}

static void it_is_known_for_two_timeouts_and_not_for_ever_however_much_is_forgotten(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    note(&f, 3, 7, 10, T);
    for (int64_t now = 11; now < 2 * T; now++) {
        note(&f, 4, 8, now, T);
        assert_int_equal(gx_forgotten_by(&f.forgotten, 7), 3);
    }
    for (int64_t now = 2 * T; now <= 3 * T + 10; now++) note(&f, 4, 8, now, T);
    assert_int_equal(gx_forgotten_by(&f.forgotten, 7), 0);
    assert_int_equal(gx_forgotten_by(&f.forgotten, 8), 4);
    teardown(&f);
}

static void without_a_timeout_it_is_known_for_ever(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    note(&f, 3, 7, 0, 0);
    for (int64_t now = 0; now < 10; now++) note(&f, 4, 8, now * T, 0);
    assert_int_equal(gx_forgotten_by(&f.forgotten, 7), 3);
    teardown(&f);
}

static void what_is_too_much_to_remember_is_not_found_and_takes_no_memory(void **state) {
    (void)state;
    fixture f;
    setup(&f);
    for (uint64_t root = 1; root <= GX_FORGOTTEN_MAX; root++) note(&f, 3, root, 0, T);
    size_t calls = f.counting.calls;
    for (uint64_t root = 1; root <= GX_FORGOTTEN_MAX; root++) note(&f, 3, root + GX_FORGOTTEN_MAX, 0, T);
    assert_int_equal(f.counting.calls, calls);
    assert_int_equal(gx_forgotten_by(&f.forgotten, 1), 3);
    assert_int_equal(gx_forgotten_by(&f.forgotten, GX_FORGOTTEN_MAX), 3);
    assert_int_equal(gx_forgotten_by(&f.forgotten, GX_FORGOTTEN_MAX + 1), 0);
    teardown(&f);
}

static void without_memory_nothing_is_noted_and_nothing_else_happens(void **state) {
    (void)state;
    for (size_t n = 1; n <= 3; n++) {
        fixture f;
        setup(&f);
        f.counting.fail_at = n;
        note(&f, 3, 7, 0, T);
        uint16_t by = gx_forgotten_by(&f.forgotten, 7);
        assert_true(by == 0 || by == 3);
        note(&f, 3, 7, 0, T);
        assert_int_equal(gx_forgotten_by(&f.forgotten, 7), 3);
        teardown(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_forgot_a_tree_is_known_and_nobody_forgot_another),
        cmocka_unit_test(it_is_known_for_two_timeouts_and_not_for_ever_however_much_is_forgotten),
        cmocka_unit_test(without_a_timeout_it_is_known_for_ever),
        cmocka_unit_test(what_is_too_much_to_remember_is_not_found_and_takes_no_memory),
        cmocka_unit_test(without_memory_nothing_is_noted_and_nothing_else_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
