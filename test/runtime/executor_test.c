/* What executors tell each other. */
#include "runtime/rig.h"

#include "runtime/runtime.h"

enum { EXECUTORS = 3 };

static rig_spout spout;
static rig_bolt bolt;

static gx_executor *executor(const rig *r, uint32_t index) {
    return r->runtime->shared.executors[index];
}

/* Stepped to its rest, nobody's bell rung. */
static void make(rig *r) {
    memset(&spout, 0, sizeof spout);
    memset(&bolt, 0, sizeof bolt);
    bolt.on = rig_take;
    rig_init(r);
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "bolt", rig_simple(&bolt), EXECUTORS);
    gale_topology_subscribe(r->topology, "bolt", "spout", NULL, gale_shuffle());
    rig_make(r, EXECUTORS);
    rig_settle(r);
    for (uint32_t i = 0; i < EXECUTORS; i++) gx_store_relaxed(&executor(r, i)->bell.state, GX_BELL_AWAKE);
}

static bool was_rung(const rig *r, uint32_t index) {
    return gx_load_relaxed(&executor(r, index)->bell.state) == GX_BELL_RUNG;
}

static void a_task_that_is_congested_no_more_wakes_all_other_executors(void **state) {
    (void)state;
    rig r;
    make(&r);
    gx_task *task = r.runtime->shared.tasks[rig_task_number(&r, "bolt", 1)];
    uint32_t own = task->executor->index, epoch = gx_flow_epoch(&r.runtime->shared.flow);
    gx_executor_congest(task->executor, task, true); /* whom it gates finds out when it looks */
    for (uint32_t i = 0; i < EXECUTORS; i++) assert_false(was_rung(&r, i));
    assert_int_not_equal(gx_flow_epoch(&r.runtime->shared.flow), epoch);
    gx_executor_congest(task->executor, task, false);
    for (uint32_t i = 0; i < EXECUTORS; i++) assert_int_equal(was_rung(&r, i), i != own);
    rig_fini(&r);
}

static void waking_executors_wakes_every_one(void **state) {
    (void)state;
    rig r;
    make(&r);
    gx_executors_wake(&r.runtime->shared);
    for (uint32_t i = 0; i < EXECUTORS; i++) assert_true(was_rung(&r, i));
    rig_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_that_is_congested_no_more_wakes_all_other_executors),
        cmocka_unit_test(waking_executors_wakes_every_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
