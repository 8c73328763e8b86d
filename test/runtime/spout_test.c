#include "engine/spout.h"

#include "runtime/rig.h"
#include "runtime/runtime.h"

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

/* Emits one each second; it has to wait for the next, or cannot go on. */
typedef struct slow {
    rig r;
    rig_bolt b;
    int64_t begun, emitted;
    int says; /* GALE_NEXT_DONE: it emits what nobody takes */
} slow;

static int open_slow(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    slow *s = user;
    (void)out;
    s->begun = gale_context_now(context);
    *ret_self = s;
    return 0;
}

static int next_slow(void *self, gale_collector *out, gale_wait *wait) {
    slow *s = self;
    const gale_value value = gale_i64(++s->emitted);
    assert_true(gale_emit_tracked(out, s->says == GALE_NEXT_DONE, &value, 1, 1) >= 0);
    wait->until = s->begun + s->emitted * GALE_SECOND;
    return s->says == GALE_IO ? GALE_IO : GALE_NEXT_UNTIL;
}

/* Each is executed, if somebody takes it, and acked before the executor rests, though nothing else happens then. */
static void expect_answers(int says) {
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "slow", .open = open_slow, .next = next_slow };
    static const gale_output outputs[] = { { NULL, "number" }, { "nobody", "number" } };
    slow s = { .b.on = rig_take, .says = says };
    rig_init(&s.r);
    const gale_spout spout = { .size = sizeof spout, .ops = &ops, .user = &s, .outputs = outputs, .output_count = 2 };
    gale_topology_add_spout(s.r.topology, "s", spout, 1);
    gale_topology_add_bolt(s.r.topology, "b", rig_simple(&s.b), 1);
    assert_int_equal(gale_topology_subscribe(s.r.topology, "b", "s", NULL, gale_shuffle()), 0);
    rig_make(&s.r, 1);
    rig_settle(&s.r);
    for (int64_t i = 1; i < 5; i++) {
        assert_int_equal(s.emitted, i);
        assert_int_equal(s.b.seen, says == GALE_NEXT_DONE ? 0 : i);
        assert_int_equal(rig_stats(&s.r)->acked, i);
        rig_advance(&s.r, GALE_SECOND, GALE_SECOND);
    }
    rig_fini(&s.r);
}

static void what_a_spout_emits_before_it_waits_is_executed_at_once(void **state) {
    (void)state;
    expect_answers(GALE_NEXT_UNTIL);
}

static void what_a_spout_emits_before_it_fails_is_executed_at_once(void **state) {
    (void)state;
    expect_answers(GALE_IO);
}

static void what_nobody_takes_is_acked_before_its_spout_waits(void **state) {
    (void)state;
    expect_answers(GALE_NEXT_DONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spout_whose_trees_are_kept_here_is_quick),
        cmocka_unit_test(a_spout_whose_trees_acker_tasks_keep_is_not),
        cmocka_unit_test(a_spout_whose_tuples_are_retained_is_not),
        cmocka_unit_test(a_spout_without_acks_is_quick),
        cmocka_unit_test(what_a_spout_emits_before_it_waits_is_executed_at_once),
        cmocka_unit_test(what_a_spout_emits_before_it_fails_is_executed_at_once),
        cmocka_unit_test(what_nobody_takes_is_acked_before_its_spout_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
