/* What an application must not do to a runtime, and does: it is told, and nothing else happens. */
#include "runtime/rig.h"

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

/* --- The topology of a runtime --- */

static void count_free(void *user) {
    ++*(int *)user;
}

static void a_topology_that_runs_refuses_changes_and_keeps_no_grudge(void **state) {
    (void)state;
    rig r;
    int freed = 0;
    rig_bolt more = { .on = rig_take };
    gale_bolt bolt = rig_simple(&more);
    begin(&r);
    rig_make(&r, 1);
    assert_int_equal(gale_topology_add_bolt(r.topology, "more", bolt, 1), GALE_STATE);
    bolt.user = &freed;
    bolt.free_user = count_free;
    assert_int_equal(gale_topology_add_bolt(r.topology, "more", bolt, 1), GALE_STATE);
    gale_hook hook = { .size = sizeof hook, .user = &freed, .free_user = count_free };
    assert_int_equal(gale_topology_add_hook(r.topology, NULL, hook), GALE_STATE);
    assert_int_equal(freed, 2);
    assert_int_equal(gale_topology_subscribe(r.topology, "sink", "source", NULL, gale_all()), GALE_STATE);
    assert_int_equal(gale_topology_set(r.topology, NULL, "topology.tasks", gale_i64(3)), GALE_STATE);
    assert_int_equal(gale_topology_check(r.topology, NULL), GALE_OK);
    assert_int_equal(gale_runtime_free(r.runtime, -1, NULL), GALE_OK);
    assert_int_equal(gale_topology_set(r.topology, NULL, "topology.tasks", gale_i64(1)), GALE_OK);
    r.runtime = NULL;
    rig_fini(&r);
}

static void a_topology_that_is_freed_first_goes_with_its_last_runtime(void **state) {
    (void)state;
    rig r;
    int freed = 0;
    begin(&r);
    gale_hook hook = { .size = sizeof hook, .user = &freed, .free_user = count_free };
    assert_int_equal(gale_topology_add_hook(r.topology, NULL, hook), GALE_OK);
    rig_make(&r, 2);
    gale_topology_free(r.topology);
    assert_int_equal(freed, 0);
    rig_settle(&r);
    rig_drain(&r);
    assert_int_equal(rig_stats(&r)->acked, 10);
    r.topology = NULL;
    rig_fini(&r);
    assert_int_equal(freed, 1);
}

/* --- Calls from inside --- */

static gale_runtime *outer;
static int64_t answers[4];

static int call_back(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt, (void)tuple, (void)out;
    gale_open_tree tree = { .size = sizeof tree };
    answers[0] = gale_runtime_step(outer);
    answers[1] = gale_runtime_wait(outer, -1, NULL);
    answers[2] = gale_runtime_free(outer, -1, NULL);
    answers[3] = gale_runtime_open_trees(outer, &tree, 1, 0);
    return 0;
}

static void inside_topology(rig *r) {
    static rig_spout source;
    static rig_bolt sink;
    source = (rig_spout){ .to_emit = 1 };
    sink = (rig_bolt){ .on = call_back };
    rig_init(r);
    gale_topology_add_spout(r->topology, "source", rig_spout_of(&source), 1);
    gale_topology_add_bolt(r->topology, "sink", rig_simple(&sink), 1);
    gale_topology_subscribe(r->topology, "sink", "source", NULL, gale_shuffle());
    memset(answers, 0, sizeof answers);
}

static void a_component_that_steps_waits_for_or_frees_its_runtime_is_refused(void **state) {
    (void)state;
    rig r;
    inside_topology(&r);
    rig_make(&r, 1);
    outer = r.runtime;
    rig_settle(&r);
    for (int i = 0; i < 4; i++) assert_int_equal(answers[i], GALE_STATE);
    rig_drain(&r);
    assert_int_equal(rig_stats(&r)->acked, 1);
    rig_fini(&r);
}

static void it_is_refused_on_a_thread_too(void **state) {
    (void)state;
    rig r;
    inside_topology(&r);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.until_drained = true;
    options.executors = 1;
    rig_make_with(&r, options);
    outer = r.runtime;
    assert_int_equal(gale_runtime_run(r.runtime, NULL), GALE_OK);
    for (int i = 0; i < 4; i++) assert_int_equal(answers[i], GALE_STATE);
    rig_fini(&r);
}

/* --- Twice, and without end --- */

static void running_what_runs_is_refused_at_once(void **state) {
    (void)state;
    rig r;
    begin(&r);
    rig_make(&r, 1);
    assert_int_equal(gale_runtime_start(r.runtime, NULL), GALE_OK);
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_runtime_run(r.runtime, &error), GALE_STATE);
    assert_string_equal(error.text, "the runtime was started before");
    rig_fini(&r);
}

static void all_the_time_there_is_may_be_waited_for(void **state) {
    (void)state;
    rig r;
    begin(&r);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.until_drained = true;
    rig_make_with(&r, options);
    assert_int_equal(gale_runtime_start(r.runtime, NULL), GALE_OK);
    assert_int_equal(gale_runtime_wait(r.runtime, INT64_MAX, NULL), GALE_OK);
    assert_int_equal(gale_runtime_free(r.runtime, INT64_MAX, NULL), GALE_OK);
    r.runtime = NULL;
    rig_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_without_a_size_are_refused),
        cmocka_unit_test(an_option_of_a_newer_header_is_refused_only_when_it_is_set),
        cmocka_unit_test(handles_without_their_functions_are_refused),
        cmocka_unit_test(a_topology_that_runs_refuses_changes_and_keeps_no_grudge),
        cmocka_unit_test(a_topology_that_is_freed_first_goes_with_its_last_runtime),
        cmocka_unit_test(a_component_that_steps_waits_for_or_frees_its_runtime_is_refused),
        cmocka_unit_test(it_is_refused_on_a_thread_too),
        cmocka_unit_test(running_what_runs_is_refused_at_once),
        cmocka_unit_test(all_the_time_there_is_may_be_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
