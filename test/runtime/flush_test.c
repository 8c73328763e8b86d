/* Bolts that gather: when they are flushed, and how that answers what they have executed. */
#include "runtime/rig.h"

#include <string.h>

static rig_spout spout;
static rig_bolt a, c;

/* What a gathering bolt saw, and does. */
static struct {
    uint64_t flushes;
    uint64_t flushed; /* tuples that were there at the last one */
    uint64_t acked_at_flush;
    int returns;
    const char *text;
} f;

static int on_flush(rig_bolt *bolt, gale_collector *out) {
    f.flushes++;
    f.flushed = bolt->seen;
    f.acked_at_flush = spout.acks;
    if (f.text) gale_report(out, f.text);
    return f.returns;
}

/* spout -> a -> c, which gathers. */
static void begin(rig *r, uint64_t to_emit, bool manual) {
    memset(&spout, 0, sizeof spout);
    memset(&a, 0, sizeof a);
    memset(&c, 0, sizeof c);
    memset(&f, 0, sizeof f);
    spout.to_emit = to_emit;
    a.on = rig_pass;
    c.on = rig_take;
    c.on_flush = on_flush;
    rig_init(r);
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "a", rig_simple(&a), 1);
    gale_topology_add_bolt(r->topology, "c", manual ? rig_manual(&c) : rig_simple(&c), 1);
    gale_topology_subscribe(r->topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "c", "a", NULL, gale_shuffle());
}

static void make(rig *r, void **state) {
    gale_topology_set(r->topology, "c", "gale.executor", gale_i64(rig_executors(state) - 1));
    rig_make(r, rig_executors(state));
}

static void what_was_executed_is_flushed_before_the_executor_rests(void **state) {
    rig r;
    begin(&r, 100, false);
    make(&r, state);
    rig_settle(&r);
    assert_int_equal(c.seen, 100);
    assert_int_equal(f.flushed, 100);
    assert_in_range(f.flushes, 1, 100);
    assert_int_equal(spout.acks, 100);
    gale_task_stats stats = rig_task(&r, "c", 0);
    assert_int_equal(stats.executed, 100);
    assert_int_equal(stats.acked, 100);
    rig_fini(&r);
}

static void nothing_is_acked_before_its_flush(void **state) {
    rig r;
    begin(&r, 20, false);
    gale_topology_set(r.topology, "spout", "topology.max.spout.pending", gale_i64(1));
    make(&r, state);
    rig_settle(&r);
    assert_int_equal(f.flushes, 20); /* each waits for the one before */
    assert_int_equal(f.acked_at_flush, 19);
    assert_int_equal(spout.acks, 20);
    rig_fini(&r);
}

static void without_a_tuple_there_is_no_flush(void **state) {
    rig r;
    begin(&r, 0, false);
    gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_i64(1));
    make(&r, state);
    rig_settle(&r);
    rig_advance(&r, 5 * GALE_SECOND, GALE_SECOND);
    assert_int_equal(c.ticks, 5);
    rig_drain(&r);
    assert_int_equal(f.flushes, 0);
    rig_fini(&r);
}

static void a_flush_that_fails_fails_all_that_it_was_for(void **state) {
    rig r;
    begin(&r, 10, false);
    f.returns = GALE_IO;
    f.text = "no room";
    make(&r, state);
    rig_settle(&r);
    assert_int_equal(spout.acks, 0);
    assert_int_equal(spout.fails, 10);
    assert_int_equal(spout.last_failure.reason, GALE_REASON_FAILED);
    assert_string_equal(spout.last_component, "c");
    assert_string_equal(spout.last_text, "no room");
    gale_task_stats stats = rig_task(&r, "c", 0);
    assert_int_equal(stats.failed, 10);
    assert_int_equal(stats.acked, 0);
    rig_fini(&r);
}

static void an_error_without_words_has_those_of_its_code(void **state) {
    rig r;
    begin(&r, 1, false);
    f.returns = GALE_IO;
    make(&r, state);
    rig_settle(&r);
    assert_string_equal(spout.last_text, "input or output failed");
    assert_int_equal(rig_task(&r, "c", 0).errors, 1);
    rig_fini(&r);
}

