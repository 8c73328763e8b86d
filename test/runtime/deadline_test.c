/* Deadlines on the hand-moved clock: what has waited too long is not executed, and its trees fail there. */
#include "runtime/rig.h"

#include <string.h>

static rig_spout spout;
static rig_bolt a, b, c;
static rig *at;

static const int64_t span = 100 * GALE_MILLISECOND;

/* Puts bolts on other executors than their spout, when there are others. */
static void place(rig *r, uint32_t executors, const char *first, const char *last) {
    if (first) gale_topology_set(r->topology, first, "gale.executor", gale_i64(executors / 2));
    if (last) gale_topology_set(r->topology, last, "gale.executor", gale_i64(executors - 1));
}

static void reset(uint64_t to_emit) {
    memset(&spout, 0, sizeof spout);
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    memset(&c, 0, sizeof c);
    spout.to_emit = to_emit;
    a.on = rig_pass;
    b.on = rig_pass;
    c.on = rig_take;
}

/* spout -> a -> c, with a deadline. */
static void begin(rig *r, gale_bolt last) {
    rig_init(r);
    at = r;
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "a", rig_simple(&a), 1);
    gale_topology_add_bolt(r->topology, "c", last, 1);
    gale_topology_subscribe(r->topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "c", "a", NULL, gale_shuffle());
    gale_topology_set(r->topology, NULL, "topology.message.deadline.secs", gale_f64(0.1));
}

static int64_t now(void) {
    gale_clock clock = gale_manual_clock_handle(at->clock);
    return clock.now(clock.user);
}

/* Takes ten milliseconds, and sees nothing that is over its deadline. */
static int take_slowly(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    uint64_t number = (uint64_t)gale_tuple_value(tuple, 0).as.i64;
    assert_true(now() <= spout.emitted_at[number % RIG_TUPLES_MAX] + span);
    gale_manual_clock_advance(at->clock, 10 * GALE_MILLISECOND);
    return rig_take(bolt, tuple, out);
}

static void without_a_deadline_nothing_is_too_late(void **state) {
    rig r;
    reset(100);
    begin(&r, rig_simple(&c));
    gale_topology_set(r.topology, NULL, "topology.message.deadline.secs", gale_null());
    c.on = rig_take;
    place(&r, rig_executors(state), "a", "c");
    rig_make(&r, rig_executors(state));
    gale_runtime_step(r.runtime);
    gale_runtime_step(r.runtime);
    gale_manual_clock_advance(r.clock, 20 * GALE_SECOND);
    rig_settle(&r);
    assert_int_equal(spout.acks, 100);
    assert_int_equal(rig_task(&r, "a", 0).expired + rig_task(&r, "c", 0).expired, 0);
    rig_fini(&r);
}

static void what_waits_behind_a_slow_bolt_fails_unexecuted_with_place_and_reason(void **state) {
    rig r;
    reset(100);
    begin(&r, rig_simple(&c));
    c.on = take_slowly;
    place(&r, rig_executors(state), "a", "c");
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    gale_task_stats stats = rig_task(&r, "c", 0);
    assert_int_equal(c.seen, 11); /* at 0, 10, ... 100 ms */
    assert_int_equal(stats.executed, c.seen);
    assert_int_equal(stats.expired, 100 - c.seen);
    assert_int_equal(spout.acks, c.seen);
    assert_int_equal(spout.fails, 100 - c.seen);
    assert_int_equal(spout.last_failure.reason, GALE_REASON_DEADLINE);
    assert_int_equal(spout.last_failure.task, stats.task);
    assert_string_equal(spout.last_component, "c");
    assert_string_equal(spout.last_text,
                        "waited in queues until 0.010 s after its deadline (topology.message.deadline.secs)");
    rig_fini(&r);
}

/* Takes as long as the deadline is, or a nanosecond more. */
static int take_all_the_time(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_manual_clock_advance(at->clock, span + (bolt->user ? 1 : 0));
    return rig_pass(bolt, tuple, out);
}

static void at_its_deadline_a_tuple_is_good_and_a_nanosecond_later_it_is_not(void **state) {
    for (int64_t late = 0; late <= 1; late++) {
        rig r;
        reset(1);
        begin(&r, rig_simple(&c));
        a.on = take_all_the_time;
        a.user = late ? &a : NULL;
        place(&r, rig_executors(state), "a", "c");
        rig_make(&r, rig_executors(state));
        rig_settle(&r);
        assert_int_equal(spout.acks, late ? 0 : 1);
        assert_int_equal(rig_task(&r, "c", 0).expired, late);
        rig_fini(&r);
    }
}

/* Holds the first; takes 50 ms for the second, and emits one tuple that is anchored to both, or to the second alone. */
static int join(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_value values[] = { gale_tuple_value(tuple, 0), gale_tuple_value(tuple, 1) };
    bool first = bolt->held_count == 0;
    gale_manual_clock_advance(at->clock, first ? GALE_MILLISECOND : 50 * GALE_MILLISECOND);
    if (first) return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
    const gale_handle both[] = { gale_tuple_handle(tuple), bolt->held[0] };
    assert_true(gale_emit_anchored(out, 0, values, 2, both, bolt->user ? 2 : 1) >= 0);
    gale_ack(out, both[1]);
    return gale_ack(out, both[0]);
}

/* One is emitted at 0, the other after errors 63 ms later; what joins them is there at 114 ms. Calls of `a` take long
 * from the first one on, so that the clock is read after each. */
