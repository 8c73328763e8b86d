/* What holds a spout, and for how long, on the hand-moved clock. */
#include "runtime/rig.h"

#include <string.h>

static rig_spout spout;
static rig_bolt c;
static gale_manual_clock *the_clock;

/* Puts bolts on other executors than their spout, when there are others. */
static void place(rig *r, uint32_t executors, const char *first, const char *last) {
    if (first) gale_topology_set(r->topology, first, "gale.executor", gale_i64(executors / 2));
    if (last) gale_topology_set(r->topology, last, "gale.executor", gale_i64(executors - 1));
}

static void begin(rig *r, gale_bolt bolt, uint64_t to_emit) {
    memset(&spout, 0, sizeof spout);
    spout.to_emit = to_emit;
    rig_init(r);
    the_clock = r->clock;
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "c", bolt, 2);
    gale_topology_subscribe(r->topology, "c", "spout", NULL, gale_global());
    gale_topology_set(r->topology, NULL, "topology.enable.message.timeouts", gale_bool(false));
}

static int slow(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_manual_clock_advance(the_clock, 10 * GALE_MILLISECOND);
    return rig_take(bolt, tuple, out);
}

static int hold_until_the_tick(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (!gale_tuple_is_tick(tuple))
        return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
    for (size_t i = 0; i < bolt->held_count; i++) gale_ack(out, bolt->held[i]);
    bolt->held_count = 0;
    return 0;
}

static void a_spout_that_nothing_holds_says_so(void **state) {
    rig r;
    memset(&c, 0, sizeof c);
    c.on = rig_take;
    begin(&r, rig_simple(&c), 100);
    place(&r, rig_executors(state), NULL, "c");
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    rig_advance(&r, 10 * GALE_SECOND, GALE_SECOND);
    gale_task_stats stats = rig_task(&r, "spout", 0);
    assert_int_equal(stats.held_nanoseconds, 0);
    assert_int_equal(stats.held_mostly_by, 0);
    assert_int_equal(stats.pending_nanoseconds, 0);
    assert_int_equal(stats.pending_limit, 0);
    rig_fini(&r);
}

static void a_spout_before_a_slow_bolt_is_held_by_it_most_of_the_time(void **state) {
    rig r;
    memset(&c, 0, sizeof c);
    c.on = slow;
    begin(&r, rig_simple(&c), UINT64_MAX);
    place(&r, rig_executors(state), NULL, "c");
    rig_make(&r, rig_executors(state));
    for (int i = 0; i < 4000; i++) gale_runtime_step(r.runtime);
    gale_task_stats stats = rig_task(&r, "spout", 0), holder = rig_task(&r, "c", 0);
    int64_t elapsed = rig_stats(&r)->elapsed;
    assert_int_equal(elapsed, (int64_t)c.seen * 10 * GALE_MILLISECOND);
    assert_in_range(stats.held_nanoseconds, elapsed * 9 / 10, elapsed);
    assert_int_equal(stats.held_mostly_by, holder.task);
    assert_int_equal(stats.held_mostly_nanoseconds, stats.held_nanoseconds);
    assert_true(holder.queued_bytes_max >= 48 << 10);
    assert_int_equal(stats.pending_nanoseconds, 0);
    gale_manual_clock_advance(r.clock, GALE_SECOND); /* a hold in progress is read to the moment */
    assert_int_equal(rig_task(&r, "spout", 0).held_nanoseconds, stats.held_nanoseconds + GALE_SECOND);
    gale_runtime_stop(r.runtime);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    stats = rig_task(&r, "spout", 0);
    gale_manual_clock_advance(r.clock, GALE_SECOND); /* and not beyond the end */
    assert_int_equal(rig_task(&r, "spout", 0).held_nanoseconds, stats.held_nanoseconds);
    assert_true((int64_t)stats.held_nanoseconds <= rig_stats(&r)->elapsed);
    rig_fini(&r);
}

static void waiting_for_answers_is_a_reason_of_its_own(void **state) {
    rig r;
    memset(&c, 0, sizeof c);
    c.on = hold_until_the_tick;
    begin(&r, rig_manual(&c), 100);
    gale_topology_set(r.topology, "spout", "topology.max.spout.pending", gale_i64(10));
    gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_f64(0.5));
    place(&r, rig_executors(state), NULL, "c");
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    rig_advance(&r, 2 * GALE_SECOND, 100 * GALE_MILLISECOND);
    gale_task_stats stats = rig_task(&r, "spout", 0);
    assert_int_equal(spout.acks, 40);
    assert_int_equal(stats.pending_limit, 10);
    assert_int_equal(stats.pending_nanoseconds, 2 * GALE_SECOND);
    assert_int_equal(stats.held_nanoseconds, 0);
    rig_advance(&r, 10 * GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(spout.acks,
                     100); /* the last ten were emitted at 4.5 s; then it was asked once more, and was done */
    assert_in_range(rig_task(&r, "spout", 0).pending_nanoseconds, 4500 * GALE_MILLISECOND, 5 * GALE_SECOND);
    rig_fini(&r);
}

static void a_spout_that_has_nothing_to_emit_is_not_held(void **state) {
    rig r;
    memset(&c, 0, sizeof c);
    c.on = hold_until_the_tick;
    begin(&r, rig_manual(&c), 5);
    gale_topology_set(r.topology, "spout", "topology.max.spout.pending", gale_i64(10));
    place(&r, rig_executors(state), NULL, "c");
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    rig_advance(&r, GALE_SECOND, 100 * GALE_MILLISECOND);
    gale_task_stats stats = rig_task(&r, "spout", 0);
    assert_int_equal(rig_stats(&r)->open, 5);
    assert_int_equal(stats.pending_nanoseconds + stats.held_nanoseconds, 0);
    rig_fini(&r);
}

