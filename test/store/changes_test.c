/* What was gathered for a commit. */
#include "store/changes.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <stdio.h>
#include <string.h>

static gx_heap heap;
static gx_store_changes changes;
static counting_allocator counting;

static int setup(void **state) {
    (void)state;
    counting = (counting_allocator){ 0 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap_init(&heap, &handle);
    gx_store_changes_init(&changes, &heap);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gx_store_changes_fini(&changes);
    assert_int_equal(counting.blocks, 0);
    return 0;
}

static bool add(const char *key, const char *value) {
    gale_str bytes = { value, value ? strlen(value) : 0 };
    return gx_store_changes_add(&changes, (gale_str){ key, strlen(key) }, value ? &bytes : NULL);
}

static const char *all(void) {
    static char text[1000];
    size_t size = 0;
    text[0] = 0;
    for (size_t i = 0; i < changes.count; i++) {
        gale_str key = gx_change_key(&changes, &changes.list[i]), value = gx_change_value(&changes, &changes.list[i]);
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%.*s%s%.*s", i ? " " : "", (int)key.size, key.data,
                                 changes.list[i].removes ? "!" : "=", (int)value.size, value.data);
    }
    return text;
}

static void changes_are_sorted_by_the_bytes_of_their_keys(void **state) {
    (void)state;
    const char *keys[] = { "b", "a", "abcdefgh", "abcdefghi", "abcdefgg", "\xff", "ab" };
    for (size_t i = 0; i < 7; i++) assert_true(add(keys[i], ""));
    gx_store_changes_sort(&changes);
    assert_string_equal(all(), "a= ab= abcdefgg= abcdefgh= abcdefghi= b= \xff=");
}

static void a_key_with_a_nul_behind_it_is_another(void **state) {
    (void)state;
    gale_str value = { "v", 1 };
    assert_true(gx_store_changes_add(&changes, (gale_str){ "a\0", 2 }, &value));
    assert_true(gx_store_changes_add(&changes, (gale_str){ "a", 1 }, &value));
    gx_store_changes_sort(&changes);
    assert_int_equal(changes.list[0].key_size, 1);
    assert_int_equal(changes.list[1].key_size, 2);
}

static void changes_of_one_key_stay_in_their_order(void **state) {
    (void)state;
    add("k", "1");
    add("a", "x");
    add("k", NULL);
    add("k", "3");
    gx_store_changes_sort(&changes);
    assert_string_equal(all(), "a=x k=1 k! k=3");
}

static void what_is_cleared_is_gone(void **state) {
    (void)state;
    add("k", "1");
    gx_store_changes_clear(&changes);
    gx_store_changes_sort(&changes);
    assert_int_equal(changes.count, 0);
    add("l", "2");
    assert_string_equal(all(), "l=2");
}

static void a_change_that_finds_no_memory_is_not_half_there(void **state) {
    (void)state;
    char key[400];
    size_t refused = 0;
    memset(key, 'k', sizeof key);
    for (size_t i = 0; i < 200; i++) {
        size_t had = changes.count, used = changes.used;
        counting.fail_at = counting.calls + 1;
        if (!gx_store_changes_add(&changes, (gale_str){ key, sizeof key }, NULL)) {
            refused++;
            assert_int_equal(changes.count, had);
            assert_int_equal(changes.used, used);
            counting.fail_at = 0;
            assert_true(gx_store_changes_add(&changes, (gale_str){ key, sizeof key }, NULL));
        }
        assert_int_equal(changes.count, had + 1);
    }
    assert_true(refused > 2);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(changes_are_sorted_by_the_bytes_of_their_keys),   CASE(a_key_with_a_nul_behind_it_is_another),
        CASE(changes_of_one_key_stay_in_their_order),          CASE(what_is_cleared_is_gone),
        CASE(a_change_that_finds_no_memory_is_not_half_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
