#include "ds/window_tally.h"

#include "window_heap.h"

static void an_empty_one_knows_nothing(void **state) {
    (void)state;
    gx_tally tally = { 0 };
    size_t at = 0;
    assert_int_equal(gx_tally_get(&tally, 0), 0);
    assert_null(gx_tally_next(&tally, &at));
    gx_tally_fini(&tally, &heap);
}

/* Numbers that are close together, and such as collide. */
static uint64_t number(uint32_t n) {
    return n % 3 ? n : (uint64_t)n << 40;
}

static void counts_equal_a_plain_arrays_whatever_is_added_and_taken_back(void **state) {
    (void)state;
    enum { NUMBERS = 300 };
    uint32_t counts[NUMBERS] = { 0 }, used = 0;
    gx_tally tally = { 0 };
    gx_random random = gx_random_new(11, 0);
    for (int round = 0; round < 60000; round++) {
        uint32_t n = (uint32_t)gx_random_below(&random, NUMBERS), more = 1 + (uint32_t)gx_random_below(&random, 3);
        bool grows = round % 6000 < 3500;
        if (grows || counts[n] < more) {
            assert_true(gx_tally_reserve(&tally, &heap, 1));
            *gx_tally_at(&tally, number(n)) += more;
            used += counts[n] == 0;
            counts[n] += more;
        } else {
            uint32_t less = gx_random_below(&random, 2) ? counts[n] : more;
            gx_tally_sub(&tally, number(n), less);
            counts[n] -= less;
            used -= counts[n] == 0;
        }
        assert_int_equal(tally.used, used);
        if (round % 500) continue;
        for (uint32_t i = 0; i < NUMBERS; i++) assert_int_equal(gx_tally_get(&tally, number(i)), counts[i]);
    }
    gx_tally_fini(&tally, &heap);
}

static void a_walk_sees_each_once(void **state) {
    (void)state;
    gx_tally tally = { 0 };
    uint64_t sum = 0, seen = 0;
    assert_true(gx_tally_reserve(&tally, &heap, 100));
    for (uint64_t n = 1; n <= 100; n++) *gx_tally_at(&tally, n) = (uint32_t)n;
    size_t at = 0;
    for (const gx_tally_slot *slot; (slot = gx_tally_next(&tally, &at)) != NULL; seen++) {
        assert_int_equal(slot->id, slot->count);
        sum += slot->id;
    }
    assert_int_equal(seen, 100);
    assert_int_equal(sum, 5050);
    gx_tally_fini(&tally, &heap);
}

static void a_trimmed_one_takes_little_and_holds_the_same(void **state) {
    (void)state;
    gx_tally tally = { .coarse = 1 };
    assert_true(gx_tally_reserve(&tally, &heap, 1000));
    for (uint64_t n = 0; n < 3; n++) *gx_tally_at(&tally, n) = 7;
    gx_tally_trim(&tally, &heap);
    assert_int_equal(counting.bytes, 4 * sizeof(gx_tally_slot));
    for (uint64_t n = 0; n < 3; n++) assert_int_equal(gx_tally_get(&tally, n), 7);
    for (uint64_t n = 0; n < 3; n++) gx_tally_sub(&tally, n, 7);
    gx_tally_trim(&tally, &heap);
    assert_int_equal(counting.bytes, 0);
    assert_int_equal(tally.coarse, 1);
    gx_tally_fini(&tally, &heap);
}

static void without_memory_there_is_no_room_and_nothing_changes(void **state) {
    (void)state;
    gx_tally tally = { 0 };
    fail_at(1);
    assert_false(gx_tally_reserve(&tally, &heap, 1));
    assert_false(gx_tally_reserve(&tally, &heap, (size_t)1 << 30));
    assert_true(gx_tally_reserve(&tally, &heap, 3));
    for (uint64_t n = 0; n < 3; n++) *gx_tally_at(&tally, n) = 1;
    fail_at(1);
    assert_false(gx_tally_reserve(&tally, &heap, 1));
    for (uint64_t n = 0; n < 3; n++) assert_int_equal(gx_tally_get(&tally, n), 1);
    assert_true(gx_tally_reserve(&tally, &heap, 1000));
    fail_at(1);
    gx_tally_trim(&tally, &heap); /* stays as large as it is */
    assert_int_equal(gx_tally_get(&tally, 2), 1);
    gx_tally_fini(&tally, &heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_one_knows_nothing),
        cmocka_unit_test(counts_equal_a_plain_arrays_whatever_is_added_and_taken_back),
        cmocka_unit_test(a_walk_sees_each_once),
        cmocka_unit_test(a_trimmed_one_takes_little_and_holds_the_same),
        cmocka_unit_test(without_memory_there_is_no_room_and_nothing_changes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
