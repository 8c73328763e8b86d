#include "engine/spout.h"

#include "engine/rig.h"
#include "engine/runtime.h"

#include <string.h>

/* A spout and a bolt that takes its tuples. */
typedef struct fixture {
    rig r;
    rig_spout s;
    rig_bolt b;
} fixture;

static fixture *setup(void) {
    static fixture f;
    memset(&f, 0, sizeof f);
    rig_init(&f.r);
    f.s.to_emit = 100;
    f.b.on = rig_take;
    gale_topology_add_spout(f.r.topology, "s", rig_spout_of(&f.s), 1);
    gale_topology_add_bolt(f.r.topology, "b", rig_simple(&f.b), 1);
    assert_int_equal(gale_topology_subscribe(f.r.topology, "b", "s", NULL, gale_shuffle()), 0);
    return &f;
}

/* Runs it to its rest. Do its emits take the shortest way? */
static bool is_quick(fixture *f) {
    rig_make(&f->r, 1);
    rig_settle(&f->r);
    assert_int_equal(f->s.acks, 100);
    const gx_task *task = f->r.runtime->shared.tasks[rig_task_number(&f->r, "s", 0)];
    return task->quick && task->streams[0].bare;
}

static void a_spout_whose_trees_are_kept_here_is_quick(void **state) {
    (void)state;
    fixture *f = setup();
    assert_true(is_quick(f));
    rig_fini(&f->r);
}

static void a_spout_whose_trees_acker_tasks_keep_is_not(void **state) {
    (void)state;
    fixture *f = setup();
    gale_topology_set(f->r.topology, NULL, "topology.acker.executors", gale_i64(1));
    assert_false(is_quick(f));
    rig_fini(&f->r);
}

static void a_spout_whose_tuples_are_retained_is_not(void **state) {
    (void)state;
    fixture *f = setup();
    gale_topology_set(f->r.topology, NULL, "topology.replay.attempts", gale_i64(3));
    assert_false(is_quick(f));
    rig_fini(&f->r);
}

static void a_spout_without_acks_is_quick(void **state) {
    (void)state;
    fixture *f = setup();
    gale_topology_set(f->r.topology, NULL, "topology.acker.executors", gale_i64(0));
    assert_true(is_quick(f));
    rig_fini(&f->r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spout_whose_trees_are_kept_here_is_quick),
        cmocka_unit_test(a_spout_whose_trees_acker_tasks_keep_is_not),
        cmocka_unit_test(a_spout_whose_tuples_are_retained_is_not),
        cmocka_unit_test(a_spout_without_acks_is_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
