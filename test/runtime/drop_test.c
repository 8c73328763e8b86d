/* Drop policies on the hand-moved clock: nobody is held, order is kept, every tuple is executed, dropped or waits. */
#include "ds/batch.h"
#include "runtime/rig.h"

#include "harness/counting_allocator.h"

#include <string.h>

static rig_spout spout, other;
static rig_bolt a, b, c;
static gale_manual_clock *the_clock;
static int64_t last_seen, first_gap, seen_of_other;
static uint64_t delay; /* ns that a tuple takes */

/* A row has two numbers and one root; batches count whole, and the last one may be above the mark. */
enum { HIGH = 256 << 10, ROW = 48, BATCH = GX_BATCH_LARGE, LEAST = HIGH / 64, MOST = (HIGH + 2 * BATCH) / ROW };

/* Puts bolts on other executors than their spout, when there are others. */
static void place(rig *r, uint32_t executors, const char *first, const char *last) {
    if (first) gale_topology_set(r->topology, first, "gale.executor", gale_i64(executors / 2));
    if (last) gale_topology_set(r->topology, last, "gale.executor", gale_i64(executors - 1));
}

static void reset(uint64_t to_emit) {
    memset(&spout, 0, sizeof spout);
    memset(&other, 0, sizeof other);
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    memset(&c, 0, sizeof c);
    spout.to_emit = to_emit;
    a.on = rig_pass;
    b.on = rig_pass;
    c.on = rig_take;
    last_seen = -1;
    first_gap = -1;
    seen_of_other = 0;
    delay = 10 * GALE_MILLISECOND;
}

/* Takes its time, and sees the numbers grow; notes where the first was missing. */
static int slow(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    int64_t number = gale_tuple_value(tuple, 0).as.i64;
    if (gale_tuple_is_tick(tuple)) return rig_take(bolt, tuple, out);
    assert_true(number > last_seen);
    if (number > last_seen + 1 && first_gap < 0) first_gap = last_seen + 1;
    last_seen = number;
    gale_manual_clock_advance(the_clock, (int64_t)delay);
    return rig_take(bolt, tuple, out);
}

static void begin(rig *r) {
    rig_init(r);
    the_clock = r->clock;
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "c", rig_simple(&c), 1);
    gale_topology_set(r->topology, NULL, "topology.enable.message.timeouts", gale_bool(false));
    c.on = slow;
}

static uint64_t dropped_of(const rig *r, const char *component, uint32_t input) {
    const char *source, *stream;
    int32_t policy;
    uint64_t dropped;
    uint32_t task = rig_task_number(r, component, 0);
    assert_true(gale_runtime_input_stats(r->runtime, task, input, &source, &stream, &policy, &dropped));
    return dropped;
}

/* --- Each policy --- */

enum { TUPLES = 12000 };

static void run_policy(rig *r, gale_grouping grouping, uint32_t executors) {
    reset(TUPLES);
    begin(r);
    gale_topology_subscribe(r->topology, "c", "spout", NULL, grouping);
    place(r, executors, NULL, "c");
    rig_make(r, executors);
    for (int steps = 0; spout.emitted < TUPLES; steps++) {
        assert_true(steps < TUPLES / 200); /* nobody holds it */
        gale_runtime_step(r->runtime);
    }
    gale_task_stats stats = rig_task(r, "c", 0);
    assert_true(stats.queued_bytes_max <= HIGH + BATCH);
    rig_settle(r);
    assert_int_equal(rig_task(r, "spout", 0).transferred, TUPLES);
    stats = rig_task(r, "c", 0);
    assert_int_equal(stats.executed, c.seen);
    assert_int_equal(stats.executed + stats.dropped, TUPLES);
    assert_int_equal(stats.dropped, dropped_of(r, "c", 0));
    assert_int_equal(stats.acked, c.seen);
    assert_int_equal(spout.acks, TUPLES); /* what is dropped is not wanted again */
    assert_int_equal(spout.fails, 0);
    assert_true(stats.executed > LEAST && stats.executed < MOST);
    assert_int_equal(rig_task(r, "spout", 0).held_nanoseconds, 0);
}

static void newest_keeps_what_waits_and_drops_what_comes(void **state) {
    rig r;
    run_policy(&r, gale_drop_newest(gale_shuffle()), rig_executors(state));
    assert_true(first_gap < 0 || first_gap > LEAST); /* everything up to the mark was taken */
    rig_fini(&r);
}

static void oldest_makes_room_for_what_comes(void **state) {
    rig r;
    run_policy(&r, gale_drop_oldest(gale_shuffle()), rig_executors(state));
    assert_true(first_gap < 200);
    assert_int_equal(last_seen, TUPLES - 1);
    assert_true(c.seen - (uint64_t)first_gap >= LEAST); /* and the latest ones, up to the mark */
    rig_fini(&r);
}

