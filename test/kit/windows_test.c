#include "kit/windows.h"

#include "base/random.h"
#include "harness/counting_allocator.h"

#include "harness/cm.h"

static void windows_lie_in_the_order_of_ends_then_lengths(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_windows w = { .heap = &heap };
    gx_random random = gx_random_new(1, 0);
    for (int i = 0; i < 5000; i++) {
        int64_t length = 1 + gx_random_below(&random, 3), end = (int64_t)gx_random_below(&random, 100) - 50;
        gx_window *window = gx_windows_at(&w, end, length);
        assert_non_null(window);
        assert_true(window->end == end && window->length == length);
        window->count++;
    }
    int64_t sum = 0;
    assert_int_equal(w.count, 300);
    for (size_t i = 0; i < w.count; i++) {
        sum += w.items[i].count;
        if (i == 0) continue;
        const gx_window *a = &w.items[i - 1], *b = &w.items[i];
        assert_true(a->end < b->end || (a->end == b->end && a->length < b->length));
    }
    assert_int_equal(sum, 5000);
    gx_windows_fini(&w);
    assert_int_equal(gx_heap_reserved(&heap), 0);
}

static void what_has_ended_is_a_prefix_and_can_be_dropped(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_windows w = { .heap = &heap };
    assert_int_equal(gx_windows_ended(&w, INT64_MAX), 0);
    gx_windows_drop(&w, 0);
    static const int64_t ends[] = { 300, 60, 120 };
    for (int i = 0; i < 3; i++) assert_non_null(gx_windows_at(&w, ends[i], 60));
    assert_int_equal(gx_windows_ended(&w, INT64_MIN), 0);
    assert_int_equal(gx_windows_ended(&w, 59), 0);
    assert_int_equal(gx_windows_ended(&w, 60), 1); /* the end is the first second behind it */
    assert_int_equal(gx_windows_ended(&w, 299), 2);
    assert_int_equal(gx_windows_ended(&w, INT64_MAX), 3);
    gx_windows_drop(&w, 2);
    assert_int_equal(w.count, 1);
    assert_int_equal(w.items[0].end, 300);
    gx_windows_drop(&w, 1);
    assert_int_equal(w.count, 0);
    gx_windows_fini(&w);
}

static void without_memory_nothing_changes(void **state) {
    (void)state;
    counting_allocator counting = { .fail_at = 2 };
    gale_allocator allocator = counting_handle(&counting);
    gx_heap heap;
    gx_heap_init(&heap, &allocator);
    gx_windows w = { .heap = &heap };
    int64_t end = 0;
    while (gx_windows_at(&w, end, 1)) end++;
    assert_int_equal(w.count, end);
    for (int64_t i = 0; i < end; i++) assert_int_equal(w.items[i].end, i);
    assert_non_null(gx_windows_at(&w, end, 1));
    gx_windows_fini(&w);
    assert_int_equal(counting.blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_lie_in_the_order_of_ends_then_lengths),
        cmocka_unit_test(what_has_ended_is_a_prefix_and_can_be_dropped),
        cmocka_unit_test(without_memory_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
