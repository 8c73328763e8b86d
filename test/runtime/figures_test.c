/* What a runtime says of itself, against what is known to have happened: on the hand-moved clock exactly, on threads as far as it
 * is the same every time. */
#include "runtime/rig.h"

#include <string.h>

static rig_spout spout;
static rig_bolt a, c;
static gale_manual_clock *the_clock;
static int64_t cost; /* ns of a call of c */

static void reset(uint64_t to_emit) {
    memset(&spout, 0, sizeof spout);
    memset(&a, 0, sizeof a);
    memset(&c, 0, sizeof c);
    spout.to_emit = to_emit;
    a.on = rig_pass;
    c.on = rig_take;
    cost = 0;
}

static int slowly(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_manual_clock_advance(the_clock, cost);
    return rig_take(bolt, tuple, out);
}

static void build(rig *r, gale_bolt last) {
    rig_init(r);
    the_clock = r->clock;
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "a", rig_simple(&a), 1);
    gale_topology_add_bolt(r->topology, "c", last, 1);
    gale_topology_subscribe(r->topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "c", "a", NULL, gale_shuffle());
}

static gale_latency latency_of(const rig *r, const char *component, int32_t kind) {
    gale_latency latency = { .size = sizeof latency };
    assert_int_equal(gale_runtime_latency(r->runtime, component, kind, NULL, 0, NULL, &latency), GALE_OK);
    return latency;
}

/* --- Latency --- */

static void nothing_has_no_latency(void **state) {
    rig r;
    (void)state;
    reset(0);
    build(&r, rig_simple(&c));
    rig_make(&r, 1);
    rig_settle(&r);
    for (int32_t kind = 0; kind < GALE_LATENCY_COUNT; kind++) {
        gale_latency none = latency_of(&r, NULL, kind);
        assert_int_equal(none.count + (uint64_t)none.mean + (uint64_t)none.p99 + (uint64_t)none.max, 0);
        assert_true(none.sum == 0);
    }
    rig_fini(&r);
}

static void every_tree_that_is_acked_has_a_complete_latency(void **state) {
    rig r;
    (void)state;
    reset(1000);
    build(&r, rig_simple(&c));
    rig_make(&r, 1);
    rig_settle(&r);
    assert_int_equal(latency_of(&r, "spout", GALE_LATENCY_COMPLETE).count, 1000);
    assert_int_equal(latency_of(&r, NULL, GALE_LATENCY_COMPLETE).count, 1000);
    assert_int_equal(latency_of(&r, "c", GALE_LATENCY_COMPLETE).count, 0);
    assert_int_equal(latency_of(&r, "spout", GALE_LATENCY_EXECUTE).count, 0);
    rig_fini(&r);
}

static void a_tree_that_failed_has_none(void **state) {
    rig r;
    (void)state;
    reset(7);
    c.on = rig_refuse;
    build(&r, rig_simple(&c));
    rig_make(&r, 1);
    rig_settle(&r);
    assert_int_equal(spout.fails, 7);
    assert_int_equal(latency_of(&r, NULL, GALE_LATENCY_COMPLETE).count, 0);
    assert_int_equal(latency_of(&r, "c", GALE_LATENCY_PROCESS).count, 0);
    rig_fini(&r);
}

/* Each call of a slow bolt is measured, but for the ones before it is known to be slow. */
static void a_slow_bolts_latency_is_what_its_calls_took(void **state) {
    rig r;
    (void)state;
    reset(100);
    c.on = slowly;
    cost = 10 * GALE_MILLISECOND;
    build(&r, rig_simple(&c));
    rig_make(&r, 1);
    rig_settle(&r);
    gale_latency execute = latency_of(&r, "c", GALE_LATENCY_EXECUTE),
                 process = latency_of(&r, "c", GALE_LATENCY_PROCESS);
    assert_int_equal(execute.count, 100);
    assert_int_equal(execute.max, cost);
    assert_int_equal(execute.p50, cost);
    assert_true(execute.mean > cost - cost / 60 && execute.mean < cost + cost / 60);
    assert_int_equal(process.count, 100);
    assert_int_equal(process.max, cost);
    assert_int_equal(latency_of(&r, "a", GALE_LATENCY_EXECUTE).max, 0);
    rig_fini(&r);
}