static void a_policy_on_a_queue_that_never_fills_drops_nothing(void **state) {
    for (int newest = 0; newest <= 1; newest++) {
        rig r;
        reset(TUPLES);
        begin(&r);
        delay = 0;
        gale_grouping grouping = gale_shuffle();
        grouping = newest ? gale_drop_newest(grouping) : gale_drop_oldest(grouping);
        gale_topology_subscribe(r.topology, "c", "spout", NULL, grouping);
        gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_i64(1));
        place(&r, rig_executors(state), NULL, "c");
        rig_make(&r, rig_executors(state));
        rig_settle(&r);
        rig_advance(&r, 3 * GALE_SECOND, 100 * GALE_MILLISECOND);
        assert_int_equal(c.seen, TUPLES);
        assert_int_equal(c.ticks, 3);
        assert_int_equal(rig_task(&r, "c", 0).dropped, 0);
        rig_drain(&r);
        rig_fini(&r);
    }
}

/* --- With other edges --- */

/* What comes from `other` (key 1) must all come, in order; from `spout`, some of it. */
static int slow_for_both(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (gale_tuple_value(tuple, 1).as.i64 == 0) return slow(bolt, tuple, out);
    assert_int_equal(gale_tuple_value(tuple, 0).as.i64, 2 * seen_of_other + 1);
    seen_of_other++;
    gale_manual_clock_advance(the_clock, (int64_t)delay);
    return rig_take(bolt, tuple, out);
}

/* Emits the odd numbers only, whose keys are 1, to the default stream. */
static int odd_ones(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    return gale_tuple_value(tuple, 1).as.i64 ? rig_pass(bolt, tuple, out) : 0;
}

static void an_edge_without_a_policy_still_holds_its_feeders_and_loses_nothing(void **state) {
    for (int newest = 0; newest <= 1; newest++) {
        rig r;
        reset(UINT64_MAX);
        begin(&r);
        c.on = slow_for_both;
        a.on = odd_ones;
        other.to_emit = UINT64_MAX;
        other.keys = 2;
        gale_topology_add_spout(r.topology, "other", rig_spout_of(&other), 1);
        gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 1);
        gale_topology_subscribe(r.topology, "a", "other", NULL, gale_shuffle());
        gale_topology_subscribe(r.topology, "c", "a", NULL, gale_shuffle());
        gale_grouping grouping = gale_shuffle();
        gale_topology_subscribe(r.topology, "c", "spout", NULL,
                                newest ? gale_drop_newest(grouping) : gale_drop_oldest(grouping));
        place(&r, rig_executors(state), "a", "c");
        rig_make(&r, rig_executors(state));
        for (int i = 0; i < 2000; i++) gale_runtime_step(r.runtime);
        uint64_t reserved = rig_stats(&r)->memory_reserved, taken = (uint64_t)seen_of_other;
        for (int i = 0; i < 2000; i++) gale_runtime_step(r.runtime);
        assert_true(rig_stats(&r)->memory_reserved <= reserved + (256 << 10)); /* of 28 MB that came */
        assert_true((uint64_t)seen_of_other > taken); /* the flood of the one does not starve the other */
        assert_true(spout.emitted > 2000 * 200);
        assert_true(other.emitted < 3 * TUPLES);
        assert_int_equal(rig_task(&r, "spout", 0).held_nanoseconds, 0);
        assert_true(rig_task(&r, "other", 0).held_nanoseconds > 0);
        spout.to_emit = spout.emitted;
        other.to_emit = other.emitted;
        rig_settle(&r);
        gale_task_stats stats = rig_task(&r, "c", 0);
        assert_int_equal(dropped_of(&r, "c", 0), 0);
        assert_int_equal(stats.dropped, dropped_of(&r, "c", 1));
        assert_int_equal(stats.executed - (uint64_t)seen_of_other + stats.dropped, spout.emitted);
        assert_int_equal(seen_of_other, other.emitted / 2);
        assert_int_equal(spout.acks, spout.emitted);
        assert_int_equal(other.acks, other.emitted);
        rig_fini(&r);
    }
}

/* One task's two streams to one task: the side with the odd numbers drops nothing. */
static int by_turns(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt;
    gale_value values[] = { gale_tuple_value(tuple, 0), gale_i64(0) };
    bool side = values[0].as.i64 % 16 == 15;
    return gale_emit(out, side ? 1 : 0, values, side ? 1 : 2) < 0 ? GALE_COMPONENT : 0;
}

