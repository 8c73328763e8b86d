/* The lives of spouts, bolts and runtimes: what is called, in which order, whatever happens. */
#include "runtime/rig.h"

#include <string.h>

static rig_spout spout;
static rig_bolt a, c;
static char log_[RIG_LOG_MAX];

static void build(rig *r) {
    memset(&spout, 0, sizeof spout);
    memset(&a, 0, sizeof a);
    memset(&c, 0, sizeof c);
    memset(log_, 0, sizeof log_);
    spout.to_emit = 3;
    a.on = rig_pass;
    c.on = rig_take;
    a.log = c.log = log_;
    a.name = 'A';
    c.name = 'C';
    rig_init(r);
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "zeta", rig_simple(&a), 1); /* first in the flow, last by name */
    gale_topology_add_bolt(r->topology, "beta", rig_simple(&c), 1);
    gale_topology_subscribe(r->topology, "zeta", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "beta", "zeta", NULL, gale_shuffle());
}

static void a_spout_is_opened_activated_deactivated_and_closed(void **state) {
    (void)state;
    rig r;
    build(&r);
    rig_make(&r, 1);
    assert_string_equal(spout.log, "");
    rig_settle(&r);
    assert_string_equal(spout.log, "oa");
    rig_drain(&r);
    assert_string_equal(spout.log, "oadc");
    assert_int_equal(gale_runtime_step(r.runtime), GALE_STOPPED);
    rig_fini(&r);
}

static int count_finish(rig_bolt *bolt, gale_collector *out) {
    gale_value values[] = { gale_i64(100), gale_i64((int64_t)bolt->seen) };
    int rc = gale_emit(out, 0, values, 2);
    return rc < 0 ? rc : 0;
}

static void bolts_finish_in_the_order_of_the_flow_and_may_emit(void **state) {
    (void)state;
    rig r;
    build(&r);
    a.on_finish = count_finish;
    rig_make(&r, 2);
    rig_settle(&r);
    assert_string_equal(log_, "CpAp");
    rig_drain(&r);
    assert_string_equal(log_, "CpApAfCfCcAc");
    assert_int_equal(c.seen, 4);
    rig_fini(&r);
}

static void a_stopped_bolt_does_not_finish_but_is_cleaned_up(void **state) {
    (void)state;
    rig r;
    build(&r);
    rig_make(&r, 1);
    rig_settle(&r);
    gale_runtime_stop(r.runtime);
    rig_fini(&r);
    assert_string_equal(log_, "CpApCcAc");
}

static int hold(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
}

static void open_trees_fail_with_reason_stopped_before_close(void **state) {
    (void)state;
    rig r;
    memset(&spout, 0, sizeof spout);
    build(&r);
    gale_topology_add_bolt(r.topology, "holder", rig_manual(&(rig_bolt){ .on = hold }), 1);
    gale_topology_subscribe(r.topology, "holder", "spout", NULL, gale_shuffle());
    rig_make(&r, 2);
    rig_settle(&r);
    assert_int_equal(spout.acks + spout.fails, 0);
    gale_runtime_stop(r.runtime);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    assert_int_equal(spout.fails, 3);
    assert_int_equal(spout.last_failure.reason, GALE_REASON_STOPPED);
    assert_int_equal(rig_stats(&r)->stopped, 3);
    assert_int_equal(r.stats.open, 0);
    rig_fini(&r);
}

static void stopping_what_never_started_opens_nothing(void **state) {
    (void)state;
    rig r;
    build(&r);
    rig_make(&r, 1);
    gale_runtime_stop(r.runtime);
    assert_int_equal(gale_runtime_step(r.runtime), GALE_STOPPED);
    rig_fini(&r);
    assert_string_equal(spout.log, "");
    assert_string_equal(log_, "");
}

static void a_deactivated_spout_is_not_asked_and_goes_on_later(void **state) {
    (void)state;
    rig r;
    build(&r);
    rig_make(&r, 1);
    rig_settle(&r);
    spout.to_emit = 6;
    spout.next_fails = 0;
    gale_runtime_deactivate(r.runtime);
    rig_settle(&r);
    assert_string_equal(spout.log, "oad");
    assert_int_equal(spout.emitted, 3);
    gale_runtime_activate(r.runtime);
    rig_settle(&r);
    assert_string_equal(spout.log, "oada");
    rig_fini(&r);
}