/* Of a quick bolt one call in 64 is measured, and counts for 64. */
static void a_sample_counts_for_the_calls_since_the_one_before(void **state) {
    rig r;
    (void)state;
    reset(64 * 10 + 1);
    build(&r, rig_simple(&c));
    rig_make(&r, 1);
    rig_settle(&r);
    assert_int_equal(latency_of(&r, "a", GALE_LATENCY_EXECUTE).count, 641);
    assert_int_equal(latency_of(&r, "a", GALE_LATENCY_PROCESS).count, 641);
    assert_int_equal(rig_task(&r, "a", 0).execute_samples, 11);
    rig_fini(&r);
}

static int hold(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (!gale_tuple_is_tick(tuple)) {
        gale_manual_clock_advance(the_clock, cost);
        return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
    }
    for (size_t i = 0; i < bolt->held_count; i++) gale_ack(out, bolt->held[i]);
    bolt->held_count = 0;
    return 0;
}

static void what_is_held_is_in_process_until_it_is_acked(void **state) {
    rig r;
    (void)state;
    reset(1);
    c.on = hold;
    cost = GALE_MILLISECOND;
    build(&r, rig_manual(&c));
    gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_f64(2));
    rig_make(&r, 1);
    rig_settle(&r);
    assert_int_equal(latency_of(&r, "c", GALE_LATENCY_EXECUTE).max, cost);
    assert_int_equal(latency_of(&r, "c", GALE_LATENCY_PROCESS).count, 0);
    rig_advance(&r, 3 * GALE_SECOND, GALE_SECOND);
    gale_latency process = latency_of(&r, "c", GALE_LATENCY_PROCESS);
    assert_int_equal(process.count, 1);
    assert_true(process.max >= GALE_SECOND && process.max <= 3 * GALE_SECOND);
    rig_fini(&r);
}

static int flush_slowly(rig_bolt *bolt, gale_collector *out) {
    (void)bolt, (void)out;
    gale_manual_clock_advance(the_clock, GALE_SECOND);
    return 0;
}

static void what_a_flush_acks_is_in_process_until_its_end(void **state) {
    rig r;
    (void)state;
    reset(64);
    c.on_flush = flush_slowly;
    build(&r, rig_simple(&c));
    rig_make(&r, 1);
    rig_settle(&r);
    gale_latency process = latency_of(&r, "c", GALE_LATENCY_PROCESS);
    assert_int_equal(spout.acks, 64);
    assert_true(process.count >= 1 && process.count <= 64);
    assert_true(process.p50 >= GALE_SECOND);
    assert_true(latency_of(&r, "c", GALE_LATENCY_EXECUTE).max < GALE_SECOND);
    rig_fini(&r);
}

static int take_all(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    (void)out;
    while (gale_batch_next(tuples)) {
        bolt->seen++;
        gale_manual_clock_advance(the_clock, cost);
    }
    return 0;
}

static void rows_that_are_executed_at_once_share_their_call(void **state) {
    rig r;
    (void)state;
    reset(100);
    c.on = NULL;
    c.on_batch = take_all;
    cost = GALE_MILLISECOND;
    build(&r, rig_simple(&c));
    rig_make(&r, 1);
    rig_settle(&r);
    gale_latency execute = latency_of(&r, "c", GALE_LATENCY_EXECUTE);
    assert_int_equal(c.seen, 100);
    assert_int_equal(execute.count, 100);
    assert_int_equal(execute.max, cost);
    assert_int_equal(latency_of(&r, "c", GALE_LATENCY_PROCESS).count, 100);
    rig_fini(&r);
}

