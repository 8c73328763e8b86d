/* Messages about the same problem. */
#include "base/alike.h"

#include "harness/cm.h"

static void numbers_make_no_difference(void **state) {
    (void)state;
    assert_true(gx_alike("", ""));
    assert_true(gx_alike("timed out after 5000 ms", "timed out after 5001 ms"));
    assert_true(gx_alike("timed out after 999 ms", "timed out after 1,000.5 ms"));
    assert_true(gx_alike("7", "1234"));
    assert_true(gx_alike("3 of 4.", "30 of 4."));
}

static void anything_else_does(void **state) {
    (void)state;
    assert_false(gx_alike("", "a"));
    assert_false(gx_alike("refused", "refused 1"));
    assert_false(gx_alike("refused 1", "refused "));
    assert_false(gx_alike("5 ms", "5 s"));
    assert_false(gx_alike("1, 2", "1,2"));
    assert_false(gx_alike("a1", "ab"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_make_no_difference),
        cmocka_unit_test(anything_else_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