static void an_error_from_open_stops_the_start_and_closes_what_was_opened(void **state) {
    (void)state;
    rig r;
    build(&r);
    spout.open_returns = GALE_IO;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    rig_make_with(&r, options);
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_runtime_start(r.runtime, &error), GALE_IO);
    assert_string_equal(error.text, "input or output failed\nspout 'spout' (task 2) could not be opened");
    assert_int_equal(gale_runtime_wait(r.runtime, 10 * GALE_SECOND, NULL), GALE_IO);
    rig_fini(&r);
    assert_string_equal(spout.log, "o"); /* not closed: it never was open */
    assert_string_equal(log_, "CpCc");   /* zeta comes after spout and was never prepared */
}

static void an_error_from_prepare_stops_the_start(void **state) {
    (void)state;
    rig r;
    build(&r);
    c.prepare_returns = GALE_INVALID;
    rig_make(&r, 3);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_runtime_wait(r.runtime, 0, &error), GALE_INVALID);
    assert_non_null(strstr(error.text, "bolt 'beta' (task 1) could not be prepared"));
    rig_fini(&r);
}

static void an_error_from_next_backs_off_longer_each_time(void **state) {
    (void)state;
    rig r;
    build(&r);
    spout.next_fails = 3;
    rig_make(&r, 1);
    rig_settle(&r);
    assert_int_equal(spout.emitted, 0);
    rig_advance(&r, GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(spout.next_fails, 1);
    rig_advance(&r, GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(spout.next_fails, 1); /* two milliseconds the second time */
    rig_advance(&r, GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(spout.next_fails, 0);
    rig_advance(&r, 4 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(spout.acks, 3);
    assert_int_equal(rig_task(&r, "spout", 0).errors, 3);
    rig_fini(&r);
}

static int give_up(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)tuple;
    if (++bolt->seen == 2) gale_stop(out, GALE_CLOSED_PIPE, "the reader has gone");
    return 0;
}

static void a_component_can_stop_the_run_and_say_why(void **state) {
    (void)state;
    rig r;
    build(&r);
    c.on = give_up;
    rig_make(&r, 2);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_runtime_wait(r.runtime, 0, &error), GALE_CLOSED_PIPE);
    assert_string_equal(error.text, "the reader has gone\ntask 1 of 'beta' stopped the run");
    assert_int_equal(spout.acks + spout.fails, 3);
    rig_fini(&r);
}

/* However soon the end comes, the start was a good one. */
static void what_stops_a_run_at_once_is_told_by_wait_not_by_start(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        rig r;
        build(&r);
        a.log = c.log = NULL; /* which two threads would share */
        c.on = give_up;
        gale_clock clock = gale_clock_monotonic();
        gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
        options.executors = 2;
        options.clock = &clock;
        rig_make_with(&r, options);
        assert_int_equal(gale_runtime_start(r.runtime, NULL), 0);
        assert_int_equal(gale_runtime_wait(r.runtime, 10 * GALE_SECOND, NULL), GALE_CLOSED_PIPE);
        rig_fini(&r);
    }
}

static void a_run_until_drained_ends_by_itself(void **state) {
    (void)state;
    rig r;
    build(&r);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 2;
    options.until_drained = true;
    rig_make_with(&r, options);
    int steps = 0;
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) assert_true(++steps < 10000);
    assert_int_equal(spout.acks, 3);
    assert_string_equal(log_, "CpApAfCfCcAc");
    rig_fini(&r);
}

static void a_failed_tuple_wakes_a_spout_that_was_done_before_the_run_ends(void **state) {
    (void)state;
    rig r;
    build(&r);
    spout.again = true;
    c.on = rig_refuse;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 2;
    options.until_drained = true;
    rig_make_with(&r, options);
    for (int i = 0; i < 100; i++) assert_true(gale_runtime_step(r.runtime) >= 0);
    assert_true(spout.fails > 10);
    c.on = rig_take;
    int steps = 0;
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) assert_true(++steps < 10000);
    assert_int_equal(spout.acks, 3);
    rig_fini(&r);
}

static void a_component_that_blocks_gets_an_executor_a_task(void **state) {
    (void)state;
    rig r;
    build(&r);
    a.log = c.log = NULL; /* which two threads would share */
    gale_topology_set(r.topology, "zeta", "gale.blocking", gale_bool(true));
    gale_clock clock = gale_clock_monotonic();
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 2;
    options.clock = &clock;
    options.until_drained = true;
    rig_make_with(&r, options);
    assert_int_equal(gale_runtime_executor_count(r.runtime), 3);
    assert_int_equal(rig_task(&r, "zeta", 0).executor, 2);
    assert_int_equal(gale_runtime_step(r.runtime), GALE_STATE); /* it would block the caller */
    assert_int_equal(gale_runtime_run(r.runtime, NULL), 0);
    assert_int_equal(spout.acks, 3);
    rig_fini(&r);
}

