#include "harness/fake_collector.h"
#include "kit/define.h"

#include <gale/kit.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

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
        cmocka_unit_test(a_long_report_is_cut),
        cmocka_unit_test(an_instance_comes_from_the_contexts_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
