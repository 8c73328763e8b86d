#include "ds/timers.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

enum { NUMBERS = 200 };

static void nothing_is_due_where_there_is_none(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_timers timers = GX_TIMERS_INIT(&heap);
    uint32_t number;
    assert_int_equal(gx_timers_first(&timers), INT64_MAX);
    assert_false(gx_timers_take(&timers, INT64_MAX, &number));
    assert_true(gx_timers_reserve(&timers, 1));
    gx_timers_set(&timers, 0, INT64_MAX); /* it had none */
    assert_false(gx_timers_take(&timers, INT64_MAX, &number));
    gx_timers_fini(&timers);
    assert_int_equal(gx_heap_reserved(&heap), 0);
}

static void one_is_due_at_its_time_and_once(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_timers timers = GX_TIMERS_INIT(&heap);
    uint32_t number = 9;
    assert_true(gx_timers_reserve(&timers, 3));
    gx_timers_set(&timers, 2, 100);
    assert_false(gx_timers_take(&timers, 99, &number));
    assert_true(gx_timers_take(&timers, 100, &number));
    assert_int_equal(number, 2);
    assert_false(gx_timers_take(&timers, 1000, &number));
    gx_timers_fini(&timers);
}

static void equal_times_come_by_number(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_timers timers = GX_TIMERS_INIT(&heap);
    assert_true(gx_timers_reserve(&timers, NUMBERS));
    for (uint32_t i = NUMBERS; i-- > 0;) gx_timers_set(&timers, i, 7);
    for (uint32_t i = 0, number; i < NUMBERS; i++) {
        assert_true(gx_timers_take(&timers, 7, &number));
        assert_int_equal(number, i);
    }
    gx_timers_fini(&timers);
}

/* Against a plain table of times. */
static uint32_t first_of(const int64_t *times, uint32_t count) {
    uint32_t first = count;
    for (uint32_t i = 0; i < count; i++)
        if (times[i] != INT64_MAX && (first == count || times[i] < times[first])) first = i;
    return first;
}

static void they_are_what_a_plain_table_is(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_timers timers = GX_TIMERS_INIT(&heap);
    gx_random random = gx_random_new(1, 1);
    int64_t times[NUMBERS];
    uint32_t room = 0;
    for (uint32_t i = 0; i < NUMBERS; i++) times[i] = INT64_MAX;
    for (int i = 0; i < 50000; i++) {
        uint32_t number = (uint32_t)gx_random_below(&random, NUMBERS);
        if (number >= room && number < NUMBERS) {
            assert_true(gx_timers_reserve(&timers, number + 1));
            room = number + 1;
        }
        bool none = gx_random_below(&random, 4) == 0;
        times[number] = none ? INT64_MAX : (int64_t)gx_random_below(&random, 50) - 10;
        gx_timers_set(&timers, number, times[number]);
        uint32_t first = first_of(times, NUMBERS), taken;
        assert_int_equal(gx_timers_first(&timers), first == NUMBERS ? INT64_MAX : times[first]);
        if (gx_random_below(&random, 3) || first == NUMBERS) continue;
        assert_true(gx_timers_take(&timers, times[first], &taken));
        assert_int_equal(taken, first);
        times[first] = INT64_MAX;
    }
    gx_timers_fini(&timers);
}

static void where_memory_is_out_all_is_as_it_was(void **state) {
    (void)state;
    counting_allocator counting = { .fail_at = 2 };
    gale_allocator allocator = counting_handle(&counting);
    gx_heap heap;
    gx_heap_init(&heap, &allocator);
    gx_timers timers = GX_TIMERS_INIT(&heap);
    assert_false(gx_timers_reserve(&timers, 10));
    assert_int_equal(gx_timers_first(&timers), INT64_MAX);
    assert_true(gx_timers_reserve(&timers, 10));
    gx_timers_set(&timers, 9, 1);
    assert_int_equal(gx_timers_first(&timers), 1);
    gx_timers_fini(&timers);
    assert_int_equal(gx_heap_reserved(&heap), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_due_where_there_is_none),   cmocka_unit_test(one_is_due_at_its_time_and_once),
        cmocka_unit_test(equal_times_come_by_number),           cmocka_unit_test(they_are_what_a_plain_table_is),
        cmocka_unit_test(where_memory_is_out_all_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
