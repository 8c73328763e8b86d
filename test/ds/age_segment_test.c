#include "ds/age_segment.h"

#include "base/random.h"
#include "harness/counting_allocator.h"

#include "harness/cm.h"

enum { STRIDE = 16 };

static gx_group *home_of(const gx_segment *segment, uint64_t hash) {
    return gx_segment_group(segment, gx_segment_home(segment->groups, hash), STRIDE);
}

static bool find(const gx_segment *segment, uint64_t key, uint64_t hash, uint8_t hidden, gx_place *ret_at) {
    return gx_segment_search(segment, key, hash, hidden, NULL, NULL, ret_at);
}

static void erase(gx_segment *segment, gx_place at, uint64_t hash) {
    gx_segment_erase(segment, home_of(segment, hash), at, hash);
}

static gx_place add(gx_segment *segment, uint64_t key, uint64_t hash, uint8_t age) {
    gx_place at = gx_segment_claim(segment, home_of(segment, hash), hash, age);
    gx_store64(at.entry, key);
    return at;
}

static bool has(const gx_segment *segment, uint64_t key, uint64_t hash) {
    gx_place at;
    return find(segment, key, hash, GX_AGE_NONE, &at);
}

static void an_empty_segment_finds_nothing(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_segment *segment = gx_segment_new(&heap, 1, STRIDE);
    assert_false(has(segment, 0, 0));
    assert_false(gx_segment_is_full(segment));
    assert_int_equal((uintptr_t)gx_segment_group(segment, 0, STRIDE) % GX_CACHE_LINE, 0);
    gx_segment_free(&heap, segment);
    gx_segment_free(&heap, NULL);
    assert_int_equal(gx_heap_reserved(&heap), 0);
}

static void a_group_takes_fourteen_and_no_two_share_a_slot(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_segment *segment = gx_segment_new(&heap, 1, STRIDE);
    uint32_t seen = 0;
    for (uint64_t key = 0; key < GX_GROUP_SLOTS; key++) {
        assert_int_equal(gx_segment_is_full(segment), key >= gx_segment_capacity(1));
        seen |= 1u << add(segment, key, key * 77, 1).slot;
    }
    assert_int_equal(seen, GX_GROUP_MASK);
    for (uint64_t key = 0; key < 30; key++) assert_int_equal(has(segment, key, key * 77), key < GX_GROUP_SLOTS);
    gx_segment_free(&heap, segment);
}

/* More than the counter of those who passed on can count: from there on searches are long, never wrong. */
static void keys_with_one_hash_are_all_found_and_all_removed(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    enum { GROUPS = 40, KEYS = GROUPS * GX_GROUPS_FULL / 4 };
    gx_segment *segment = gx_segment_new(&heap, GROUPS, STRIDE);
    const uint64_t hash = UINT64_C(0x1234567890abcdef);
    for (uint64_t key = 0; key < KEYS; key++) add(segment, key, hash, 3);
    assert_true(gx_segment_is_full(segment));
    for (uint64_t key = 0; key < KEYS + 50; key++) assert_int_equal(has(segment, key, hash), key < KEYS);
    for (uint64_t key = 0; key < KEYS; key++) {
        gx_place at;
        assert_true(find(segment, key, hash, GX_AGE_NONE, &at));
        erase(segment, at, hash);
        assert_false(has(segment, key, hash));
    }
    assert_int_equal(segment->used, 0);
    gx_segment_free(&heap, segment);
}

static void what_was_passed_is_counted_down_again(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    enum { GROUPS = 7, KEYS = 28 }; /* fewer than a counter can count pass the first group */
    gx_segment *segment = gx_segment_new(&heap, GROUPS, STRIDE);
    gx_random random = gx_random_new(5, 0);
    uint64_t hashes[KEYS] = { 0 };
    for (int i = 0; i < 100000; i++) { /* fills and empties the same slots again and again */
        unsigned key = gx_random_below(&random, KEYS);
        gx_place at;
        if (hashes[key]) {
            assert_true(find(segment, key, hashes[key], GX_AGE_NONE, &at));
            erase(segment, at, hashes[key]);
            hashes[key] = 0;
        } else {
            hashes[key] = gx_random_next(&random) & UINT64_C(0xff1fffffff); /* home in the first groups: they spill */
            add(segment, key, hashes[key], 1);
        }
    }
    for (unsigned key = 0; key < KEYS; key++) {
        gx_place at;
        if (!hashes[key]) continue;
        assert_true(find(segment, key, hashes[key], GX_AGE_NONE, &at));
        erase(segment, at, hashes[key]);
    }
    for (unsigned g = 0; g < GROUPS; g++) assert_int_equal(gx_segment_group(segment, g, STRIDE)->passed, 0);
    gx_segment_free(&heap, segment);
}

static void a_hidden_age_is_passed_over(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_segment *segment = gx_segment_new(&heap, 2, STRIDE);
    gx_place old = add(segment, 9, 9, 4), made, at;
    assert_false(find(segment, 9, 9, 4, &at));
    made = add(segment, 9, 9, 5);
    assert_true(find(segment, 9, 9, 4, &at));
    assert_ptr_equal(at.entry, made.entry);
    assert_true(find(segment, 9, 9, 5, &at));
    assert_ptr_equal(at.entry, old.entry);
    gx_segment_free(&heap, segment);
}

static void without_memory_there_is_no_segment(void **state) {
    (void)state;
    counting_allocator counting = { .fail_at = 1 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap heap;
    gx_heap_init(&heap, &handle);
    assert_null(gx_segment_new(&heap, 4, STRIDE));
    assert_int_equal(counting.blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_segment_finds_nothing),
        cmocka_unit_test(a_group_takes_fourteen_and_no_two_share_a_slot),
        cmocka_unit_test(keys_with_one_hash_are_all_found_and_all_removed),
        cmocka_unit_test(what_was_passed_is_counted_down_again),
        cmocka_unit_test(a_hidden_age_is_passed_over),
        cmocka_unit_test(without_memory_there_is_no_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
