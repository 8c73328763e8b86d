#include "engine/shares.h"

#include "harness/cm.h"

static gx_shares_view view_of(const gx_shares *shares) {
    gx_shares_view view;
    assert_true(gx_shares_read(shares, &view));
    return view;
}

static void before_its_first_step_an_executor_has_spent_nothing(void **state) {
    (void)state;
    gx_shares shares = { 0 };
    gx_shares_init(&shares);
    assert_int_equal(view_of(&shares).kind, GX_SHARE_NONE);
    gx_shares_begin(&shares, 500);
    for (int kind = 0; kind < GX_SHARE_NONE; kind++) assert_int_equal(view_of(&shares).spent[kind], 0);
    assert_int_equal(view_of(&shares).since, 500);
}

static void a_steps_time_is_of_its_kind_until_the_next_one_begins(void **state) {
    static const gx_share kinds[] = { GX_SHARE_BUSY, GX_SHARE_HELD, GX_SHARE_WAITING, GX_SHARE_BUSY, GX_SHARE_NONE };
    (void)state;
    gx_shares shares = { 0 };
    gx_shares_init(&shares);
    for (int64_t i = 0; i < 5; i++) {
        gx_shares_begin(&shares, 1000 + (1 << (2 * i)));
        gx_shares_end(&shares, kinds[i]);
    }
    gx_shares_begin(&shares, 9000);
    assert_int_equal(view_of(&shares).spent[GX_SHARE_BUSY], 3 + 192);
    assert_int_equal(view_of(&shares).spent[GX_SHARE_HELD], 12);
    assert_int_equal(view_of(&shares).spent[GX_SHARE_WAITING], 48);
}

static void what_did_nothing_is_known_at_its_end_and_what_did_something_with_the_next_step(void **state) {
    (void)state;
    gx_shares shares = { 0 };
    gx_shares_init(&shares);
    gx_shares_begin(&shares, 10);
    assert_int_equal(view_of(&shares).kind, GX_SHARE_BUSY);
    gx_shares_end(&shares, GX_SHARE_HELD);
    assert_int_equal(view_of(&shares).kind, GX_SHARE_HELD);
    gx_shares_begin(&shares, 20);
    assert_int_equal(view_of(&shares).kind, GX_SHARE_BUSY);
    assert_int_equal(view_of(&shares).spent[GX_SHARE_HELD], 10);
}

static void a_clock_that_goes_back_takes_nothing_away(void **state) {
    (void)state;
    gx_shares shares = { 0 };
    gx_shares_init(&shares);
    gx_shares_begin(&shares, 100);
    gx_shares_end(&shares, GX_SHARE_BUSY);
    gx_shares_begin(&shares, 50);
    assert_int_equal(view_of(&shares).spent[GX_SHARE_BUSY], 0);
}

static void what_was_told_is_the_least_from_then_on(void **state) {
    (void)state;
    gx_shares shares = { 0 };
    gx_shares_init(&shares);
    assert_int_equal(gx_shares_told(&shares, GX_SHARE_HELD, 0), 0);
    assert_int_equal(gx_shares_told(&shares, GX_SHARE_HELD, 70), 70);
    assert_int_equal(gx_shares_told(&shares, GX_SHARE_HELD, 60), 70);
    assert_int_equal(gx_shares_told(&shares, GX_SHARE_BUSY, 60), 60);
    assert_int_equal(gx_shares_told(&shares, GX_SHARE_HELD, 71), 71);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_its_first_step_an_executor_has_spent_nothing),
        cmocka_unit_test(a_steps_time_is_of_its_kind_until_the_next_one_begins),
        cmocka_unit_test(what_did_nothing_is_known_at_its_end_and_what_did_something_with_the_next_step),
        cmocka_unit_test(a_clock_that_goes_back_takes_nothing_away),
        cmocka_unit_test(what_was_told_is_the_least_from_then_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