static void order_is_kept_between_two_tasks_on_streams_with_and_without_a_policy(void **state) {
    rig r;
    reset(3 * TUPLES);
    begin(&r);
    a.on = by_turns;
    gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 1);
    gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r.topology, "c", "a", NULL, gale_drop_oldest(gale_shuffle()));
    gale_topology_subscribe(r.topology, "c", "a", "side", gale_shuffle());
    place(&r, rig_executors(state), "a", "c");
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    gale_task_stats stats = rig_task(&r, "c", 0);
    assert_true(stats.dropped > 0);
    assert_int_equal(stats.executed + stats.dropped, 3 * TUPLES);
    assert_int_equal(dropped_of(&r, "c", 1), 0);
    assert_int_equal(spout.acks, 3 * TUPLES);
    rig_fini(&r);
}

static int burst(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt;
    for (int i = 0; i < TUPLES; i++) {
        gale_value values[] = { gale_i64(gale_tuple_value(tuple, 0).as.i64 * TUPLES + i), gale_i64(0) };
        if (gale_emit(out, 0, values, 2) != 1) return GALE_COMPONENT;
    }
    return 0;
}

/* More than a ring holds, in one call: the writer drops what finds no room. */
static void a_ring_that_is_full_drops_whatever_the_policy_and_counts_it(void **state) {
    for (int newest = 0; newest <= 1; newest++) {
        rig r;
        reset(5);
        begin(&r);
        a.on = burst;
        delay = 0;
        gale_grouping grouping = gale_shuffle();
        gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 1);
        gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
        gale_topology_subscribe(r.topology, "c", "a", NULL,
                                newest ? gale_drop_newest(grouping) : gale_drop_oldest(grouping));
        gale_topology_set(r.topology, "c", "gale.executor", gale_i64(rig_executors(state) - 1));
        rig_make(&r, rig_executors(state));
        rig_settle(&r);
        gale_task_stats stats = rig_task(&r, "c", 0);
        assert_int_equal(rig_task(&r, "a", 0).transferred, 5 * TUPLES);
        assert_int_equal(stats.executed + stats.dropped, 5 * TUPLES);
        assert_true(stats.dropped > 0);
        assert_int_equal(stats.executed, c.seen);
        assert_int_equal(spout.acks, 5);
        rig_fini(&r);
    }
}

/* --- Cycles --- */

/* Emits each tuple twice to itself: the record in execution lies in the list that its own output overflows. */
static int to_itself(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    int64_t before = gale_tuple_value(tuple, 0).as.i64;
    int rc = rig_twice(bolt, tuple, out);
    bolt->seen++;
    assert_int_equal(gale_tuple_value(tuple, 0).as.i64, before);
    return rc;
}

static void a_task_that_feeds_itself_more_than_it_takes_is_bounded_by_its_policy(void **state) {
    for (int newest = 0; newest <= 1; newest++) {
        rig r;
        reset(1);
        rig_init(&r);
        a.on = to_itself;
        gale_grouping grouping = gale_shuffle();
        gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
        gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 1);
        gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
        gale_topology_subscribe(r.topology, "a", "a", NULL,
                                newest ? gale_drop_newest(grouping) : gale_drop_oldest(grouping));
        place(&r, rig_executors(state), "a", NULL);
        rig_make(&r, rig_executors(state));
        for (int i = 0; i < 200; i++) gale_runtime_step(r.runtime);
        gale_task_stats stats = rig_task(&r, "a", 0);
        assert_true(stats.executed > 100000);
        assert_true(stats.queued_bytes_max <= HIGH + 2 * BATCH);
        assert_int_equal(stats.overflowed, 0);
        uint64_t waiting = stats.transferred + 1 - stats.executed - stats.dropped;
        assert_true(waiting > 0 && waiting * ROW < stats.queued_bytes);
        gale_runtime_stop(r.runtime);
        while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
        }
        assert_int_equal(spout.acks + spout.fails, 1);
        rig_fini(&r);
    }
}

/* --- Misuse and memory --- */

static void a_policy_that_does_not_exist_is_refused(void **state) {
    (void)state;
    rig r;
    reset(1);
    begin(&r);
    gale_grouping grouping = gale_shuffle();
    grouping.drop = GALE_DROP_COUNT;
    assert_int_equal(gale_topology_subscribe(r.topology, "c", "spout", NULL, grouping), GALE_TOPOLOGY);
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_topology_check(r.topology, &error), GALE_TOPOLOGY);
    assert_non_null(strstr(error.text, "there is no drop policy 3"));
    assert_string_equal(gale_drop_name(GALE_DROP_OLDEST), "oldest");
    assert_string_equal(gale_drop_name(-1), "unknown");
    gale_topology_free(r.topology);
    gale_manual_clock_free(r.clock);
}