static void a_tuple_of_several_anchors_has_the_earliest_deadline(void **state) {
    for (int both = 0; both <= 1; both++) {
        rig r;
        reset(1);
        static rig_spout later;
        memset(&later, 0, sizeof later);
        later.to_emit = 1;
        later.next_fails = 6;
        rig_init(&r);
        at = &r;
        a.on = join;
        a.user = both ? &a : NULL;
        gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
        gale_topology_add_spout(r.topology, "later", rig_spout_of(&later), 1);
        gale_topology_add_bolt(r.topology, "a", rig_manual(&a), 1);
        gale_topology_add_bolt(r.topology, "c", rig_simple(&c), 1);
        gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
        gale_topology_subscribe(r.topology, "a", "later", NULL, gale_shuffle());
        gale_topology_subscribe(r.topology, "c", "a", NULL, gale_shuffle());
        gale_topology_set(r.topology, NULL, "topology.message.deadline.secs", gale_f64(0.1));
        place(&r, rig_executors(state), "a", "c");
        rig_make(&r, rig_executors(state));
        rig_settle(&r);
        rig_advance(&r, 70 * GALE_MILLISECOND, GALE_MILLISECOND);
        assert_in_range(later.emitted_at[0], 60 * GALE_MILLISECOND, 70 * GALE_MILLISECOND);
        assert_int_equal(spout.acks, both ? 0 : 1);
        assert_int_equal(later.acks, both ? 0 : 1);
        assert_int_equal(spout.fails + later.fails, both ? 2 : 0);
        assert_int_equal(rig_task(&r, "c", 0).expired, both);
        rig_fini(&r);
    }
}

static int hold(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (!gale_tuple_is_tick(tuple))
        return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
    for (size_t i = 0; i < bolt->held_count; i++) gale_ack(out, bolt->held[i]);
    bolt->held_count = 0;
    return 0;
}

static void a_held_tuple_is_not_failed_by_its_deadline(void **state) {
    rig r;
    reset(10);
    c.on = hold;
    begin(&r, rig_manual(&c));
    gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_i64(1));
    place(&r, rig_executors(state), "a", "c");
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    assert_int_equal(c.held_count, 10);
    rig_advance(&r, 2 * GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(spout.acks, 10);
    assert_int_equal(rig_task(&r, "c", 0).expired, 0);
    rig_fini(&r);
}

static void a_tuple_that_belongs_to_no_tree_has_no_deadline(void **state) {
    rig r;
    reset(100);
    spout.untracked = true;
    begin(&r, rig_simple(&c));
    place(&r, rig_executors(state), "a", "c");
    rig_make(&r, rig_executors(state));
    while (spout.emitted == 0) gale_runtime_step(r.runtime);
    gale_manual_clock_advance(r.clock, GALE_SECOND);
    rig_settle(&r);
    assert_int_equal(c.seen, 100);
    rig_fini(&r);
}

enum { MANY = 300 };

/* Holds so many that their roots do not fit a record; then one tuple for all of them. */
static int gather(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_value values[] = { gale_tuple_value(tuple, 0), gale_tuple_value(tuple, 1) };
    gale_manual_clock_advance(at->clock, 100 * GALE_MICROSECOND); /* slow ones: the clock is read after each */
    int rc = gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
    if (rc < 0 || bolt->held_count < MANY) return rc;
    gale_manual_clock_advance(at->clock, bolt->user ? span + 1 : 0);
    assert_true(gale_emit_anchored(out, 0, values, 2, bolt->held, MANY) >= 0);
    for (size_t i = 0; i < MANY; i++) gale_ack(out, bolt->held[i]);
    bolt->held_count = 0;
    return 0;
}

static void a_deadline_and_more_roots_than_fit_go_together(void **state) {
    for (int late = 0; late <= 1; late++) {
        rig r;
        reset(MANY);
        rig_init(&r);
        at = &r;
        a.on = gather;
        a.user = late ? &a : NULL;
        gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
        gale_topology_add_bolt(r.topology, "a", rig_manual(&a), 1);
        gale_topology_add_bolt(r.topology, "c", rig_simple(&c), 1);
        gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
        gale_topology_subscribe(r.topology, "c", "a", NULL, gale_shuffle());
        gale_topology_set(r.topology, NULL, "topology.message.deadline.secs", gale_f64(0.1));
        place(&r, rig_executors(state), "a", "c");
        rig_make(&r, rig_executors(state));
        rig_settle(&r);
        assert_int_equal(c.seen, late ? 0 : 1);
        assert_int_equal(spout.acks, late ? 0 : MANY);
        assert_int_equal(spout.fails, late ? MANY : 0);
        assert_int_equal(rig_task(&r, "c", 0).expired, late);
        rig_fini(&r);
    }
}

#define ON_1_2_8(f)                                                                                                    \
    { #f " on 1 executor", f, NULL, NULL, &one }, { #f " on 2 executors", f, NULL, NULL, &two }, {                     \
#f " on 8 executors", f, NULL, NULL, &eight                                                                    \
    }

int main(void) {
    static uint32_t one = 1, two = 2, eight = 8;
    const struct CMUnitTest tests[] = {
        ON_1_2_8(without_a_deadline_nothing_is_too_late),
        ON_1_2_8(what_waits_behind_a_slow_bolt_fails_unexecuted_with_place_and_reason),
        ON_1_2_8(at_its_deadline_a_tuple_is_good_and_a_nanosecond_later_it_is_not),
        ON_1_2_8(a_tuple_of_several_anchors_has_the_earliest_deadline),
        ON_1_2_8(a_held_tuple_is_not_failed_by_its_deadline),
        ON_1_2_8(a_tuple_that_belongs_to_no_tree_has_no_deadline),
        ON_1_2_8(a_deadline_and_more_roots_than_fit_go_together),
    };
    return rig_run_on_both_ledgers(tests);
}
