/* What a spout does in `activate` and `deactivate` is work of the step, as what it does in `next`. */
#include "engine/rig.h"

typedef struct lamp {
    gale_collector *out;
    uint64_t acks;
} lamp;

static int open_lamp(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)context;
    lamp *self = user;
    self->out = out;
    *ret_self = self;
    return GALE_OK;
}

static void emit_one(void *self) {
    const gale_value value = gale_i64(1);
    assert_int_equal(gale_emit_tracked(((lamp *)self)->out, 0, &value, 1, 1), 1);
}

static int have_nothing_more(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)out, (void)wait;
    return GALE_NEXT_DONE;
}

static void count_ack(void *self, uint64_t message_id) {
    (void)message_id;
    ((lamp *)self)->acks++;
}

static void build(rig *r, lamp *spout, rig_bolt *bolt) {
    static const gale_spout_ops ops = { sizeof ops, "lamp", open_lamp, emit_one, have_nothing_more,
                                        count_ack,  NULL,   emit_one,  NULL };
    static const gale_output outputs[] = { { NULL, "value" } };
    rig_init(r);
    gale_topology_add_spout(
        r->topology, "lamp",
        (gale_spout){ .size = sizeof(gale_spout), .ops = &ops, .user = spout, .outputs = outputs, .output_count = 1 },
        1);
    gale_topology_add_bolt(r->topology, "bolt", rig_simple(bolt), 1);
    gale_topology_subscribe(r->topology, "bolt", "lamp", NULL, gale_shuffle());
    rig_make(r, 1);
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
    build(&r, &spout, &bolt);
    step_while_there_is_something_to_do(&r);
    assert_int_equal(bolt.seen, 1);
    assert_int_equal(spout.acks, 1);
    gale_runtime_deactivate(r.runtime);
    step_while_there_is_something_to_do(&r);
    assert_int_equal(bolt.seen, 2);
    assert_int_equal(spout.acks, 2);
    rig_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_spout_emits_when_it_is_activated_or_deactivated_is_not_left_lying),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
