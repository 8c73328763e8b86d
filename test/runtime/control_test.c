/* The phases: who must have shown what before the run moves on. Executors are stepped one by one, some of them late. */
#include "runtime/rig.h"

#include "runtime/control.h"
#include "runtime/drain_watch.h"
#include "runtime/runtime.h"
#include "runtime/step.h"

#include <gale/remote.h>
#include <string.h>

static rig_spout spout;
static rig_bolt first, last;
static gale_remote *remote_;
static uint64_t heard;

static int open_remote(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)context;
    *ret_self = user;
    return gale_remote_open(out, &remote_);
}

static int nothing_more(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)out, (void)wait;
    return GALE_NEXT_DONE;
}

static void hear(void *self, uint64_t id) {
    (void)self, (void)id;
    heard++;
}

static void hear_failure(void *self, uint64_t id, const gale_failure *failure) {
    (void)failure;
    hear(self, id);
}

/* A spout of one's own thread, on executor 1; and another on executor 0, so that both have work. */
static void build(rig *r) {
    static const gale_spout_ops ops = { .size = sizeof ops,
                                        .name = "remote",
                                        .open = open_remote,
                                        .next = nothing_more,
                                        .ack = hear,
                                        .fail = hear_failure };
    static const gale_output outputs[] = { { NULL, "number, key" } };
    gale_spout other = { .size = sizeof other, .ops = &ops, .user = &heard, .outputs = outputs, .output_count = 1 };
    memset(&spout, 0, sizeof spout);
    memset(&first, 0, sizeof first);
    memset(&last, 0, sizeof last);
    heard = 0;
    first.on = last.on = rig_take;
    rig_init(r);
    gale_topology_add_spout(r->topology, "near", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "first", rig_simple(&first), 1);
    gale_topology_subscribe(r->topology, "first", "near", NULL, gale_shuffle());
    gale_topology_add_spout(r->topology, "other", other, 1);
    gale_topology_add_bolt(r->topology, "last", rig_simple(&last), 1);
    gale_topology_subscribe(r->topology, "last", "other", NULL, gale_shuffle());
    gale_topology_set(r->topology, "near", "gale.executor", gale_i64(0));
    gale_topology_set(r->topology, "first", "gale.executor", gale_i64(0));
    gale_topology_set(r->topology, "other", "gale.executor", gale_i64(1));
    gale_topology_set(r->topology, "last", "gale.executor", gale_i64(1));
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 2;
    options.until_drained = true;
    rig_make_with(r, options);
}

static gx_shared *shared_of(const rig *r) {
    return &r->runtime->shared;
}

static gx_executor *executor(const rig *r, uint32_t index) {
    gx_executor *ex = shared_of(r)->executors[index];
    ex->thread = gx_thread_self();
    return ex;
}

static void control(rig *r, int times) {
    while (times-- > 0) gx_control_step(&r->runtime->control, shared_of(r));
}

/* Steps all until the run drains, and nobody has seen it yet. */
static void step_until_draining(rig *r) {
    gx_executors_move(shared_of(r), GALE_PHASE_NEW, GALE_PHASE_OPENING);
    for (int steps = 0; gx_phase(shared_of(r)) < GALE_PHASE_DRAINING; steps++) {
        if (steps > 1000) fail_msg("the run does not begin to drain");
        for (uint32_t i = 0; i < 2; i++) gx_step(executor(r, i));
        control(r, 1);
    }
    assert_int_equal(gx_phase(shared_of(r)), GALE_PHASE_DRAINING);
}

static int emit(uint64_t id) {
    gale_value values[] = { gale_i64((int64_t)id), gale_i64(0) };
    return gale_remote_emit_tracked(remote_, 0, values, 2, id);
}

static void end(rig *r) {
    for (int steps = 0; gale_runtime_step(r->runtime) != GALE_STOPPED; steps++)
        if (steps > 1000) fail_msg("the run does not end: %s", gale_phase_name(gx_phase(shared_of(r))));
    rig_fini(r);
    gale_remote_close(remote_);
}

static void no_executor_is_quiet_in_a_phase_that_it_has_not_seen(void **state) {
    (void)state;
    rig r;
    build(&r);
    step_until_draining(&r);
    control(&r, 5);
    assert_int_equal(gx_phase(shared_of(&r)), GALE_PHASE_DRAINING);
    for (int i = 0; i < 5; i++) { /* executor 0 has, 1 is late */
        gx_step(executor(&r, 0));
        control(&r, 2);
    }
    assert_int_equal(gx_phase(shared_of(&r)), GALE_PHASE_DRAINING);
    end(&r);
}

