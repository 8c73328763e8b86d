#include "harness/fake_collector.h"
#include "kit/pace.h"

#include <gale/kit.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int ready_items(gx_pace *pace) {
    int64_t until;
    int count = 0;
    for (; count < 100000 && gx_pace_ready(pace, &until); count++) gx_pace_step(pace);
    return count;
}

static void without_a_rate_there_is_no_wait(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    gx_pace pace;
    gx_pace_init(&pace, &fake.context);
    assert_int_equal(ready_items(&pace), 100000);
    fake_fini(&fake);
}

static void items_fall_due_at_even_distances(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    fake_set_rate(&fake, 3);
    gx_pace pace;
    gx_pace_init(&pace, &fake.context);
    int64_t until = 0;
    assert_int_equal(ready_items(&pace), 1);
    assert_false(gx_pace_ready(&pace, &until));
    assert_int_equal(until, 333333333);
    gale_manual_clock_advance(fake.clock, until);
    assert_int_equal(ready_items(&pace), 1);
    int sum = 0;
    for (int i = 0; i < 3000; i++) {
        gale_manual_clock_advance(fake.clock, GALE_MILLISECOND);
        sum += ready_items(&pace);
    }
    assert_int_equal(sum, 9); /* no drift over three seconds */
    fake_fini(&fake);
}

static void another_rate_holds_from_the_next_item_on(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    fake_set_rate(&fake, 0.001);
    gx_pace pace;
    gx_pace_init(&pace, &fake.context);
    int64_t until = 0;
    assert_int_equal(ready_items(&pace), 1);
    assert_false(gx_pace_ready(&pace, &until));
    assert_int_equal(until, 1000 * GALE_SECOND);
    fake_set_rate(&fake, 10);
    assert_int_equal(ready_items(&pace), 1);
    assert_false(gx_pace_ready(&pace, &until));
    assert_int_equal(until, 100 * GALE_MILLISECOND);
    fake_set_rate(&fake, 0);
    assert_int_equal(ready_items(&pace), 100000);
    fake_set_rate(&fake, 1);
    gale_manual_clock_advance(fake.clock, GALE_SECOND);
    assert_int_equal(ready_items(&pace), 1);
    fake_fini(&fake);
}

static void a_pause_is_caught_up_with_for_a_tenth_of_a_second_only(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    fake_set_rate(&fake, 1000);
    gx_pace pace;
    gx_pace_init(&pace, &fake.context);
    assert_int_equal(ready_items(&pace), 1);
    gale_manual_clock_advance(fake.clock, 50 * GALE_MILLISECOND);
    assert_int_equal(ready_items(&pace), 50);
    gale_manual_clock_advance(fake.clock, 3600 * GALE_SECOND);
    assert_int_equal(ready_items(&pace), 101);
    fake_fini(&fake);
}

static void tiny_and_huge_rates_are_taken(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    gx_pace pace;
    fake_set_rate(&fake, 1e-9);
    gx_pace_init(&pace, &fake.context);
    assert_int_equal(ready_items(&pace), 1);
    fake_set_rate(&fake, 1e9);
    gx_pace_init(&pace, &fake.context);
    assert_int_equal(ready_items(&pace), 1);
    gale_manual_clock_advance(fake.clock, GALE_MICROSECOND);
    assert_int_equal(ready_items(&pace), 1000);
    fake_fini(&fake);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_rate_there_is_no_wait),
        cmocka_unit_test(items_fall_due_at_even_distances),
        cmocka_unit_test(another_rate_holds_from_the_next_item_on),
        cmocka_unit_test(a_pause_is_caught_up_with_for_a_tenth_of_a_second_only),
        cmocka_unit_test(tiny_and_huge_rates_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