static void a_runtime_whose_components_block_is_freed_though_it_never_ran(void **state) {
    (void)state;
    rig r;
    build(&r);
    gale_topology_set(r.topology, "zeta", "gale.blocking", gale_bool(true));
    rig_make(&r, 2);
    rig_fini(&r);
    assert_string_equal(spout.log, "");
}

static void a_caller_may_allow_blocking_on_its_own_thread(void **state) {
    (void)state;
    rig r;
    build(&r);
    gale_topology_set(r.topology, "zeta", "gale.blocking", gale_bool(true));
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.inline_blocking = true;
    rig_make_with(&r, options);
    rig_settle(&r);
    assert_int_equal(spout.acks, 3);
    rig_fini(&r);
}

static void a_runtime_refuses_what_it_cannot_do(void **state) {
    (void)state;
    rig r;
    build(&r);
    gale_error error = GALE_ERROR_INIT;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 257;
    gale_runtime *none = NULL;
    assert_int_equal(gale_runtime_new(r.topology, &options, &none, &error), GALE_INVALID);
    assert_string_equal(error.text, "257 executors are more than the 256 that are possible");
    rig_make(&r, 1);
    assert_int_equal(gale_runtime_wait(r.runtime, 0, &error), GALE_STATE);
    assert_true(gale_runtime_step(r.runtime) > 0);
    assert_int_equal(gale_runtime_start(r.runtime, &error), GALE_STATE);
    assert_int_equal(gale_runtime_free(NULL, 0, NULL), 0);
    gale_task_stats stats = { .size = sizeof stats };
    assert_false(gale_runtime_task_stats(r.runtime, 0, &stats));
    assert_false(gale_runtime_task_stats(r.runtime, 4, &stats));
    rig_fini(&r);
}

static void figures_fill_no_more_than_the_caller_has_room_for(void **state) {
    (void)state;
    rig r;
    build(&r);
    rig_make(&r, 1);
    rig_settle(&r);
    gale_run_stats stats;
    memset(&stats, 0x55, sizeof stats);
    stats.size = offsetof(gale_run_stats, acked);
    gale_runtime_stats(r.runtime, &stats);
    assert_int_equal(stats.trees, 3);
    assert_int_equal(stats.acked, 0x5555555555555555);
    rig_fini(&r);
}

/* --- What is emitted at the very end --- */

typedef struct speaker {
    gale_collector *out;
    gale_remote *remote;
    bool tracked, emits_in_open;
    int in_open, in_deactivate, in_close, in_fail, remotely;
    uint64_t heard;
    int open_returns;
} speaker;

static speaker spout_speaker, bolt_speaker;

static int speak(speaker *s) {
    gale_value values[] = { gale_i64(1), gale_i64(1) };
    return s->tracked ? gale_emit_tracked(s->out, 0, values, 2, 9) : gale_emit(s->out, 0, values, 2);
}

static int speaker_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    speaker *s = user;
    (void)context;
    s->out = out;
    *ret_self = s;
    if (s->emits_in_open) s->in_open = speak(s);
    return s->open_returns;
}

static int speaker_next(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)out, (void)wait;
    return GALE_NEXT_DONE;
}

static void speaker_ack(void *self, uint64_t id) {
    (void)id;
    ((speaker *)self)->heard++;
}

static void speaker_fail(void *self, uint64_t id, const gale_failure *failure) {
    speaker *s = self;
    (void)id, (void)failure;
    s->heard++;
    s->in_fail = speak(s);
}

static void speaker_deactivate(void *self) {
    ((speaker *)self)->in_deactivate = speak(self);
}

static void speaker_close(void *self) {
    ((speaker *)self)->in_close = speak(self);
}

static int speaker_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    gale_handle held;
    (void)self;
    return gale_tuple_hold(out, gale_tuple_handle(tuple), &held);
}

