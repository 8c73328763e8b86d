/* What a spout does in `activate` and `deactivate` is work of the step, as what it does in `next`. */
#include "runtime/rig.h"

typedef struct lamp {
    gale_collector *out;
    gale_runtime *off_in_open; /* deactivated as it opens, after a tuple */
    bool ends;                 /* the next call of deactivate is that of the end, where nothing is emitted any more */
    uint64_t acks;
} lamp;

static void emit_one(void *self) {
    const gale_value value = gale_i64(1);
    assert_int_equal(gale_emit_tracked(((lamp *)self)->out, 0, &value, 1, 1), 1);
}

static void emit_one_more(void *self) {
    const gale_value value = gale_i64(2);
    int rc = gale_emit_tracked(((lamp *)self)->out, 0, &value, 1, 1);
    assert_int_equal(rc, ((lamp *)self)->ends ? GALE_STOPPED : 1);
}

static int open_lamp(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)context;
    lamp *self = user;
    self->out = out;
    *ret_self = self;
    if (!self->off_in_open) return GALE_OK;
    emit_one(self);
    gale_runtime_deactivate(self->off_in_open);
    return GALE_OK;
}

static int have_nothing_more(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)out, (void)wait;
    return GALE_NEXT_DONE;
}

static void count_ack(void *self, uint64_t message_id) {
    (void)message_id;
    ((lamp *)self)->acks++;
}

static void build(rig *r, lamp *spout, rig_bolt *bolt, uint32_t executors) {
    static const gale_spout_ops ops = { .size = sizeof ops,
                                        .name = "lamp",
                                        .open = open_lamp,
                                        .activate = emit_one,
                                        .next = have_nothing_more,
                                        .ack = count_ack,
                                        .deactivate = emit_one_more };
    static const gale_output outputs[] = { { NULL, "value" } };
    rig_init(r);
    gale_topology_add_spout(
        r->topology, "lamp",
        (gale_spout){ .size = sizeof(gale_spout), .ops = &ops, .user = spout, .outputs = outputs, .output_count = 1 },
        1);
    gale_bolt last = rig_simple(bolt);
    gale_setting place = { "gale.executor", gale_i64(executors - 1) };
    last.settings = &place;
    last.setting_count = 1;
    gale_topology_add_bolt(r->topology, "bolt", last, 1);
    gale_topology_subscribe(r->topology, "bolt", "lamp", NULL, gale_shuffle());
    rig_make(r, executors);
}

/* As a caller does that has nothing else to wait for. */
static void step_while_there_is_something_to_do(rig *r) {
    while (gale_runtime_step(r->runtime) > 0) {
    }
}

static void what_a_spout_emits_when_it_is_activated_or_deactivated_is_not_left_lying(void **state) {
    (void)state;
    rig r;
    lamp spout = { 0 };
    rig_bolt bolt = { .on = rig_take };
    build(&r, &spout, &bolt, 1);
    step_while_there_is_something_to_do(&r);
    assert_int_equal(bolt.seen, 1);
    assert_int_equal(spout.acks, 1);
    gale_runtime_deactivate(r.runtime);
    step_while_there_is_something_to_do(&r);
    assert_int_equal(bolt.seen, 2);
    assert_int_equal(spout.acks, 2);
    rig_fini(&r);
}

static void a_run_that_is_deactivated_while_it_opens_has_nothing_to_do_until_it_is_activated(void **state) {
    (void)state;
    rig r;
    lamp spout = { 0 };
    rig_bolt bolt = { .on = rig_take };
    build(&r, &spout, &bolt, 2); /* the second executor sees that the run is inactive, and opens all the same */
    spout.off_in_open = r.runtime;
    int64_t steps = 0;
    while (gale_runtime_step(r.runtime) > 0) assert_true(++steps < 100);
    assert_int_equal(rig_stats(&r)->phase, GALE_PHASE_RUNNING);
    assert_int_equal(bolt.seen, 1); /* of open; the spout was not activated */
    gale_runtime_activate(r.runtime);
    step_while_there_is_something_to_do(&r);
    assert_int_equal(spout.acks, bolt.seen);
    assert_int_equal(bolt.seen, 2); /* of open and of activate */
    spout.ends = true;
    rig_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_spout_emits_when_it_is_activated_or_deactivated_is_not_left_lying),
        cmocka_unit_test(a_run_that_is_deactivated_while_it_opens_has_nothing_to_do_until_it_is_activated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
