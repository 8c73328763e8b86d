/* Many at once, for components that want it: acks, tuples to execute, emits (gale/component.h). */
#include "engine/rig.h"

#include <string.h>

/* --- Acks --- */

typedef struct fixture {
    rig r;
    rig_spout s;
    rig_bolt b;
} fixture;

/* A spout that hears of acks at once, and a bolt that does `on`. */
static fixture *setup(int (*on)(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out)) {
    static fixture f;
    memset(&f, 0, sizeof f);
    rig_init(&f.r);
    f.s.to_emit = 100;
    f.s.at_once = true;
    f.b.on = on;
    gale_topology_add_spout(f.r.topology, "s", rig_spout_of(&f.s), 1);
    gale_topology_add_bolt(f.r.topology, "b", rig_simple(&f.b), 1);
    assert_int_equal(gale_topology_subscribe(f.r.topology, "b", "s", NULL, gale_shuffle()), 0);
    return &f;
}

static void each_was_acked_once(const fixture *f, uint64_t count) {
    assert_int_equal(f->s.acks, count);
    for (uint64_t i = 0; i < count; i++) assert_int_equal(f->s.acked[i], 1);
}

static void a_spout_that_has_ack_batch_is_told_of_many_acks_in_one_call(void **state) {
    (void)state;
    fixture *f = setup(rig_take);
    rig_make(&f->r, 1);
    rig_settle(&f->r);
    each_was_acked_once(f, 100);
    assert_true(f->s.batches < f->s.acks);
    assert_true(f->s.batch_most > 1);
    rig_fini(&f->r);
}

static void on_ack(void *user, const gale_context *task, uint64_t id) {
    uint64_t *told = user;
    (void)task;
    told[id]++;
}

static void hooks_hear_of_each_ack_before_a_spout_is_told_of_many(void **state) {
    (void)state;
    uint64_t told[100] = { 0 };
    fixture *f = setup(rig_take);
    const gale_hook hook = { .size = sizeof hook, .user = told, .ack = on_ack };
    assert_true(gale_topology_add_hook(f->r.topology, "s", hook) >= 0);
    rig_make(&f->r, 1);
    rig_settle(&f->r);
    each_was_acked_once(f, 100);
    for (size_t i = 0; i < 100; i++) assert_int_equal(told[i], 1);
    assert_true(f->s.batch_most > 1);
    rig_fini(&f->r);
}

static int refuse_every_other(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    bolt->seen++;
    return gale_tuple_value(tuple, 0).as.i64 % 2 ? GALE_COMPONENT : 0;
}

static void acks_between_failures_come_by_ack_batch_too(void **state) {
    (void)state;
    fixture *f = setup(refuse_every_other);
    rig_make(&f->r, 1);
    rig_settle(&f->r);
    assert_int_equal(f->s.acks, 50);
    assert_int_equal(f->s.fails, 50);
    for (size_t i = 0; i < 100; i++) assert_int_equal(f->s.acked[i], i % 2 == 0);
    rig_fini(&f->r);
}

static void acks_of_trees_on_acker_tasks_come_by_ack_batch_too(void **state) {
    (void)state;
    fixture *f = setup(rig_take);
    gale_topology_set(f->r.topology, NULL, "topology.acker.executors", gale_i64(2));
    rig_make(&f->r, 2);
    rig_settle(&f->r);
    each_was_acked_once(f, 100);
    assert_true(f->s.batches > 0);
    rig_fini(&f->r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spout_that_has_ack_batch_is_told_of_many_acks_in_one_call),
        cmocka_unit_test(hooks_hear_of_each_ack_before_a_spout_is_told_of_many),
        cmocka_unit_test(acks_between_failures_come_by_ack_batch_too),
        cmocka_unit_test(acks_of_trees_on_acker_tasks_come_by_ack_batch_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