static void what_a_remote_emits_before_a_late_executor_sees_the_drain_is_carried_out(void **state) {
    (void)state;
    rig r;
    build(&r);
    step_until_draining(&r);
    gx_step(executor(&r, 0));
    control(&r, 5);
    uint64_t accepted = 0;
    while (accepted < 10 && emit(accepted) == 0) accepted++;
    assert_int_equal(accepted, 10);
    gx_step(executor(&r, 1));
    assert_int_equal(emit(10), GALE_STOPPED);
    end(&r);
    assert_int_equal(heard, accepted);
    assert_int_equal(last.seen, accepted);
}

/* An ack of nobody's tuple, to the inbox of executor 1. */
static int put_for_a_bolt(const rig *r, uint64_t holds) {
    gx_command nothing = { .task = executor(r, 1)->tasks[0]->id, .kind = GX_COMMAND_ACK, .id = 1 };
    gx_atomic64 held = holds;
    return gx_inbox_put(executor(r, 1)->inbox, GX_INBOX_BOLTS, nothing, &(gx_command_content){ 0 }, &held);
}

static void step_while(rig *r, int32_t phase) {
    for (int steps = 0; gx_phase(shared_of(r)) == phase; steps++) {
        if (steps > 1000) fail_msg("the run does not leave its phase");
        for (uint32_t i = 0; i < 2; i++) gx_step(executor(r, i));
        control(r, 1);
    }
}

static void a_bolts_remote_that_holds_nothing_cannot_keep_a_drain_from_ending(void **state) {
    (void)state;
    rig r;
    build(&r);
    step_until_draining(&r);
    assert_int_equal(put_for_a_bolt(&r, 0), 0);
    for (uint32_t i = 0; i < 2; i++) gx_step(executor(&r, i));
    assert_int_equal(put_for_a_bolt(&r, 0), GALE_AGAIN);
    assert_int_equal(put_for_a_bolt(&r, 1), 0);
    end(&r);
}

static void before_a_drained_run_closes_bolts_remotes_are_refused_and_what_they_put_is_carried_out(void **state) {
    (void)state;
    rig r;
    build(&r);
    step_until_draining(&r);
    step_while(&r, GALE_PHASE_DRAINING);
    uint32_t count = shared_of(&r)->plan->component_count;
    while (gx_load_acquire(&shared_of(&r)->finish_rank) < count) {
        for (uint32_t i = 0; i < 2; i++) gx_step(executor(&r, i));
        control(&r, 1);
    }
    assert_int_equal(put_for_a_bolt(&r, 1), 0); /* executor 1 has not seen it yet */
    gx_step(executor(&r, 0));
    control(&r, 5);
    assert_int_equal(gx_phase(shared_of(&r)), GALE_PHASE_FINISHING);
    gx_step(executor(&r, 1));
    assert_int_equal(put_for_a_bolt(&r, 1), GALE_STOPPED);
    assert_true(gx_inbox_is_empty(executor(&r, 1)->inbox));
    end(&r);
}

static void an_executor_that_is_held_up_as_it_shows_its_figures_is_not_taken_for_quiet(void **state) {
    (void)state;
    rig r;
    build(&r);
    step_until_draining(&r);
    for (uint32_t i = 0; i < 2; i++) gx_step(executor(&r, i));
    gx_atomic64 *version = &executor(&r, 1)->shown_version;
    uint64_t before = gx_load_relaxed(version);
    gx_store_relaxed(version, before + 1);
    control(&r, 5);
    assert_int_equal(gx_phase(shared_of(&r)), GALE_PHASE_DRAINING);
    gx_store_relaxed(version, before);
    control(&r, 2);
    assert_int_equal(gx_phase(shared_of(&r)), GALE_PHASE_FINISHING);
    end(&r);
}

/* How long executor 0 may sleep, and whether its bell was rung since it slept. */
static int64_t pause_of(const rig *r) {
    return gx_control_pause(&r->runtime->control, shared_of(r));
}

static bool is_rung(const rig *r) {
    bool rung = !gx_bell_may_park(&executor(r, 0)->bell);
    gx_bell_wake(&executor(r, 0)->bell);
    return rung;
}

static void step_until_running(rig *r) {
    gx_executors_move(shared_of(r), GALE_PHASE_NEW, GALE_PHASE_OPENING);
    while (gx_phase(shared_of(r)) < GALE_PHASE_RUNNING) {
        for (uint32_t i = 0; i < 2; i++) gx_step(executor(r, i));
        control(r, 1);
    }
}