static void build_speakers(rig *r) {
    static const gale_spout_ops spout_ops = { .size = sizeof spout_ops,
                                              .name = "speaker",
                                              .open = speaker_open,
                                              .next = speaker_next,
                                              .ack = speaker_ack,
                                              .fail = speaker_fail,
                                              .deactivate = speaker_deactivate,
                                              .close = speaker_close };
    static const gale_bolt_ops bolt_ops = { .size = sizeof bolt_ops,
                                            .name = "speaker",
                                            .kind = GALE_BOLT_MANUAL,
                                            .prepare = speaker_open,
                                            .execute = speaker_execute,
                                            .cleanup = speaker_close };
    static const gale_output outputs[] = { { NULL, "number, key" } };
    gale_spout from = { .size = sizeof from, .ops = &spout_ops, .user = &spout_speaker, .outputs = outputs };
    gale_bolt to = { .size = sizeof to, .ops = &bolt_ops, .user = &bolt_speaker, .outputs = outputs };
    from.output_count = to.output_count = 1;
    memset(&spout_speaker, 0, sizeof spout_speaker);
    memset(&bolt_speaker, 0, sizeof bolt_speaker);
    memset(&c, 0, sizeof c);
    c.on = rig_take;
    spout_speaker.tracked = true;
    rig_init(r);
    gale_topology_add_spout(r->topology, "from", from, 1);
    gale_topology_add_bolt(r->topology, "to", to, 1);
    gale_topology_add_bolt(r->topology, "last", rig_simple(&c), 1);
    gale_topology_subscribe(r->topology, "to", "from", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "last", "to", NULL, gale_shuffle());
}

static void what_is_emitted_when_nobody_would_answer_is_refused(void **state) {
    (void)state;
    rig r;
    build_speakers(&r);
    spout_speaker.emits_in_open = true;
    rig_make(&r, 2);
    rig_settle(&r);
    assert_int_equal(spout_speaker.in_open, 1);
    gale_runtime_stop(r.runtime);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    assert_int_equal(spout_speaker.heard, 1); /* what it emitted in open was held, and is stopped */
    assert_int_equal(spout_speaker.in_fail, GALE_STOPPED);
    assert_int_equal(spout_speaker.in_deactivate, GALE_STOPPED);
    assert_int_equal(spout_speaker.in_close, GALE_STOPPED);
    assert_int_equal(bolt_speaker.in_close, GALE_STOPPED);
    assert_int_equal(rig_stats(&r)->open, 0);
    assert_int_equal(r.stats.trees, 1);
    rig_fini(&r);
}

static void what_is_emitted_in_deactivate_before_the_end_is_answered(void **state) {
    (void)state;
    rig r;
    build_speakers(&r);
    rig_make(&r, 2);
    rig_settle(&r);
    gale_runtime_deactivate(r.runtime);
    rig_settle(&r);
    assert_int_equal(spout_speaker.in_deactivate, 1);
    gale_runtime_stop(r.runtime);
    rig_fini(&r);
    assert_int_equal(spout_speaker.heard, 1);
}

static void a_spout_that_could_not_be_opened_hears_of_nothing(void **state) {
    (void)state;
    rig r;
    build_speakers(&r);
    spout_speaker.emits_in_open = true;
    spout_speaker.open_returns = GALE_IO;
    rig_make(&r, 1);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    assert_int_equal(spout_speaker.in_open, 1);
    assert_int_equal(spout_speaker.heard, 0);
    assert_int_equal(rig_stats(&r)->stopped, 1);
    rig_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_emitted_when_nobody_would_answer_is_refused),
        cmocka_unit_test(what_is_emitted_in_deactivate_before_the_end_is_answered),
        cmocka_unit_test(a_spout_that_could_not_be_opened_hears_of_nothing),
        cmocka_unit_test(a_spout_is_opened_activated_deactivated_and_closed),
        cmocka_unit_test(bolts_finish_in_the_order_of_the_flow_and_may_emit),
        cmocka_unit_test(a_stopped_bolt_does_not_finish_but_is_cleaned_up),
        cmocka_unit_test(open_trees_fail_with_reason_stopped_before_close),
        cmocka_unit_test(stopping_what_never_started_opens_nothing),
        cmocka_unit_test(a_deactivated_spout_is_not_asked_and_goes_on_later),
        cmocka_unit_test(an_error_from_open_stops_the_start_and_closes_what_was_opened),
        cmocka_unit_test(an_error_from_prepare_stops_the_start),
        cmocka_unit_test(an_error_from_next_backs_off_longer_each_time),
        cmocka_unit_test(a_component_can_stop_the_run_and_say_why),
        cmocka_unit_test(what_stops_a_run_at_once_is_told_by_wait_not_by_start),
        cmocka_unit_test(a_run_until_drained_ends_by_itself),
        cmocka_unit_test(a_failed_tuple_wakes_a_spout_that_was_done_before_the_run_ends),
        cmocka_unit_test(a_component_that_blocks_gets_an_executor_a_task),
        cmocka_unit_test(a_runtime_whose_components_block_is_freed_though_it_never_ran),
        cmocka_unit_test(a_caller_may_allow_blocking_on_its_own_thread),
        cmocka_unit_test(a_runtime_refuses_what_it_cannot_do),
        cmocka_unit_test(figures_fill_no_more_than_the_caller_has_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
