#include "ds/changes.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

static counting_allocator counting;
static gale_allocator allocator;
static gx_heap heap;
static gx_changes changes;

static int setup(void **state) {
    (void)state;
    counting = (counting_allocator){ .fail_at = 0 };
    allocator = counting_handle(&counting);
    gx_heap_init(&heap, &allocator);
    changes = (gx_changes)GX_CHANGES_INIT(&heap);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gx_changes_fini(&changes);
    assert_int_equal(counting.blocks, 0);
    return 0;
}

static void assert_next(size_t *at, const char *key, const char *value) {
    gx_change change;
    assert_true(gx_changes_next(&changes, at, &change));
    assert_int_equal(change.key.size, strlen(key));
    assert_memory_equal(change.key.data, key, change.key.size);
    assert_int_equal(change.remove, value == NULL);
    if (!value) return;
    assert_int_equal(change.value.size, strlen(value));
    assert_memory_equal(change.value.data, value, change.value.size);
    assert_int_equal((uintptr_t)change.value.data % 8, 0);
}

static void assert_end(size_t at) {
    gx_change change;
    assert_false(gx_changes_next(&changes, &at, &change));
}

static void without_any_there_is_none(void **state) {
    (void)state;
    assert_end(0);
}

static void they_come_back_in_the_order_in_which_they_were_noted(void **state) {
    (void)state;
    gx_changes_put(&changes, gx_str("a"), gx_str("one"));
    gx_changes_remove(&changes, gx_str("a longer key"));
    gx_changes_put(&changes, gx_str("12345678"), gx_str("12345678"));
    gx_changes_put(&changes, gx_str("empty"), gx_str(""));
    gx_changes_put(&changes, gx_str(""), gx_str("of no key"));
    assert_int_equal(changes.count, 5);
    size_t at = 0;
    assert_next(&at, "a", "one");
    assert_next(&at, "a longer key", NULL);
    assert_next(&at, "12345678", "12345678");
    assert_next(&at, "empty", "");
    assert_next(&at, "", "of no key");
    assert_end(at);
}

static void a_value_may_be_written_in_place(void **state) {
    (void)state;
    gx_changes_begin(&changes, gx_str("key"));
    assert_int_equal(gx_changes_open_size(&changes), 0);
    for (int i = 0; i < 1000; i++) gx_buf_add(&changes.bytes, "abc", 3);
    assert_int_equal(gx_changes_open_size(&changes), 3000);
    gx_changes_end(&changes);
    gx_changes_put(&changes, gx_str("next"), gx_str("v"));
    size_t at = 0;
    gx_change change;
    assert_true(gx_changes_next(&changes, &at, &change));
    assert_int_equal(change.value.size, 3000);
    assert_memory_equal(change.value.data, "abcabc", 6);
    assert_next(&at, "next", "v");
}

static void forgetting_keeps_the_memory(void **state) {
    (void)state;
    gx_changes_put(&changes, gx_str("a"), gx_str("one"));
    gx_changes_reset(&changes);
    assert_int_equal(changes.count, 0);
    assert_end(0);
    size_t calls = counting.calls;
    gx_changes_put(&changes, gx_str("b"), gx_str("two"));
    assert_int_equal(counting.calls, calls);
    size_t at = 0;
    assert_next(&at, "b", "two");
}

static void without_memory_it_says_so_and_gives_nothing_back(void **state) {
    (void)state;
    gx_changes_put(&changes, gx_str("a"), gx_str("one"));
    counting.fail_at = counting.calls + 1;
    gx_changes_begin(&changes, gx_str("b"));
    for (int i = 0; i < 10000; i++) gx_buf_add(&changes.bytes, "12345678", 8);
    assert_int_equal(gx_changes_open_size(&changes), 0);
    gx_changes_end(&changes);
    assert_true(changes.bytes.failed);
    assert_end(0);
    gx_changes_reset(&changes);
    gx_changes_put(&changes, gx_str("a"), gx_str("one"));
    size_t at = 0;
    assert_next(&at, "a", "one");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_any_there_is_none, setup, teardown),
        cmocka_unit_test_setup_teardown(they_come_back_in_the_order_in_which_they_were_noted, setup, teardown),
        cmocka_unit_test_setup_teardown(a_value_may_be_written_in_place, setup, teardown),
        cmocka_unit_test_setup_teardown(forgetting_keeps_the_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_it_says_so_and_gives_nothing_back, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