static void bounds_count_what_is_at_or_below_them(void **state) {
    const int64_t bounds[] = { GALE_MILLISECOND, 11 * GALE_MILLISECOND, INT64_MAX };
    uint64_t counts[3];
    rig r;
    (void)state;
    reset(50);
    c.on = slowly;
    cost = 10 * GALE_MILLISECOND;
    build(&r, rig_simple(&c));
    rig_make(&r, 1);
    rig_settle(&r);
    assert_int_equal(gale_runtime_latency(r.runtime, "c", GALE_LATENCY_EXECUTE, bounds, 3, counts, NULL), GALE_OK);
    assert_int_equal(counts[0], 0);
    assert_int_equal(counts[1], 50);
    assert_int_equal(counts[2], 50);
    rig_fini(&r);
}

static void a_latency_that_there_is_not_is_refused(void **state) {
    const int64_t falling[] = { 2, 1 };
    uint64_t counts[2] = { 5, 5 };
    rig r;
    (void)state;
    reset(1);
    build(&r, rig_simple(&c));
    rig_make(&r, 1);
    assert_int_equal(gale_runtime_latency(NULL, NULL, 0, NULL, 0, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_runtime_latency(r.runtime, NULL, -1, NULL, 0, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_runtime_latency(r.runtime, NULL, GALE_LATENCY_COUNT, NULL, 0, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_runtime_latency(r.runtime, "b", 0, NULL, 0, NULL, NULL), GALE_NOT_FOUND);
    assert_int_equal(gale_runtime_latency(r.runtime, NULL, 0, falling, 2, counts, NULL), GALE_INVALID);
    assert_int_equal(gale_runtime_latency(r.runtime, NULL, 0, falling, 1, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_runtime_latency(r.runtime, NULL, 0, NULL, 1, counts, NULL), GALE_INVALID);
    assert_int_equal(counts[0] + counts[1], 10);
    struct {
        gale_latency latency;
        char behind;
    } old = { .behind = 'x' };
    old.latency.size = offsetof(gale_latency, sum);
    old.latency.max = 77;
    assert_int_equal(gale_runtime_latency(r.runtime, NULL, 0, NULL, 0, NULL, &old.latency), GALE_OK);
    assert_int_equal(old.latency.size, offsetof(gale_latency, sum));
    assert_int_equal(old.latency.max, 77);
    rig_fini(&r);
}

/* --- Edges --- */

/* Each number to the default stream, each that ends in 7 to `side` as well. */
static int forks(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_value values[2] = { gale_tuple_value(tuple, 0), gale_tuple_value(tuple, 1) };
    bolt->seen++;
    int rc = gale_emit(out, 0, values, 2);
    if (rc >= 0 && values[0].as.i64 % 10 == 7) rc = gale_emit(out, 1, values, 1);
    return rc < 0 ? rc : 0;
}

/* From the spout and from both streams of a. */
static void build_forked(rig *r, gale_bolt last) {
    a.on = forks;
    build(r, last);
    gale_topology_subscribe(r->topology, "c", "a", "side", gale_shuffle());
    gale_topology_subscribe(r->topology, "c", "spout", NULL, gale_shuffle());
}

static gale_edge_stats edge_of(const rig *r, const char *bolt, const char *source, const char *stream) {
    uint32_t task = rig_task_number(r, bolt, 0);
    gale_edge_stats edge = { .size = sizeof edge };
    for (uint32_t i = 0; gale_runtime_edge_stats(r->runtime, task, i, &edge); i++)
        if (strcmp(edge.source, source) == 0 && strcmp(edge.stream, stream) == 0) return edge;
    fail_msg("%s has no input %s of %s", bolt, stream, source);
    return edge;
}

static void assert_edge(gale_edge_stats edge, uint64_t executed, uint64_t acked, uint64_t failed, uint64_t rejected) {
    assert_int_equal(edge.executed, executed);
    assert_int_equal(edge.acked, acked);
    assert_int_equal(edge.failed, failed);
    assert_int_equal(edge.rejected, rejected);
}

static void assert_forked(const rig *r, uint64_t n) {
    assert_edge(edge_of(r, "a", "spout", "default"), n, n, 0, 0);
    assert_edge(edge_of(r, "c", "spout", "default"), n, n, 0, 0);
    assert_edge(edge_of(r, "c", "a", "default"), n, n, 0, 0);
    assert_edge(edge_of(r, "c", "a", "side"), n / 10, n / 10, 0, 0);
}

static void each_input_is_counted_by_itself(void **state) {
    rig r;
    (void)state;
    reset(2000);
    build_forked(&r, rig_simple(&c));
    rig_make(&r, 2);
    rig_settle(&r);
    assert_forked(&r, 2000);
    assert_int_equal(c.seen, 4200);
    assert_int_equal(rig_task(&r, "c", 0).executed, 4200);
    assert_int_equal(rig_task(&r, "c", 0).acked, 4200);
    rig_fini(&r);
}

static void and_so_where_rows_are_executed_at_once_or_acked_by_a_flush(void **state) {
    (void)state;
    for (int flushed = 0; flushed < 2; flushed++) {
        rig r;
        reset(2000);
        c.on = NULL;
        c.on_batch = take_all;
        if (flushed) c.on_flush = flush_slowly;
        build_forked(&r, rig_simple(&c));
        rig_make(&r, 1);
        rig_settle(&r);
        assert_forked(&r, 2000);
        rig_fini(&r);
    }
}

static bool is_side(const gale_tuple *tuple) {
    return strcmp(gale_tuple_stream(tuple), "side") == 0;
}

/* Of `side` it fails the first and rejects the second; what a sends it holds; what the spout sends it acks. */
static int by_input(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_handle handle = gale_tuple_handle(tuple);
    if (gale_tuple_is_tick(tuple)) {
        for (size_t i = 0; i < bolt->held_count; i++) gale_ack(out, bolt->held[i]);
        bolt->held_count = 0;
        return 0;
    }
    if (is_side(tuple)) return gale_fail(out, handle, bolt->seen++ ? GALE_REASON_REJECTED : GALE_REASON_FAILED, "no");
    if (strcmp(gale_tuple_component(tuple), "spout") == 0) return gale_ack(out, handle);
    return gale_tuple_hold(out, handle, &bolt->held[bolt->held_count++]);
}

static void what_is_answered_late_or_badly_is_counted_where_it_came_by(void **state) {
    rig r;
    (void)state;
    reset(20);
    c.on = by_input;
    build_forked(&r, rig_manual(&c));
    gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_f64(1));
    rig_make(&r, 1);
    rig_settle(&r);
    assert_edge(edge_of(&r, "c", "spout", "default"), 20, 20, 0, 0);
    assert_edge(edge_of(&r, "c", "a", "default"), 20, 0, 0, 0);
    assert_edge(edge_of(&r, "c", "a", "side"), 2, 0, 1, 1);
    rig_advance(&r, 2 * GALE_SECOND, GALE_SECOND);
    assert_edge(edge_of(&r, "c", "a", "default"), 20, 20, 0, 0);
    rig_fini(&r);
}

static void an_edge_knows_what_its_tuples_took(void **state) {
    rig r;
    (void)state;
    reset(10);
    c.on = slowly;
    cost = 10 * GALE_MILLISECOND;
    build_forked(&r, rig_simple(&c));
    rig_make(&r, 1);
    rig_settle(&r);
    gale_edge_stats edge = edge_of(&r, "c", "a", "side");
    assert_int_equal(edge.execute_count, 1);
    assert_int_equal(edge.execute_nanoseconds, cost);
    assert_int_equal(edge.process_count, 1);
    assert_int_equal(edge.process_nanoseconds, cost);
    assert_int_equal(edge_of(&r, "c", "spout", "default").execute_nanoseconds, 10 * (uint64_t)cost);
    rig_fini(&r);
}

static void what_expired_is_counted_where_it_came_by(void **state) {
    rig r;
    (void)state;
    reset(3);
    c.on = slowly;
    cost = GALE_SECOND;
    build_forked(&r, rig_simple(&c));
    gale_topology_set(r.topology, NULL, "topology.message.deadline.secs", gale_f64(0.1));
    rig_make(&r, 1);
    rig_settle(&r);
    gale_edge_stats direct = edge_of(&r, "c", "spout", "default"), led = edge_of(&r, "c", "a", "default");
    assert_int_equal(direct.executed + direct.expired + led.executed + led.expired, 6);
    assert_int_equal(direct.acked, direct.executed);
    assert_int_equal(rig_task(&r, "c", 0).expired, direct.expired + led.expired);
    assert_true(direct.expired + led.expired > 0);
    rig_fini(&r);
}

static void an_edge_that_there_is_not_is_refused(void **state) {
    gale_edge_stats edge = { .size = offsetof(gale_edge_stats, executed), .executed = 77 };
    rig r;
    (void)state;
    reset(1);
    build(&r, rig_simple(&c));
    rig_make(&r, 1);
    assert_false(gale_runtime_edge_stats(NULL, 1, 0, &edge));
    assert_false(gale_runtime_edge_stats(r.runtime, 0, 0, &edge));
    assert_false(gale_runtime_edge_stats(r.runtime, gale_runtime_task_count(r.runtime) + 1, 0, &edge));
    assert_false(gale_runtime_edge_stats(r.runtime, rig_task_number(&r, "spout", 0), 0, &edge));
    assert_false(gale_runtime_edge_stats(r.runtime, rig_task_number(&r, "c", 0), 1, &edge));
    assert_false(gale_runtime_edge_stats(r.runtime, rig_task_number(&r, "c", 0), 0, NULL));
    assert_true(gale_runtime_edge_stats(r.runtime, rig_task_number(&r, "c", 0), 0, &edge));
    assert_int_equal(edge.size, offsetof(gale_edge_stats, executed));
    assert_int_equal(edge.executed, 77);
    rig_fini(&r);
}

/* --- Executors --- */

static gale_executor_stats executor_of(const rig *r, uint32_t index) {
    gale_executor_stats stats = { .size = sizeof stats };
    assert_true(gale_runtime_executor_stats(r->runtime, index, &stats));
    return stats;
}

static uint64_t total(gale_executor_stats stats) {
    return stats.busy_nanoseconds + stats.waiting_nanoseconds + stats.held_nanoseconds;
}

static void an_executors_time_is_busy_waiting_or_held(void **state) {
    rig r;
    (void)state;
    reset(10);
    c.on = slowly;
    cost = 10 * GALE_MILLISECOND;
    build(&r, rig_simple(&c));
    rig_make(&r, 1);
    assert_int_equal(total(executor_of(&r, 0)), 0);
    rig_settle(&r);
    gale_executor_stats busy = executor_of(&r, 0);
    assert_int_equal(busy.busy_nanoseconds, 10 * cost);
    assert_int_equal(busy.waiting_nanoseconds + busy.held_nanoseconds, 0);
    assert_int_equal(busy.tasks, gale_runtime_task_count(r.runtime));
    assert_int_equal(busy.in_call, 0);
    assert_null(busy.in_call_component);
    gale_manual_clock_advance(r.clock, GALE_SECOND); /* it sleeps */
    assert_int_equal(executor_of(&r, 0).waiting_nanoseconds, GALE_SECOND);
    assert_int_equal(executor_of(&r, 0).busy_nanoseconds, 10 * cost);
    rig_settle(&r);
    assert_int_equal(total(executor_of(&r, 0)), GALE_SECOND + 10 * cost);
    rig_drain(&r);
    uint64_t end = total(executor_of(&r, 0));
    gale_manual_clock_advance(r.clock, GALE_SECOND);
    assert_int_equal(total(executor_of(&r, 0)), end);
    rig_fini(&r);
}

static void a_spout_with_nothing_but_open_trees_holds_its_executor(void **state) {
    rig r;
    (void)state;
    reset(100);
    c.on = hold;
    build(&r, rig_manual(&c));
    gale_topology_set(r.topology, NULL, "topology.max.spout.pending", gale_i64(5));
    rig_make(&r, 1);
    gale_manual_clock_advance(r.clock, 3 * GALE_SECOND);
    assert_int_equal(rig_task(&r, "spout", 0).hold, GALE_HOLD_NONE);
    rig_settle(&r);
    gale_manual_clock_advance(r.clock, 2 * GALE_SECOND);
    gale_task_stats of = rig_task(&r, "spout", 0);
    assert_int_equal(of.hold, GALE_HOLD_PENDING);
    assert_int_equal(of.hold_by, 0);
    assert_int_equal(gale_runtime_now(r.runtime) - of.hold_since, 2 * GALE_SECOND);
    assert_int_equal(executor_of(&r, 0).held_nanoseconds, 2 * GALE_SECOND);
    assert_int_equal(executor_of(&r, 0).waiting_nanoseconds, 0);
    rig_fini(&r);
}

static gale_executor_stats seen_in_call;
static rig *of_the_call;

static int looks(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt, (void)tuple, (void)out;
    gale_manual_clock_advance(the_clock, GALE_SECOND);
    seen_in_call = executor_of(of_the_call, 0);
    return 0;
}

static void a_bolt_that_is_in_call_is_busy_before_it_returns(void **state) {
    rig r;
    (void)state;
    reset(1);
    c.on = looks;
    build(&r, rig_simple(&c));
    of_the_call = &r;
    rig_make(&r, 1);
    int64_t began = gale_runtime_now(r.runtime);
    rig_settle(&r);
    assert_int_equal(seen_in_call.busy_nanoseconds, GALE_SECOND);
    assert_int_equal(seen_in_call.in_call, rig_task_number(&r, "c", 0));
    assert_string_equal(seen_in_call.in_call_component, "c");
    assert_int_equal(seen_in_call.in_call_since, began);
    rig_fini(&r);
}

static void an_executor_that_there_is_not_is_refused(void **state) {
    gale_executor_stats stats = { .size = offsetof(gale_executor_stats, busy_nanoseconds), .busy_nanoseconds = 77 };
    rig r;
    (void)state;
    reset(1);
    build(&r, rig_simple(&c));
    rig_make(&r, 2);
    assert_false(gale_runtime_executor_stats(NULL, 0, &stats));
    assert_false(gale_runtime_executor_stats(r.runtime, 2, &stats));
    assert_false(gale_runtime_executor_stats(r.runtime, 0, NULL));
    assert_true(gale_runtime_executor_stats(r.runtime, 1, &stats));
    assert_int_equal(stats.size, offsetof(gale_executor_stats, busy_nanoseconds));
    assert_int_equal(stats.index, 1);
    assert_int_equal(stats.busy_nanoseconds, 77);
    assert_int_equal(gale_runtime_now(NULL), 0);
    rig_fini(&r);
}

static void memory_by_purpose_adds_up(void **state) {
    const char *name = NULL;
    uint64_t bytes, sum = 0;
    uint32_t index = 0;
    rig r;
    (void)state;
    reset(100);
    build(&r, rig_simple(&c));
    rig_make(&r, 2);
    rig_settle(&r);
    for (; gale_runtime_memory(r.runtime, index, &name, &bytes); index++) sum += bytes;
    assert_true(index > 3);
    assert_string_equal(name, "other");
    assert_int_equal(sum, rig_stats(&r)->memory_reserved);
    assert_true(gale_runtime_memory(r.runtime, 0, NULL, NULL));
    assert_false(gale_runtime_memory(NULL, 0, &name, &bytes));
    assert_false(gale_runtime_memory(r.runtime, UINT32_MAX, &name, &bytes));
    rig_fini(&r);
}

/* --- Threads --- */

static void figures_are_read_while_threads_run(void **state) {
    rig r;
    (void)state;
    reset(RIG_TUPLES_MAX);
    build_forked(&r, rig_simple(&c));
    gale_clock clock = gale_clock_monotonic();
    gale_runtime_options options = { .size = sizeof options, .executors = 2, .until_drained = true, .clock = &clock };
    rig_make_with(&r, options);
    assert_int_equal(gale_runtime_start(r.runtime, NULL), GALE_OK);
    uint64_t before = 0;
    gale_executor_stats shares[2] = { 0 };
    while (gale_runtime_wait(r.runtime, 0, NULL) == GALE_TIMED_OUT) {
        uint64_t now = latency_of(&r, "spout", GALE_LATENCY_COMPLETE).count;
        assert_true(now >= before);
        assert_true(edge_of(&r, "c", "a", "side").executed <= RIG_TUPLES_MAX / 10);
        before = now;
        for (uint32_t i = 0; i < 2; i++) {
            gale_executor_stats stats = executor_of(&r, i);
            assert_true(stats.busy_nanoseconds >= shares[i].busy_nanoseconds &&
                        stats.waiting_nanoseconds >= shares[i].waiting_nanoseconds &&
                        stats.held_nanoseconds >= shares[i].held_nanoseconds);
            shares[i] = stats;
        }
    }
    assert_int_equal(latency_of(&r, "spout", GALE_LATENCY_COMPLETE).count, RIG_TUPLES_MAX);
    uint64_t executed = latency_of(&r, "c", GALE_LATENCY_EXECUTE).count;
    uint64_t all = 2 * RIG_TUPLES_MAX + RIG_TUPLES_MAX / 10;
    assert_true(executed > all - 64 && executed <= all);
    assert_edge(edge_of(&r, "c", "a", "default"), RIG_TUPLES_MAX, RIG_TUPLES_MAX, 0, 0);
    assert_edge(edge_of(&r, "c", "a", "side"), RIG_TUPLES_MAX / 10, RIG_TUPLES_MAX / 10, 0, 0);
    rig_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_has_no_latency),
        cmocka_unit_test(every_tree_that_is_acked_has_a_complete_latency),
        cmocka_unit_test(a_tree_that_failed_has_none),
        cmocka_unit_test(a_slow_bolts_latency_is_what_its_calls_took),
        cmocka_unit_test(a_sample_counts_for_the_calls_since_the_one_before),
        cmocka_unit_test(what_is_held_is_in_process_until_it_is_acked),
        cmocka_unit_test(what_a_flush_acks_is_in_process_until_its_end),
        cmocka_unit_test(rows_that_are_executed_at_once_share_their_call),
        cmocka_unit_test(bounds_count_what_is_at_or_below_them),
        cmocka_unit_test(a_latency_that_there_is_not_is_refused),
        cmocka_unit_test(each_input_is_counted_by_itself),
        cmocka_unit_test(and_so_where_rows_are_executed_at_once_or_acked_by_a_flush),
        cmocka_unit_test(what_is_answered_late_or_badly_is_counted_where_it_came_by),
        cmocka_unit_test(an_edge_knows_what_its_tuples_took),
        cmocka_unit_test(what_expired_is_counted_where_it_came_by),
        cmocka_unit_test(an_edge_that_there_is_not_is_refused),
        cmocka_unit_test(an_executors_time_is_busy_waiting_or_held),
        cmocka_unit_test(a_spout_with_nothing_but_open_trees_holds_its_executor),
        cmocka_unit_test(a_bolt_that_is_in_call_is_busy_before_it_returns),
        cmocka_unit_test(an_executor_that_there_is_not_is_refused),
        cmocka_unit_test(memory_by_purpose_adds_up),
        cmocka_unit_test(figures_are_read_while_threads_run),
    };
    return rig_run_on_both_ledgers(tests);
}
