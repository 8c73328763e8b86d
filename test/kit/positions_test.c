#include "harness/fake_collector.h"

#include <gale/connect.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gale_positions *positions;
} fixture;

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    f->positions = gale_positions_new(&f->fake.context);
    assert_non_null(f->positions);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    gale_positions_free(f->positions);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

static int64_t safe(const fixture *f) {
    int64_t place = -1;
    int rc = gale_positions_safe(f->positions, &place);
    assert_true(rc == 0 || rc == GALE_NOT_FOUND);
    return place;
}

static void nothing_is_safe_before_something_was_done(void **state) {
    fixture *f = *state;
    assert_int_equal(safe(f), -1);
    assert_int_equal(gale_positions_begin(f->positions, 7), 0);
    assert_int_equal(safe(f), -1);
    assert_int_equal(gale_positions_count(f->positions), 1);
}

static void all_before_the_oldest_that_is_open_is_safe(void **state) {
    fixture *f = *state;
    for (int64_t place = 10; place < 14; place++) assert_int_equal(gale_positions_begin(f->positions, place), 0);
    assert_int_equal(gale_positions_done(f->positions, 11), 0);
    assert_int_equal(gale_positions_done(f->positions, 12), 0);
    assert_int_equal(safe(f), -1);
    assert_int_equal(gale_positions_done(f->positions, 10), 0);
    assert_int_equal(safe(f), 12);
    assert_int_equal(gale_positions_count(f->positions), 1);
    assert_int_equal(gale_positions_done(f->positions, 13), 0);
    assert_int_equal(safe(f), 13);
    assert_int_equal(gale_positions_count(f->positions), 0);
}

static void places_may_have_gaps(void **state) {
    fixture *f = *state;
    assert_int_equal(gale_positions_begin(f->positions, -5), 0);
    assert_int_equal(gale_positions_begin(f->positions, 1000), 0);
    assert_int_equal(gale_positions_done(f->positions, 3), GALE_NOT_FOUND);
    assert_int_equal(gale_positions_done(f->positions, -5), 0);
    assert_int_equal(safe(f), -5);
    assert_int_equal(gale_positions_done(f->positions, 1000), 0);
    assert_int_equal(safe(f), 1000);
}

static void what_comes_again_is_not_begun_again(void **state) {
    fixture *f = *state;
    assert_int_equal(gale_positions_begin(f->positions, 3), 0);
    assert_int_equal(gale_positions_begin(f->positions, 3), GALE_EXISTS);
    assert_int_equal(gale_positions_done(f->positions, 3), 0);
    assert_int_equal(gale_positions_done(f->positions, 3), GALE_NOT_FOUND);
    assert_int_equal(gale_positions_begin(f->positions, 2), GALE_EXISTS);
    assert_int_equal(gale_positions_begin(f->positions, 4), 0);
}

/* Against a plain model, while the ring grows and goes around. */
static void many_in_any_order_are_as_a_plain_list_says(void **state) {
    enum { MANY = 5000, SPAN = 200 };
    fixture *f = *state;
    static bool done[MANY];
    gx_random random = gx_random_new(4, 1);
    int64_t begun = 0, oldest = 0;
    for (int64_t i = 0; i < MANY; i++) done[i] = false;
    while (oldest < MANY) {
        if (begun < MANY && begun - oldest < SPAN && gx_random_below(&random, 2)) {
            assert_int_equal(gale_positions_begin(f->positions, begun++), 0);
            continue;
        }
        if (begun == oldest) continue;
        int64_t at = oldest + gx_random_below(&random, (uint32_t)(begun - oldest));
        assert_int_equal(gale_positions_done(f->positions, at), done[at] ? GALE_NOT_FOUND : 0);
        done[at] = true;
        while (oldest < begun && done[oldest]) oldest++;
        assert_int_equal(safe(f), oldest - 1);
    }
    assert_int_equal(gale_positions_count(f->positions), 0);
}

static void it_may_start_at_a_place_below_which_all_is_done(void **state) {
    fixture *f = *state;
    int64_t place;
    assert_int_equal(gale_positions_start(f->positions, 7), 0);
    assert_int_equal(safe(f), 6);
    assert_int_equal(gale_positions_start(f->positions, 8), GALE_STATE);
    assert_int_equal(gale_positions_begin(f->positions, 6), GALE_EXISTS);
    assert_int_equal(gale_positions_begin(f->positions, 7), 0);
    assert_int_equal(gale_positions_safe(f->positions, &place), 0);
    assert_int_equal(place, 6);
    assert_int_equal(gale_positions_done(f->positions, 7), 0);
    assert_int_equal(safe(f), 7);
    assert_int_equal(gale_positions_start(NULL, 1), GALE_INVALID);
}

static void without_memory_a_place_is_not_begun(void **state) {
    fixture *f = *state;
    f->fake.fail_at = f->fake.allocations + 1;
    assert_int_equal(gale_positions_begin(f->positions, 1), GALE_NO_MEMORY);
    assert_int_equal(gale_positions_begin(f->positions, 1), 0);
}

static void what_is_not_there_is_refused(void **state) {
    fixture *f = *state;
    int64_t place;
    assert_null(gale_positions_new(NULL));
    gale_positions_free(NULL);
    assert_int_equal(gale_positions_begin(NULL, 1), GALE_INVALID);
    assert_int_equal(gale_positions_done(NULL, 1), GALE_INVALID);
    assert_int_equal(gale_positions_safe(NULL, &place), GALE_INVALID);
    assert_int_equal(gale_positions_safe(f->positions, NULL), GALE_INVALID);
    assert_int_equal(gale_positions_count(NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_safe_before_something_was_done, setup, teardown),
        cmocka_unit_test_setup_teardown(all_before_the_oldest_that_is_open_is_safe, setup, teardown),
        cmocka_unit_test_setup_teardown(places_may_have_gaps, setup, teardown),
        cmocka_unit_test_setup_teardown(what_comes_again_is_not_begun_again, setup, teardown),
        cmocka_unit_test_setup_teardown(many_in_any_order_are_as_a_plain_list_says, setup, teardown),
        cmocka_unit_test_setup_teardown(it_may_start_at_a_place_below_which_all_is_done, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_a_place_is_not_begun, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
