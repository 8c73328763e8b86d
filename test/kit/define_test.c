#include "harness/fake_collector.h"
#include "kit/define.h"

#include <gale/kit.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct options {
    size_t size;
    int32_t a;
    int32_t b;
} options;

static void options_of_null_are_zero(void **state) {
    (void)state;
    options to = { 1, 2, 3 };
    assert_int_equal(gx_define_options(&to, sizeof to, NULL, "x", NULL), 0);
    assert_int_equal(to.a, 0);
}

static void options_without_a_size_are_refused_and_leave_the_output(void **state) {
    (void)state;
    options to = { 1, 2, 3 }, from = { 0, 5, 6 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_define_options(&to, sizeof to, &from, "thing", &error), GALE_INVALID);
    assert_string_equal(error.text, "thing: options.size is 0; set it to the size of the structure");
    assert_int_equal(to.a, 2);
}

static void options_of_an_older_caller_are_zero_behind_its_end(void **state) {
    (void)state;
    options to = { 1, 2, 3 }, from = { offsetof(options, b), 5, 6 };
    assert_int_equal(gx_define_options(&to, sizeof to, &from, "thing", NULL), 0);
    assert_int_equal(to.a, 5);
    assert_int_equal(to.b, 0);
}

static void an_unknown_option_of_a_newer_caller_is_refused_only_when_it_is_set(void **state) {
    (void)state;
    struct {
        options known;
        int64_t unknown;
    } from = { { sizeof from, 5, 6 }, 0 };
    options to = { 1, 2, 3 };
    assert_int_equal(gx_define_options(&to, sizeof to, &from, "thing", NULL), 0);
    assert_int_equal(to.b, 6);
    from.unknown = 1;
    assert_int_equal(gx_define_options(&to, sizeof to, &from, "thing", NULL), GALE_UNSUPPORTED);
}

static void a_long_report_is_cut(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    char text[700];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    gx_define_report(&fake.collector, "%s", text);
    assert_int_equal(strlen(fake_text(&fake.reports)), 501);
    fake_fini(&fake);
}

static void an_instance_comes_from_the_contexts_allocator(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    gx_instance *instance = gx_define_instance(&fake.context, sizeof *instance + 100);
    assert_int_equal(fake.blocks, 1);
    gx_define_instance_free(instance);
    gx_define_instance_free(NULL);
    fake.fail_at = fake.allocations + 1;
    assert_null(gx_define_instance(&fake.context, sizeof *instance));
    fake_fini(&fake);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_of_null_are_zero),
        cmocka_unit_test(options_without_a_size_are_refused_and_leave_the_output),
        cmocka_unit_test(options_of_an_older_caller_are_zero_behind_its_end),
        cmocka_unit_test(an_unknown_option_of_a_newer_caller_is_refused_only_when_it_is_set),
        cmocka_unit_test(a_long_report_is_cut),
        cmocka_unit_test(an_instance_comes_from_the_contexts_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
