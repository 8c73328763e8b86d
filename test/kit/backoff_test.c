#include "harness/fake_collector.h"

#include <gale/connect.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void pauses_double_up_to_half_a_minute_a_quarter_more_or_less(void **state) {
    fake_collector fake;
    gale_backoff backoff = { 0 };
    (void)state;
    fake_init(&fake);
    for (int64_t middle = GALE_SECOND / 10, i = 0; i < 100; i++) {
        int64_t pause = gale_backoff_next(&backoff, &fake.context);
        assert_in_range(pause, middle - middle / 4, middle + middle / 4);
        middle = 2 * middle < 30 * GALE_SECOND ? 2 * middle : 30 * GALE_SECOND;
    }
    fake_fini(&fake);
}

static void without_a_context_it_is_the_longest(void **state) {
    gale_backoff backoff = { 0 };
    (void)state;
    assert_int_equal(gale_backoff_next(&backoff, NULL), 30 * GALE_SECOND);
    assert_int_equal(gale_backoff_next(NULL, NULL), 30 * GALE_SECOND);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_double_up_to_half_a_minute_a_quarter_more_or_less),
        cmocka_unit_test(without_a_context_it_is_the_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