static void while_a_spout_has_nothing_executor_0_sleeps_until_it_is_rung(void **state) {
    (void)state;
    rig r;
    build(&r);
    spout.to_emit = UINT64_MAX; /* not done */
    step_until_running(&r);
    for (uint32_t i = 0; i < 2; i++) gx_step(executor(&r, i));
    control(&r, 1);
    assert_int_equal(pause_of(&r), -1);
    spout.to_emit = 0;
    end(&r);
}

static void an_executor_that_becomes_quiet_wakes_the_control_once(void **state) {
    (void)state;
    rig r;
    build(&r);
    step_until_running(&r);
    for (uint32_t i = 0; i < 20; i++) gx_step(executor(&r, 1));
    (void)is_rung(&r);
    assert_int_equal(emit(1), 0);
    bool rung = false;
    for (uint32_t i = 0; i < 20; i++) {
        gx_step(executor(&r, 1));
        rung |= is_rung(&r);
    }
    assert_true(rung);
    for (uint32_t i = 0; i < 20; i++) gx_step(executor(&r, 1));
    assert_false(is_rung(&r)); /* nothing new to show */
    gx_step(executor(&r, 0));
    control(&r, 1);
    assert_true(pause_of(&r) > 0); /* a second look follows soon */
    end(&r);
}

static int hold_it(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_handle held;
    (void)bolt;
    return gale_tuple_hold(out, tuple->handle, &held);
}

static void a_drain_that_has_begun_is_looked_at_now_and_then(void **state) {
    (void)state;
    rig r;
    build(&r);
    last.on = hold_it;
    step_until_running(&r);
    assert_int_equal(emit(1), 0);
    for (int i = 0; i < 20; i++) {
        for (uint32_t k = 0; k < 2; k++) gx_step(executor(&r, k));
        control(&r, 1);
    }
    assert_int_equal(gx_phase(shared_of(&r)), GALE_PHASE_RUNNING);
    assert_int_equal(pause_of(&r), GX_DRAIN_WATCH_LOOK);
    gale_runtime_stop(r.runtime);
    end(&r);
}

static void begin_to_open(rig *r) {
    build(r);
    gx_executors_move(shared_of(r), GALE_PHASE_NEW, GALE_PHASE_OPENING);
    gx_step(executor(r, 1)); /* its remote is there, executor 0 is late */
}

static void a_drain_that_comes_while_it_opens_loses_nothing_that_was_taken(void **state) {
    (void)state;
    rig r;
    begin_to_open(&r);
    assert_int_equal(emit(1), 0);
    gale_runtime_drain(r.runtime);
    assert_int_equal(gx_phase(shared_of(&r)), GALE_PHASE_OPENING);
    end(&r);
    assert_int_equal(last.seen, 1);
    assert_int_equal(heard, 1);
}

static void what_has_begun_to_open_opens_whoever_deactivates_it(void **state) {
    (void)state;
    rig r;
    begin_to_open(&r);
    gale_runtime_deactivate(r.runtime);
    for (int i = 0; i < 5; i++) {
        for (uint32_t k = 0; k < 2; k++) gx_step(executor(&r, k));
        control(&r, 1);
    }
    assert_int_equal(gx_phase(shared_of(&r)), GALE_PHASE_RUNNING);
    gale_runtime_drain(r.runtime);
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_executor_is_quiet_in_a_phase_that_it_has_not_seen),
        cmocka_unit_test(what_a_remote_emits_before_a_late_executor_sees_the_drain_is_carried_out),
        cmocka_unit_test(an_executor_that_is_held_up_as_it_shows_its_figures_is_not_taken_for_quiet),
        cmocka_unit_test(a_drain_that_comes_while_it_opens_loses_nothing_that_was_taken),
        cmocka_unit_test(what_has_begun_to_open_opens_whoever_deactivates_it),
        cmocka_unit_test(while_a_spout_has_nothing_executor_0_sleeps_until_it_is_rung),
        cmocka_unit_test(an_executor_that_becomes_quiet_wakes_the_control_once),
        cmocka_unit_test(a_drain_that_has_begun_is_looked_at_now_and_then),
        cmocka_unit_test(a_bolts_remote_that_holds_nothing_cannot_keep_a_drain_from_ending),
        cmocka_unit_test(before_a_drained_run_closes_bolts_remotes_are_refused_and_what_they_put_is_carried_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