static int refuse_odd(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    bolt->seen++;
    return gale_tuple_value(tuple, 0).as.i64 % 2 ? GALE_COMPONENT : 0;
}

static void what_execute_fails_is_not_the_flushs(void **state) {
    rig r;
    begin(&r, 10, false);
    c.on = refuse_odd;
    make(&r, state);
    rig_settle(&r);
    assert_int_equal(spout.acks, 5);
    assert_int_equal(spout.fails, 5);
    assert_int_equal(rig_task(&r, "c", 0).acked, 5);
    rig_fini(&r);
}

static int stop_it(rig_bolt *bolt, gale_collector *out) {
    (void)bolt;
    f.flushes++;
    gale_stop(out, GALE_IO, "the disk is full");
    return GALE_IO;
}

static void a_flush_that_stops_the_run_leaves_its_tuples_unanswered(void **state) {
    rig r;
    gale_error error = GALE_ERROR_INIT;
    begin(&r, 10, false);
    c.on_flush = stop_it;
    make(&r, state);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    assert_int_equal(f.flushes, 1);
    assert_int_equal(spout.acks, 0);
    assert_true(spout.fails > 0);
    assert_int_equal(spout.last_failure.reason, GALE_REASON_STOPPED);
    assert_int_equal(rig_task(&r, "c", 0).failed, 0);
    assert_int_equal(gale_runtime_wait(r.runtime, 0, &error), GALE_IO);
    assert_non_null(strstr(error.text, "the disk is full"));
    rig_fini(&r);
}

static int emit_total(rig_bolt *bolt, gale_collector *out) {
    gale_value values[] = { gale_i64((int64_t)bolt->seen), gale_i64(0) };
    assert_int_equal(gale_emit(out, 0, values, 2), 1);
    return on_flush(bolt, out);
}

static rig_bolt d;

static int take_last(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    bolt->ticks = (uint64_t)gale_tuple_value(tuple, 0).as.i64;
    bolt->seen++;
    return 0;
}

static void what_a_flush_emits_arrives(void **state) {
    rig r;
    begin(&r, 30, false);
    memset(&d, 0, sizeof d);
    c.on_flush = emit_total;
    d.on = take_last;
    gale_topology_add_bolt(r.topology, "d", rig_simple(&d), 1);
    gale_topology_subscribe(r.topology, "d", "c", NULL, gale_shuffle());
    make(&r, state);
    rig_settle(&r);
    assert_int_equal(d.ticks, 30);
    assert_int_equal(d.seen, f.flushes);
    assert_int_equal(spout.acks, 30);
    rig_fini(&r);
}

static int emit_in_finish(rig_bolt *bolt, gale_collector *out) {
    (void)bolt;
    gale_value values[] = { gale_i64(7), gale_i64(7) };
    return gale_emit(out, 0, values, 2) < 0 ? GALE_COMPONENT : 0;
}

static void what_comes_while_bolts_finish_is_flushed_too(void **state) {
    rig r;
    begin(&r, 3, false);
    a.on_finish = emit_in_finish;
    make(&r, state);
    rig_settle(&r);
    uint64_t before = f.flushes;
    rig_drain(&r);
    assert_int_equal(c.seen, 4);
    assert_int_equal(f.flushed, 4);
    assert_int_equal(f.flushes, before + 1);
    assert_int_equal(rig_task(&r, "c", 0).acked, 4);
    rig_fini(&r);
}

static int hold(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    bolt->seen++;
    return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
}

static int ack_held(rig_bolt *bolt, gale_collector *out) {
    for (size_t i = 0; i < bolt->held_count; i++) assert_int_equal(gale_ack(out, bolt->held[i]), 0);
    bolt->held_count = 0;
    return on_flush(bolt, out);
}

static void a_manual_bolt_answers_what_it_holds_itself(void **state) {
    rig r;
    begin(&r, 50, true);
    c.on = hold;
    c.on_flush = ack_held;
    f.returns = GALE_COMPONENT; /* said, and no more than that */
    make(&r, state);
    rig_settle(&r);
    assert_int_equal(spout.acks, 50);
    assert_int_equal(spout.fails, 0);
    assert_int_equal(rig_task(&r, "c", 0).errors, f.flushes);
    rig_fini(&r);
}

