#include "base/pieces.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"

static counting_allocator counting;
static gx_heap heap;
static gx_pieces pieces;

static int fresh(void **state) {
    (void)state;
    counting = (counting_allocator){ 0 };
    gale_allocator handle = counting_handle(&counting);
    gx_heap_init(&heap, &handle);
    pieces = gx_pieces_of(&heap, GX_TAG_OTHER);
    return 0;
}

static void nothing_taken_is_nothing_to_free(void **state) {
    (void)state;
    gx_pieces_free(&pieces);
    assert_int_equal(counting.calls, 0);
}

static void what_is_taken_is_zero_and_aligned_and_goes_at_once(void **state) {
    (void)state;
    for (size_t n = 0; n < 100; n++) {
        unsigned char *bytes = gx_pieces_take(&pieces, n, 3);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % 16, 0);
        for (size_t i = 0; i < 3 * n; i++) assert_int_equal(bytes[i], 0);
        memset(bytes, 0xff, 3 * n);
    }
    assert_int_equal(counting.blocks, 100);
    gx_pieces_free(&pieces);
    assert_int_equal(counting.blocks, 0);
    assert_int_equal(gx_heap_reserved(&heap), 0);
    gx_pieces_free(&pieces); /* once more is nothing */
}

static void more_than_there_can_be_is_refused(void **state) {
    (void)state;
    assert_null(gx_pieces_take(&pieces, SIZE_MAX, 1));
    assert_null(gx_pieces_take(&pieces, SIZE_MAX / 8, 16));
    assert_int_equal(counting.calls, 0);
}

static void what_was_taken_stays_when_memory_is_out(void **state) {
    (void)state;
    counting.fail_at = 2;
    char *first = gx_pieces_take(&pieces, 5, 1);
    assert_non_null(first);
    assert_null(gx_pieces_take(&pieces, 5, 1));
    first[4] = 'x';
    assert_non_null(gx_pieces_take(&pieces, 5, 1));
    assert_int_equal(first[4], 'x');
    gx_pieces_free(&pieces);
    assert_int_equal(counting.blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_taken_is_nothing_to_free, fresh),
        cmocka_unit_test_setup(what_is_taken_is_zero_and_aligned_and_goes_at_once, fresh),
        cmocka_unit_test_setup(more_than_there_can_be_is_refused, fresh),
        cmocka_unit_test_setup(what_was_taken_stays_when_memory_is_out, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