static void a_spout_that_is_not_active_is_not_held(void **state) {
    rig r;
    memset(&c, 0, sizeof c);
    c.on = hold_until_the_tick;
    begin(&r, rig_manual(&c), 100);
    gale_topology_set(r.topology, "spout", "topology.max.spout.pending", gale_i64(10));
    place(&r, rig_executors(state), NULL, "c");
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    rig_advance(&r, GALE_SECOND, 100 * GALE_MILLISECOND);
    gale_runtime_deactivate(r.runtime);
    rig_advance(&r, 3 * GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_in_range(rig_task(&r, "spout", 0).pending_nanoseconds, GALE_SECOND, 1100 * GALE_MILLISECOND);
    rig_fini(&r);
}

static void what_holds_a_spout_to_the_end_is_counted_to_the_end(void **state) {
    rig r;
    memset(&c, 0, sizeof c);
    c.on = hold_until_the_tick;
    begin(&r, rig_manual(&c), 100);
    gale_topology_set(r.topology, "spout", "topology.max.spout.pending", gale_i64(10));
    place(&r, rig_executors(state), NULL, "c");
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    rig_advance(&r, GALE_SECOND, 100 * GALE_MILLISECOND);
    gale_runtime_stop(r.runtime);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    uint64_t at_the_end = rig_task(&r, "spout", 0).pending_nanoseconds;
    assert_int_equal(at_the_end, GALE_SECOND);
    gale_manual_clock_advance(r.clock, GALE_SECOND);
    assert_int_equal(rig_task(&r, "spout", 0).pending_nanoseconds, at_the_end);
    rig_fini(&r);
}

/* --- A bolt that says itself that it has enough --- */

static gale_collector *the_out;

static int hold_some(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    enum { ENOUGH = 10 };
    int rc = gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count % RIG_TUPLES_MAX]);
    the_out = out;
    if (++bolt->held_count == ENOUGH) rc = gale_congest(out, true);
    return rc;
}

static void answer_all(void) {
    for (size_t i = 0; i < c.held_count; i++) assert_int_equal(gale_ack(the_out, c.held[i]), 0);
    c.held_count = 0;
}

/* What it is given behind that is what was on its way: a burst of the spout's, and what rings and queues had. */
static void a_bolt_that_has_enough_holds_back_those_who_feed_it_until_it_has_not(void **state) {
    rig r;
    memset(&c, 0, sizeof c);
    c.on = hold_some;
    begin(&r, rig_manual(&c), RIG_TUPLES_MAX);
    place(&r, rig_executors(state), NULL, "c");
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    uint64_t emitted = spout.emitted;
    assert_true(emitted >= 10 && emitted < RIG_TUPLES_MAX);
    assert_int_equal(c.held_count, emitted);
    rig_advance(&r, GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(spout.emitted, emitted);
    assert_true(rig_task(&r, "c", 0).congested);
    answer_all();
    assert_int_equal(gale_congest(the_out, true), 0); /* it says so still */
    rig_settle(&r);
    assert_int_equal(spout.emitted, emitted);
    assert_int_equal(gale_congest(the_out, false), 0);
    c.held_count = 100; /* enough does not come again */
    rig_settle(&r);
    assert_int_equal(spout.emitted, RIG_TUPLES_MAX);
    assert_false(rig_task(&r, "c", 0).congested);
    rig_fini(&r);
}

static int congest_it(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    int rc = gale_congest(out, true);
    return rc < 0 ? rc : rig_take(bolt, tuple, out);
}

/* Nothing is left to do. */
static void one_that_never_takes_it_back_keeps_no_drain_from_ending(void **state) {
    rig r;
    memset(&c, 0, sizeof c);
    c.on = congest_it;
    begin(&r, rig_simple(&c), UINT64_MAX);
    place(&r, rig_executors(state), NULL, "c");
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    assert_int_equal(spout.acks, spout.emitted);
    gale_runtime_drain(r.runtime);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    rig_fini(&r);
}

#define ON_1_2_8(f)                                                                                                    \
    { #f " on 1 executor", f, NULL, NULL, &one }, { #f " on 2 executors", f, NULL, NULL, &two }, {                     \
#f " on 8 executors", f, NULL, NULL, &eight                                                                    \
    }

int main(void) {
    static uint32_t one = 1, two = 2, eight = 8;
    const struct CMUnitTest tests[] = {
        ON_1_2_8(a_spout_that_nothing_holds_says_so),
        ON_1_2_8(a_spout_before_a_slow_bolt_is_held_by_it_most_of_the_time),
        ON_1_2_8(waiting_for_answers_is_a_reason_of_its_own),
        ON_1_2_8(a_spout_that_has_nothing_to_emit_is_not_held),
        ON_1_2_8(a_spout_that_is_not_active_is_not_held),
        ON_1_2_8(what_holds_a_spout_to_the_end_is_counted_to_the_end),
        ON_1_2_8(a_bolt_that_has_enough_holds_back_those_who_feed_it_until_it_has_not),
        ON_1_2_8(one_that_never_takes_it_back_keeps_no_drain_from_ending),
    };
    return rig_run_on_both_ledgers(tests);
}
