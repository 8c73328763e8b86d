#include "engine/throttle.h"

#include "harness/cm.h"

#include <string.h>

static gx_throttle_reading reading_at(const gx_throttle *hold, int64_t now) {
    gx_throttle_reading reading;
    gx_throttle_read(hold, now, &reading);
    return reading;
}

static void expect(const gx_throttle *hold, int64_t now, uint64_t flow, uint64_t pending, uint16_t by,
                   uint64_t by_time) {
    gx_throttle_reading reading = reading_at(hold, now);
    assert_int_equal(reading.flow, flow);
    assert_int_equal(reading.pending, pending);
    assert_int_equal(reading.by, by);
    assert_int_equal(reading.by_time, by_time);
}

static void what_was_never_held_has_no_figures(void **state) {
    (void)state;
    gx_throttle hold = { 0 };
    expect(&hold, 1000, 0, 0, 0, 0);
    gx_throttle_set(&hold, GX_THROTTLE_NONE, 0, 500);
    expect(&hold, 1000, 0, 0, 0, 0);
}

static void a_hold_counts_while_it_lasts_and_when_it_has_ended(void **state) {
    (void)state;
    gx_throttle hold = { 0 };
    gx_throttle_set(&hold, GX_THROTTLE_FLOW, 3, 0);
    expect(&hold, 0, 0, 0, 0, 0);
    expect(&hold, 70, 70, 0, 3, 70);
    gx_throttle_set(&hold, GX_THROTTLE_FLOW, 3, 80); /* still the same */
    expect(&hold, 100, 100, 0, 3, 100);
    gx_throttle_set(&hold, GX_THROTTLE_NONE, 0, 100);
    expect(&hold, 1000, 100, 0, 3, 100);
}

static void reasons_are_counted_apart(void **state) {
    (void)state;
    gx_throttle hold = { 0 };
    gx_throttle_set(&hold, GX_THROTTLE_FLOW, 3, 10);
    gx_throttle_set(&hold, GX_THROTTLE_PENDING, 0, 30);
    expect(&hold, 35, 20, 5, 3, 20);
    gx_throttle_set(&hold, GX_THROTTLE_FLOW, 0, 40); /* by nobody in particular */
    expect(&hold, 90, 70, 10, 3, 20);
    gx_throttle_set(&hold, GX_THROTTLE_NONE, 0, 90);
    expect(&hold, 90, 70, 10, 3, 20);
}

static void what_nobody_in_particular_held_is_credited_to_nobody(void **state) {
    (void)state;
    gx_throttle hold = { 0 };
    gx_throttle_set(&hold, GX_THROTTLE_FLOW, 3, 0);
    gx_throttle_set(&hold, GX_THROTTLE_FLOW, 0, 20);
    gx_throttle_set(&hold, GX_THROTTLE_FLOW, 4, 100);
    expect(&hold, 105, 105, 0, 3, 20);
    gx_throttle_set(&hold, GX_THROTTLE_NONE, 0, 105);
    expect(&hold, 105, 105, 0, 3, 20);
}

static void the_one_that_held_longest_is_told(void **state) {
    (void)state;
    gx_throttle hold = { 0 };
    int64_t now = 0;
    for (int round = 0; round < 10; round++)
        for (uint16_t by = 1; by <= GX_HOLDERS; by++) {
            gx_throttle_set(&hold, GX_THROTTLE_FLOW, by, now);
            now += by == 5 ? 9 : by;
        }
    expect(&hold, now, 10 * (36 + 4), 0, 5, 90);
    gx_throttle_set(&hold, GX_THROTTLE_FLOW, 2, now);
    expect(&hold, now + 71, 400 + 71, 0, 2, 91);
}

static void of_more_holders_than_are_told_apart_the_longest_stays(void **state) {
    (void)state;
    gx_throttle hold = { 0 };
    int64_t now = 0;
    for (uint16_t by = 1; by <= 100; by++) {
        gx_throttle_set(&hold, GX_THROTTLE_FLOW, by, now);
        now += by == 40 ? 1000 : 2;
    }
    gx_throttle_set(&hold, GX_THROTTLE_NONE, 0, now);
    gx_throttle_reading reading = reading_at(&hold, now);
    assert_int_equal(reading.flow, now);
    assert_int_equal(reading.by, 40);
    assert_in_range(reading.by_time, 1000, 1020);
}

static void a_clock_that_is_read_early_takes_nothing_away(void **state) {
    (void)state;
    gx_throttle hold = { 0 };
    gx_throttle_set(&hold, GX_THROTTLE_PENDING, 0, 100);
    expect(&hold, 40, 0, 0, 0, 0); /* the reader's clock is a little behind */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_never_held_has_no_figures),
        cmocka_unit_test(a_hold_counts_while_it_lasts_and_when_it_has_ended),
        cmocka_unit_test(reasons_are_counted_apart),
        cmocka_unit_test(what_nobody_in_particular_held_is_credited_to_nobody),
        cmocka_unit_test(the_one_that_held_longest_is_told),
        cmocka_unit_test(of_more_holders_than_are_told_apart_the_longest_stays),
        cmocka_unit_test(a_clock_that_is_read_early_takes_nothing_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
