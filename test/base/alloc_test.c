#include "base/alloc.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

static void blocks_are_zeroed_and_aligned(void **state) {
    (void)state;
    counting_allocator counting = { 0 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap heap;
    gx_heap_init(&heap, &handle);
    static const char zeros[333];
    char *block = gx_alloc(&heap, GX_TAG_PLAN, sizeof zeros);
    assert_int_equal((uintptr_t)block % 16, 0);
    assert_memory_equal(block, zeros, sizeof zeros);
    char *apart = gx_alloc_apart(&heap, GX_TAG_RING, sizeof zeros);
    assert_int_equal((uintptr_t)apart % GX_APART, 0);
    assert_memory_equal(apart, zeros, sizeof zeros);
    gx_free(&heap, GX_TAG_PLAN, block, sizeof zeros);
    gx_free_apart(&heap, GX_TAG_RING, apart, sizeof zeros);
    assert_int_equal(counting.blocks, 0);
}

static void the_account_is_kept_by_tag_and_returns_to_zero(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    void *a = gx_alloc(&heap, GX_TAG_PLAN, 100);
    void *b = gx_alloc_array(&heap, GX_TAG_BLOCK, 10, 7);
    assert_int_equal(gx_load_relaxed(&heap.reserved[GX_TAG_PLAN]), 100);
    assert_int_equal(gx_load_relaxed(&heap.reserved[GX_TAG_BLOCK]), 70);
    assert_int_equal(gx_heap_reserved(&heap), 170);
    assert_int_equal(gx_load_relaxed(&heap.calls), 2);
    gx_free(&heap, GX_TAG_PLAN, a, 100);
    gx_free(&heap, GX_TAG_BLOCK, b, 70);
    assert_int_equal(gx_heap_reserved(&heap), 0);
}

static void an_array_whose_size_overflows_is_refused(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    assert_null(gx_alloc_array(&heap, GX_TAG_OTHER, SIZE_MAX / 2, 3));
    assert_null(gx_alloc_array(&heap, GX_TAG_OTHER, SIZE_MAX, SIZE_MAX));
    assert_int_equal(gx_load_relaxed(&heap.calls), 0);
}

static void freeing_nothing_does_nothing(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_free(&heap, GX_TAG_OTHER, NULL, 100);
    gx_free_apart(&heap, GX_TAG_OTHER, NULL, 100);
    assert_int_equal(gx_heap_reserved(&heap), 0);
}

static void growing_keeps_the_items_and_zeroes_the_rest(void **state) {
    (void)state;
    counting_allocator counting = { 0 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap heap;
    gx_heap_init(&heap, &handle);
    void *array = NULL;
    size_t capacity = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(gx_grow(&heap, GX_TAG_OTHER, &array, &capacity, i + 1, sizeof i));
        assert_true(capacity > i);
        assert_int_equal(((uint32_t *)array)[i], 0);
        ((uint32_t *)array)[i] = i;
    }
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(((uint32_t *)array)[i], i);
    assert_true(counting.calls < 10);
    gx_free(&heap, GX_TAG_OTHER, array, capacity * sizeof(uint32_t));
    assert_int_equal(counting.blocks, 0);
}

static void a_failed_growth_changes_nothing(void **state) {
    (void)state;
    counting_allocator counting = { .fail_at = 2 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap heap;
    gx_heap_init(&heap, &handle);
    void *array = NULL;
    size_t capacity = 0;
    assert_true(gx_grow(&heap, GX_TAG_OTHER, &array, &capacity, 1, 8));
    void *before = array;
    size_t capacity_before = capacity;
    uint64_t reserved = gx_heap_reserved(&heap);
    assert_false(gx_grow(&heap, GX_TAG_OTHER, &array, &capacity, capacity + 1, 8));
    assert_ptr_equal(array, before);
    assert_int_equal(capacity, capacity_before);
    assert_int_equal(gx_heap_reserved(&heap), reserved);
    gx_free(&heap, GX_TAG_OTHER, array, capacity * 8);
}

static void failed_allocations_are_not_in_the_account(void **state) {
    (void)state;
    counting_allocator counting = { .fail_at = 1, .fail_after = true };
    gale_allocator handle = counting_handle(&counting);
    gx_heap heap;
    gx_heap_init(&heap, &handle);
    assert_null(gx_alloc(&heap, GX_TAG_OTHER, 10));
    assert_null(gx_alloc_array(&heap, GX_TAG_OTHER, 10, 10));
    assert_null(gx_alloc_apart(&heap, GX_TAG_OTHER, 10));
    assert_int_equal(gx_heap_reserved(&heap), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zeroed_and_aligned),
        cmocka_unit_test(the_account_is_kept_by_tag_and_returns_to_zero),
        cmocka_unit_test(an_array_whose_size_overflows_is_refused),
        cmocka_unit_test(freeing_nothing_does_nothing),
        cmocka_unit_test(growing_keeps_the_items_and_zeroes_the_rest),
        cmocka_unit_test(a_failed_growth_changes_nothing),
        cmocka_unit_test(failed_allocations_are_not_in_the_account),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
