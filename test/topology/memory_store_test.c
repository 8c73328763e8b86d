/* The store in memory keeps what gale/store.h promises: what stands upon it is tested with it. */
#include "harness/memory_store.h"

#include "harness/cm.h"

#include <stdio.h>

static memory_store memory;
static gale_store store;

static int setup(void **state) {
    (void)state;
    memory_store_init(&memory);
    store = memory_store_open(&memory);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    store.close(store.self);
    memory_store_fini(&memory);
    return 0;
}

static int put(const char *key, const char *value) {
    return store.put(store.self, key, strlen(key), value, strlen(value), NULL);
}

static int commit(void) {
    return store.commit(store.self, GALE_STORE_SYNC, NULL, NULL);
}

static int note(void *user, const void *key, size_t key_size, const void *value, size_t value_size) {
    char *text = user;
    snprintf(text + strlen(text), 200 - strlen(text), "%.*s=%.*s ", (int)key_size, (const char *)key, (int)value_size,
             (const char *)value);
    return strlen(text) > 150 ? 7 : 0;
}

static const char *pairs(const char *prefix, const char *after) {
    static char text[200];
    text[0] = 0;
    store.iterate(store.self, prefix, strlen(prefix), after, after ? strlen(after) : 0, note, text, NULL);
    return text;
}

static void nobody_sees_what_is_not_committed(void **state) {
    (void)state;
    assert_int_equal(put("b", "1"), GALE_OK);
    assert_int_equal(put("a", "2"), GALE_OK);
    assert_string_equal(pairs("", NULL), "");
    store.abandon(store.self);
    put("c", "3");
    assert_int_equal(commit(), GALE_OK);
    assert_string_equal(pairs("", NULL), "c=3 ");
}

static void pairs_come_in_order_below_a_prefix_behind_a_key(void **state) {
    (void)state;
    put("kb", "1"), put("ka", "2"), put("kab", "3"), put("l", "4"), put("k", "5");
    commit();
    assert_string_equal(pairs("k", NULL), "k=5 ka=2 kab=3 kb=1 ");
    assert_string_equal(pairs("k", "ka"), "kab=3 kb=1 ");
    assert_string_equal(pairs("ka", NULL), "ka=2 kab=3 ");
}

static void the_later_of_two_changes_counts(void **state) {
    (void)state;
    put("a", "1"), put("b", "1");
    store.remove(store.self, "a", 1, NULL);
    store.remove(store.self, "b", 1, NULL);
    put("b", "2");
    commit();
    assert_string_equal(pairs("", NULL), "b=2 ");
    store.remove(store.self, "b", 1, NULL);
    store.remove(store.self, "never", 5, NULL);
    commit();
    assert_string_equal(pairs("", NULL), "");
}

static void a_value_that_has_no_room_is_not_copied(void **state) {
    (void)state;
    char room[4] = "xyz";
    size_t size;
    put("a", "long");
    commit();
    assert_int_equal(store.get(store.self, "a", 1, room, 3, &size, NULL), GALE_TOO_LARGE);
    assert_int_equal(size, 4);
    assert_string_equal(room, "xyz");
    assert_int_equal(store.get(store.self, "a", 1, room, 4, &size, NULL), GALE_OK);
    assert_memory_equal(room, "long", 4);
    assert_int_equal(store.get(store.self, "b", 1, room, 4, &size, NULL), GALE_NOT_FOUND);
}

static void a_commit_that_fails_closes_it_until_it_is_opened_again(void **state) {
    (void)state;
    put("a", "1"), commit(), put("a", "2");
    memory.fail_at = memory.calls + 1;
    assert_int_equal(commit(), GALE_IO);
    assert_int_equal(put("a", "3"), GALE_STATE);
    assert_int_equal(commit(), GALE_STATE);
    assert_string_equal(pairs("", NULL), "a=1 ");
    store = memory_store_open(&memory);
    put("a", "4");
    memory.fail_at = memory.calls + 1;
    memory.fail_late = true;
    assert_int_equal(commit(), GALE_IO);
    store = memory_store_open(&memory);
    assert_string_equal(pairs("", NULL), "a=4 ");
    assert_int_equal(memory.commits, 2);
}

static void a_change_that_is_refused_ends_the_batch(void **state) {
    (void)state;
    put("a", "1");
    assert_int_equal(put("", "1"), GALE_INVALID);
    assert_int_equal(commit(), GALE_OK);
    assert_string_equal(pairs("", NULL), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nobody_sees_what_is_not_committed, setup, teardown),
        cmocka_unit_test_setup_teardown(pairs_come_in_order_below_a_prefix_behind_a_key, setup, teardown),
        cmocka_unit_test_setup_teardown(the_later_of_two_changes_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(a_value_that_has_no_room_is_not_copied, setup, teardown),
        cmocka_unit_test_setup_teardown(a_commit_that_fails_closes_it_until_it_is_opened_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_change_that_is_refused_ends_the_batch, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
