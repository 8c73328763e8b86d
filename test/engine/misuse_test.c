/* What an application must not do to a runtime, and does: it is told, and nothing else happens. */
#include "engine/rig.h"

#include <string.h>

static int make(rig *r, const gale_runtime_options *options, gale_error *error) {
    return gale_runtime_new(r->topology, options, &r->runtime, error);
}

static void begin(rig *r) {
    static rig_spout source;
    static rig_bolt sink;
    source = (rig_spout){ .to_emit = 10 };
    sink = (rig_bolt){ .on = rig_take };
    rig_init(r);
    gale_topology_add_spout(r->topology, "source", rig_spout_of(&source), 1);
    gale_topology_add_bolt(r->topology, "sink", rig_simple(&sink), 1);
    gale_topology_subscribe(r->topology, "sink", "source", NULL, gale_shuffle());
}

static void options_without_a_size_are_refused(void **state) {
    (void)state;
    rig r;
    begin(&r);
    gale_error error = GALE_ERROR_INIT;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.size = 0;
    assert_int_equal(make(&r, &options, &error), GALE_INVALID);
    assert_string_equal(error.text, "runtime: options.size is 0; set it to the size of the structure");
    options.size = SIZE_MAX;
    assert_int_equal(make(&r, &options, &error), GALE_INVALID);
    assert_null(r.runtime);
    rig_fini(&r);
}

static void an_option_of_a_newer_header_is_refused_only_when_it_is_set(void **state) {
    (void)state;
    rig r;
    begin(&r);
    struct {
        gale_runtime_options known;
        int64_t unknown;
    } options = { GALE_RUNTIME_OPTIONS_INIT, 1 };
    options.known.size = sizeof options;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(make(&r, &options.known, &error), GALE_UNSUPPORTED);
    assert_string_equal(error.text, "runtime: options: something is set that gale " GALE_VERSION_TEXT " does not know");
    options.unknown = 0;
    assert_int_equal(make(&r, &options.known, &error), GALE_OK);
    rig_fini(&r);
}

static void handles_without_their_functions_are_refused(void **state) {
    (void)state;
    rig r;
    begin(&r);
    gale_error error = GALE_ERROR_INIT;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_clock clock = { sizeof clock, NULL, NULL };
    options.clock = &clock;
    assert_int_equal(make(&r, &options, &error), GALE_INVALID);
    assert_string_equal(error.text, "runtime: options.clock has no function");
    gale_allocator allocator = *gale_allocator_default();
    allocator.alloc = NULL;
    options.clock = NULL;
    options.allocator = &allocator;
    assert_int_equal(make(&r, &options, &error), GALE_INVALID);
    gale_logger logger = { 0, GALE_LOG_INFO, NULL, NULL };
    options.allocator = NULL;
    options.logger = &logger;
    assert_int_equal(make(&r, &options, &error), GALE_INVALID);
    rig_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_without_a_size_are_refused),
        cmocka_unit_test(an_option_of_a_newer_header_is_refused_only_when_it_is_set),
        cmocka_unit_test(handles_without_their_functions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