static struct { uint64_t acks, fails; } heard;

static void on_ack(void *user, const gale_context *task, uint64_t id) {
    (void)user, (void)id;
    heard.acks += strcmp(task->component, "c") == 0;
}

static void on_fail(void *user, const gale_context *task, uint64_t id, const gale_failure *failure) {
    (void)user, (void)id;
    if (strcmp(task->component, "c") != 0) return;
    heard.fails++;
    assert_string_equal(failure->text, "no room");
}

static void hooks_hear_of_each_tuple(void **state) {
    for (int fails = 0; fails < 2; fails++) {
        rig r;
        begin(&r, 12, false);
        memset(&heard, 0, sizeof heard);
        f.returns = fails ? GALE_IO : 0;
        f.text = fails ? "no room" : NULL;
        gale_topology_add_hook(r.topology, NULL,
                               (gale_hook){ .size = sizeof(gale_hook), .ack = on_ack, .fail = on_fail });
        make(&r, state);
        rig_settle(&r);
        assert_int_equal(heard.acks, fails ? 0 : 12);
        assert_int_equal(heard.fails, fails ? 12 : 0);
        rig_fini(&r);
    }
}

static void a_run_until_drained_ends_with_everything_flushed(void **state) {
    rig r;
    begin(&r, 1000, false);
    gale_topology_set(r.topology, "c", "gale.executor", gale_i64(rig_executors(state) - 1));
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = rig_executors(state);
    options.until_drained = true;
    rig_make_with(&r, options);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    assert_int_equal(spout.acks, 1000);
    assert_int_equal(f.flushed, 1000);
    rig_fini(&r);
}

/* --- Resuming ------------------------------------------------------------------------------------------------------ */

static int open_and_resume(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)context;
    gale_resume(out);
    *ret_self = user;
    return 0;
}

static bool saw_resumed;

static int look_resumed(rig_bolt *bolt, gale_collector *out) {
    saw_resumed = gale_resumed(out);
    return on_flush(bolt, out);
}

static int emit_nothing(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)out, (void)wait;
    return GALE_NEXT_DONE;
}

static void bolts_know_that_a_spout_goes_on_from_an_earlier_run(void **state) {
    static const gale_spout_ops resuming = { .size = sizeof resuming, .open = open_and_resume, .next = emit_nothing };
    for (int resumes = 0; resumes < 2; resumes++) {
        rig r;
        begin(&r, 1, false);
        c.on_flush = look_resumed;
        saw_resumed = !resumes;
        gale_spout second = { .size = sizeof second, .ops = &resuming };
        if (resumes) gale_topology_add_spout(r.topology, "zzz", second, 1);
        make(&r, state);
        rig_settle(&r);
        assert_int_equal(f.flushes, 1);
        assert_int_equal(saw_resumed, resumes);
        rig_fini(&r);
    }
}

#define BOTH(f)                                                                                                        \
    { #f " on 1 executor", f, NULL, NULL, &one }, {                                                                    \
#f " on 2 executors", f, NULL, NULL, &two                                                                      \
    }

int main(void) {
    static uint32_t one = 1, two = 2;
    const struct CMUnitTest tests[] = {
        BOTH(what_was_executed_is_flushed_before_the_executor_rests),
        BOTH(nothing_is_acked_before_its_flush),
        BOTH(without_a_tuple_there_is_no_flush),
        BOTH(a_flush_that_fails_fails_all_that_it_was_for),
        BOTH(an_error_without_words_has_those_of_its_code),
        BOTH(what_execute_fails_is_not_the_flushs),
        BOTH(a_flush_that_stops_the_run_leaves_its_tuples_unanswered),
        BOTH(what_a_flush_emits_arrives),
        BOTH(what_comes_while_bolts_finish_is_flushed_too),
        BOTH(a_manual_bolt_answers_what_it_holds_itself),
        BOTH(hooks_hear_of_each_tuple),
        BOTH(a_run_until_drained_ends_with_everything_flushed),
        BOTH(bolts_know_that_a_spout_goes_on_from_an_earlier_run),
    };
    return rig_run_on_both_ledgers(tests);
}