static void figures_of_inputs_name_them_and_end_where_they_end(void **state) {
    (void)state;
    rig r;
    reset(1);
    begin(&r);
    gale_topology_subscribe(r.topology, "c", "spout", NULL, gale_drop_oldest(gale_fields("number")));
    rig_make(&r, 1);
    const char *source, *stream;
    int32_t policy;
    uint64_t dropped;
    uint32_t bolt = rig_task_number(&r, "c", 0), emitter = rig_task_number(&r, "spout", 0);
    assert_true(gale_runtime_input_stats(r.runtime, bolt, 0, &source, &stream, &policy, &dropped));
    assert_string_equal(source, "spout");
    assert_string_equal(stream, "default");
    assert_int_equal(policy, GALE_DROP_OLDEST);
    assert_int_equal(dropped, 0);
    assert_false(gale_runtime_input_stats(r.runtime, bolt, 1, &source, &stream, &policy, &dropped));
    assert_false(gale_runtime_input_stats(r.runtime, emitter, 0, &source, &stream, &policy, &dropped));
    assert_false(gale_runtime_input_stats(r.runtime, 0, 0, &source, &stream, &policy, &dropped));
    assert_false(gale_runtime_input_stats(r.runtime, 3, 0, &source, &stream, &policy, &dropped));
    rig_fini(&r);
}

/* Lists of their own, deadlines and holds, while memory is out for one allocation, or for all from then on. */
static void any_allocation_may_fail(void **state) {
    for (int for_ever = 0; for_ever <= 1; for_ever++) {
        bool reached = true;
        uint64_t n = 1;
        for (; reached; n++) {
            counting_allocator counting = { .fail_at = n, .fail_after = for_ever };
            gale_allocator allocator = counting_handle(&counting);
            rig r;
            reset(600);
            begin(&r);
            a.on = by_turns;
            gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 1);
            gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
            gale_topology_subscribe(r.topology, "c", "a", NULL, gale_drop_oldest(gale_shuffle()));
            gale_topology_subscribe(r.topology, "c", "a", "side", gale_drop_newest(gale_shuffle()));
            gale_topology_set(r.topology, NULL, "topology.message.deadline.secs", gale_i64(4));
            gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
            gale_clock clock = gale_manual_clock_handle(r.clock);
            options.executors = rig_executors(state);
            options.allocator = &allocator;
            options.clock = &clock;
            options.seed = 1;
            options.queue_limit = 4096; /* below the mark: the policies go by it, too */
            gale_error error = GALE_ERROR_INIT;
            int rc = gale_runtime_new(r.topology, &options, &r.runtime, &error);
            assert_true(rc == GALE_OK || rc == GALE_NO_MEMORY);
            for (int i = 0; rc == GALE_OK && i < 300; i++) {
                gale_runtime_step(r.runtime);
                gale_manual_clock_advance(r.clock, i < 100 ? 0 : GALE_SECOND);
            }
            gale_runtime_free(rc == GALE_OK ? r.runtime : NULL, -1, NULL);
            assert_int_equal(spout.acks + spout.fails, spout.emitted);
            gale_topology_free(r.topology);
            gale_manual_clock_free(r.clock);
            reached = counting.calls >= n;
            assert_int_equal(counting.blocks, 0);
        }
        assert_true(n > 20);
    }
}

#define ON_1_2_8(f)                                                                                                    \
    { #f " on 1 executor", f, NULL, NULL, &one }, { #f " on 2 executors", f, NULL, NULL, &two }, {                     \
#f " on 8 executors", f, NULL, NULL, &eight                                                                    \
    }

int main(void) {
    static uint32_t one = 1, two = 2, eight = 8;
    const struct CMUnitTest tests[] = {
        ON_1_2_8(newest_keeps_what_waits_and_drops_what_comes),
        ON_1_2_8(oldest_makes_room_for_what_comes),
        ON_1_2_8(a_policy_on_a_queue_that_never_fills_drops_nothing),
        ON_1_2_8(an_edge_without_a_policy_still_holds_its_feeders_and_loses_nothing),
        ON_1_2_8(order_is_kept_between_two_tasks_on_streams_with_and_without_a_policy),
        ON_1_2_8(a_ring_that_is_full_drops_whatever_the_policy_and_counts_it),
        ON_1_2_8(a_task_that_feeds_itself_more_than_it_takes_is_bounded_by_its_policy),
        ON_1_2_8(any_allocation_may_fail),
        cmocka_unit_test(a_policy_that_does_not_exist_is_refused),
        cmocka_unit_test(figures_of_inputs_name_them_and_end_where_they_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
