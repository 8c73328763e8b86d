#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct options {
    size_t size;
    int32_t a;
    int32_t b;
} options;

static void options_of_null_are_zero(void **state) {
    (void)state;
    options to = { 1, 2, 3 };
    assert_int_equal(gx_options_take(&to, sizeof to, NULL, "x", NULL), 0);
    assert_int_equal(to.a, 0);
    assert_int_equal(to.size, sizeof to);
}

static void options_without_a_size_are_refused_and_leave_the_output(void **state) {
    (void)state;
    options to = { 1, 2, 3 }, from = { 0, 5, 6 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_options_take(&to, sizeof to, &from, "thing: options", &error), GALE_INVALID);
    assert_string_equal(error.text, "thing: options.size is 0; set it to the size of the structure");
    assert_int_equal(to.a, 2);
    from.size = sizeof from.size - 1;
    assert_int_equal(gx_options_take(&to, sizeof to, &from, "thing: options", &error), GALE_INVALID);
}

static void a_size_that_no_structure_has_is_refused_before_anything_is_read(void **state) {
    (void)state;
    options to = { 1, 2, 3 }, from = { SIZE_MAX, 5, 6 };
    assert_int_equal(gx_options_take(&to, sizeof to, &from, "thing", NULL), GALE_INVALID);
    from.size = GX_OPTIONS_SIZE_MAX + 1;
    assert_int_equal(gx_options_take(&to, sizeof to, &from, "thing", NULL), GALE_INVALID);
    assert_int_equal(to.a, 2);
}

static void options_of_an_older_caller_are_zero_behind_its_end(void **state) {
    (void)state;
    options to = { 1, 2, 3 }, from = { offsetof(options, b), 5, 6 };
    assert_int_equal(gx_options_take(&to, sizeof to, &from, "thing", NULL), 0);
    assert_int_equal(to.a, 5);
    assert_int_equal(to.b, 0);
    assert_int_equal(to.size, sizeof to);
}

static void an_unknown_option_of_a_newer_caller_is_refused_only_when_it_is_set(void **state) {
    (void)state;
    struct {
        options known;
        int64_t unknown;
    } from = { { sizeof from, 5, 6 }, 0 };
    options to = { 1, 2, 3 };
    assert_int_equal(gx_options_take(&to, sizeof to, &from, "thing", NULL), 0);
    assert_int_equal(to.b, 6);
    from.unknown = 1;
    assert_int_equal(gx_options_take(&to, sizeof to, &from, "thing", NULL), GALE_UNSUPPORTED);
}

static void handles_that_lack_a_function_are_refused(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gale_allocator allocator = *gale_allocator_default(), taken;
    allocator.release = NULL;
    assert_int_equal(gx_allocator_take(&taken, &allocator, "x", &error), GALE_INVALID);
    assert_string_equal(error.text, "x lacks a function: alloc, resize or release");
    gale_clock clock = { sizeof clock, NULL, NULL }, ticking;
    assert_int_equal(gx_clock_take(&ticking, &clock, "x", &error), GALE_INVALID);
    clock = gale_clock_wall();
    clock.size = 0;
    assert_int_equal(gx_clock_take(&ticking, &clock, "x", &error), GALE_INVALID);
}

static void handles_that_are_not_given_are_the_machines(void **state) {
    (void)state;
    gale_allocator taken;
    gale_clock ticking;
    assert_int_equal(gx_allocator_take(&taken, NULL, "x", NULL), 0);
    assert_true(taken.alloc == gale_allocator_default()->alloc);
    assert_int_equal(gx_clock_take(&ticking, NULL, "x", NULL), 0);
    assert_true(ticking.now == gale_clock_monotonic().now);
}

static void a_logger_without_a_function_is_silent(void **state) {
    (void)state;
    gale_logger given = { sizeof given, GALE_LOG_TRACE, NULL, NULL }, taken;
    assert_int_equal(gx_logger_take(&taken, &given, "x", NULL), 0);
    assert_false(gx_log_wanted(&taken, GALE_LOG_ERROR));
    taken.write(taken.user, GALE_LOG_ERROR, "nobody", "hears this");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_null_are_zero),
        cmocka_unit_test(options_without_a_size_are_refused_and_leave_the_output),
        cmocka_unit_test(a_size_that_no_structure_has_is_refused_before_anything_is_read),
        cmocka_unit_test(options_of_an_older_caller_are_zero_behind_its_end),
        cmocka_unit_test(an_unknown_option_of_a_newer_caller_is_refused_only_when_it_is_set),
        cmocka_unit_test(handles_that_lack_a_function_are_refused),
        cmocka_unit_test(handles_that_are_not_given_are_the_machines),
        cmocka_unit_test(a_logger_without_a_function_is_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
