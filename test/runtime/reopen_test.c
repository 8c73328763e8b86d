/* Components that are told to open their files again (gale_runtime_reopen). */
#include "runtime/rig.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

static atomic_int told;
static int returns;

static int execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self, (void)tuple, (void)out;
    return 0;
}

static int reopen(void *self, gale_collector *out) {
    (void)self;
    told++;
    if (returns < 0) gale_report(out, "the folder is gone");
    return returns;
}

static const gale_bolt_ops with = { .size = sizeof with, .name = "with", .execute = execute, .reopen = reopen };
static const gale_bolt_ops without = { .size = offsetof(gale_bolt_ops, reopen), .name = "old", .execute = execute };

static void build(rig *r, rig_spout *spout, uint32_t tasks) {
    memset(spout, 0, sizeof *spout);
    told = 0;
    returns = 0;
    spout->to_emit = 10;
    rig_init(r);
    gale_topology_add_spout(r->topology, "s", rig_spout_of(spout), 1);
    gale_topology_add_bolt(r->topology, "with", (gale_bolt){ .size = sizeof(gale_bolt), .ops = &with }, tasks);
    gale_topology_add_bolt(r->topology, "old", (gale_bolt){ .size = sizeof(gale_bolt), .ops = &without }, tasks);
    gale_topology_subscribe(r->topology, "with", "s", NULL, gale_shuffle());
    assert_int_equal(gale_topology_subscribe(r->topology, "old", "s", NULL, gale_shuffle()), 0);
}

static void each_task_is_told_once_for_all_that_was_asked_meanwhile(void **state) {
    (void)state;
    static rig_spout spout;
    rig r;
    build(&r, &spout, 3);
    rig_make(&r, 2);
    rig_settle(&r);
    assert_int_equal(told, 0);
    gale_runtime_reopen(r.runtime);
    gale_runtime_reopen(r.runtime);
    rig_settle(&r);
    assert_int_equal(told, 3);
    gale_runtime_reopen(r.runtime);
    rig_settle(&r);
    assert_int_equal(told, 6);
    rig_drain(&r);
    gale_runtime_reopen(r.runtime);
    assert_int_equal(told, 6);
    rig_fini(&r);
}

static void an_error_is_counted_and_changes_nothing_else(void **state) {
    (void)state;
    static rig_spout spout;
    rig r;
    build(&r, &spout, 1);
    returns = GALE_IO;
    rig_make(&r, 1);
    gale_runtime_reopen(r.runtime);
    rig_settle(&r);
    assert_int_equal(told, 1);
    assert_int_equal(rig_task(&r, "with", 0).errors, 1);
    rig_drain(&r);
    assert_int_equal(spout.acks, 10);
    rig_fini(&r);
}

static void no_runtime_has_no_files(void **state) {
    (void)state;
    gale_runtime_reopen(NULL);
}

static void executors_that_sleep_are_woken_for_it(void **state) {
    (void)state;
    static rig_spout spout;
    rig r;
    build(&r, &spout, 4);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_runtime *runtime;
    options.executors = 3;
    assert_int_equal(gale_runtime_new(r.topology, &options, &runtime, NULL), 0);
    assert_int_equal(gale_runtime_start(runtime, NULL), 0);
    for (int round = 1; round <= 20; round++) {
        gale_runtime_reopen(runtime);
        for (int i = 0; i < 120000 && told < 4 * round; i++) nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
        assert_int_equal(told, 4 * round);
    }
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    gale_topology_free(r.topology);
    gale_manual_clock_free(r.clock);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_is_told_once_for_all_that_was_asked_meanwhile),
        cmocka_unit_test(an_error_is_counted_and_changes_nothing_else),
        cmocka_unit_test(no_runtime_has_no_files),
        cmocka_unit_test(executors_that_sleep_are_woken_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
