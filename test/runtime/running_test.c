/* Flow control, order, ticks and memory of whole topologies on the hand-moved clock. */
#include "runtime/rig.h"

#include "harness/counting_allocator.h"
#include "runtime/runtime.h"

#include <string.h>

static rig_spout spout;
static rig_bolt a, b, c;

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

static void add_chain(rig *r) {
    rig_init(r);
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "a", rig_simple(&a), 1);
    gale_topology_add_bolt(r->topology, "c", rig_simple(&c), 1);
    gale_topology_subscribe(r->topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "c", "a", NULL, gale_shuffle());
}

/* --- Pending --- */

static void max_spout_pending_bounds_the_open_trees(void **state) {
    rig r;
    reset(1000);
    add_chain(&r);
    gale_topology_set(r.topology, "spout", "topology.max.spout.pending", gale_i64(7));
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    assert_int_equal(spout.acks, 1000);
    assert_int_equal(spout.pending_max, 7);
    rig_fini(&r);
}

static int hold_all(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (gale_tuple_is_tick(tuple)) {
        for (size_t i = 0; i < bolt->held_count; i++) gale_ack(out, bolt->held[i]);
        bolt->held_count = 0;
        return 0;
    }
    return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
}

static void a_spout_at_its_limit_waits_for_the_answers_that_a_tick_gives(void **state) {
    rig r;
    reset(100);
    rig_init(&r);
    c.on = hold_all;
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "c", rig_manual(&c), 1);
    gale_topology_subscribe(r.topology, "c", "spout", NULL, gale_shuffle());
    gale_topology_set(r.topology, NULL, "topology.max.spout.pending", gale_i64(10));
    gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_f64(0.5));
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    assert_int_equal(spout.emitted, 10);
    rig_advance(&r, 500 * GALE_MILLISECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(spout.acks, 10);
    assert_int_equal(spout.emitted, 20);
    rig_advance(&r, 5 * GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(spout.acks, 100);
    rig_fini(&r);
}

/* --- Gates --- */

/* Moved by bolts that take their time. */
static gale_manual_clock *the_clock;

static int slow(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)tuple, (void)out;
    bolt->seen++;
    gale_manual_clock_advance(the_clock, 10 * GALE_MILLISECOND); /* the call takes ten milliseconds */
    return 0;
}

static void a_slow_bolt_holds_its_spout_and_memory_stays_bounded(void **state) {
    rig r;
    reset(UINT64_MAX);
    add_chain(&r);
    c.on = slow;
    the_clock = r.clock;
    gale_topology_set(r.topology, NULL, "topology.enable.message.timeouts", gale_bool(false));
    rig_make(&r, rig_executors(state));
    for (int i = 0; i < 4000; i++) gale_runtime_step(r.runtime); /* to its high-water mark */
    uint64_t reserved = rig_stats(&r)->memory_reserved, allocations = r.stats.allocations, open = r.stats.open;
    assert_true(open > 1000);
    for (int i = 0; i < 3000; i++) gale_runtime_step(r.runtime);
    assert_int_equal(rig_stats(&r)->memory_reserved, reserved);
    assert_int_equal(r.stats.allocations, allocations);
    assert_true(c.seen > 3000);
    assert_int_equal(spout.fails, 0);
    assert_int_equal(spout.emitted, spout.acks + r.stats.open);
    rig_fini(&r);
}

static void slow_bolts_on_one_executor_share_its_time(void **state) {
    rig r;
    reset(UINT64_MAX);
    rig_init(&r);
    a.on = slow;
    b.on = slow;
    c.on = slow;
    the_clock = r.clock;
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 1);
    gale_topology_add_bolt(r.topology, "b", rig_simple(&b), 1);
    gale_topology_add_bolt(r.topology, "c", rig_simple(&c), 1);
    static const char *const names[] = { "a", "b", "c" };
    for (int i = 0; i < 3; i++) {
        gale_topology_subscribe(r.topology, names[i], "spout", NULL, gale_shuffle());
        gale_topology_set(r.topology, names[i], "gale.executor", gale_i64(rig_executors(state) - 1));
    }
    gale_topology_set(r.topology, NULL, "topology.enable.message.timeouts", gale_bool(false));
    rig_make(&r, rig_executors(state));
    for (int i = 0; i < 3000; i++) gale_runtime_step(r.runtime);
    uint64_t least = a.seen < b.seen ? a.seen : b.seen, most = a.seen > b.seen ? a.seen : b.seen;
    least = c.seen < least ? c.seen : least;
    most = c.seen > most ? c.seen : most;
    assert_true(least > 500);
    assert_true(most < 2 * least);
    rig_fini(&r);
}

static int thousand(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    for (int i = 0; i < 1000; i++) {
        int rc = rig_pass(bolt, tuple, out);
        if (rc < 0) return rc;
    }
    return 0;
}

static void a_splitter_with_a_gain_of_thousands_is_bounded_by_the_output_of_one_call(void **state) {
    rig r;
    reset(500);
    add_chain(&r);
    a.on = thousand;
    rig_make(&r, rig_executors(state));
    uint64_t most = 0;
    while (gale_runtime_step(r.runtime) > 0)
        if (rig_stats(&r)->memory_in_use > most) most = r.stats.memory_in_use;
    assert_int_equal(c.seen, 500000);
    assert_int_equal(spout.acks, 500);
    assert_true(most < 4 << 20);
    rig_fini(&r);
}

/* --- Cycles --- */

static int around(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    int64_t left = gale_tuple_value(tuple, 1).as.i64;
    bolt->seen++;
    if (left == 0) return 0;
    gale_value values[] = { gale_tuple_value(tuple, 0), gale_i64(left - 1) };
    int rc = gale_emit(out, 0, values, 2);
    return rc < 0 ? rc : 0;
}

static void a_cycle_ends_when_its_tuples_do(void **state) {
    rig r;
    reset(4000);
    spout.keys = 5; /* each goes round 0 to 4 times */
    rig_init(&r);
    a.on = around;
    b.on = around;
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 1);
    gale_topology_add_bolt(r.topology, "b", rig_simple(&b), 1);
    gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r.topology, "b", "a", NULL, gale_shuffle());
    gale_topology_subscribe(r.topology, "a", "b", NULL, gale_shuffle());
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    assert_int_equal(spout.acks, 4000);
    assert_int_equal(a.seen + b.seen, 800 * (1 + 2 + 3 + 4 + 5));
    rig_fini(&r);
}

/* Each tuple that goes round comes back twice: only the limit ends it. */
static void a_cycle_that_gains_is_bounded_by_the_limit_and_fails_with_overflow(void **state) {
    rig r;
    reset(UINT64_MAX);
    rig_init(&r);
    a.on = rig_twice;
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 1);
    gale_topology_add_bolt(r.topology, "b", rig_simple(&b), 1);
    gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r.topology, "b", "a", NULL, gale_shuffle());
    gale_topology_subscribe(r.topology, "a", "b", NULL, gale_shuffle());
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = rig_executors(state);
    options.queue_limit = 1 << 20;
    rig_make_with(&r, options);
    for (int i = 0; i < 300; i++) gale_runtime_step(r.runtime);
    uint64_t reserved = rig_stats(&r)->memory_reserved, emitted = spout.emitted;
    for (int i = 0; i < 150; i++) gale_runtime_step(r.runtime);
    assert_int_equal(rig_stats(&r)->memory_reserved, reserved);
    assert_true(reserved < 16 << 20);
    assert_int_equal(spout.emitted, emitted); /* held, and saying by whom */
    assert_true(rig_task(&r, "spout", 0).held_by > 0);
    assert_true(rig_task(&r, "a", 0).overflowed + rig_task(&r, "b", 0).overflowed > 0);
    assert_true(spout.fails > 0);
    assert_int_equal(spout.last_failure.reason, GALE_REASON_OVERFLOW);
    assert_non_null(strstr(spout.last_text, "at its limit of 1048576 bytes"));
    gale_runtime_stop(r.runtime);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    assert_int_equal(spout.acks + spout.fails, spout.emitted);
    rig_fini(&r);
}

static int emit_a_thousand(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    for (int i = 0; i < 1000; i++) assert_true(rig_pass(bolt, tuple, out) >= 0);
    return 0;
}

enum { LARGE = 64 << 10, LARGE_LIMIT = 1 << 20 };

static int emit_large_bodies(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    static char bytes[LARGE];
    const gale_value values[] = { gale_tuple_value(tuple, 0), gale_bytes(bytes, sizeof bytes) };
    (void)bolt;
    for (int i = 0; i < 100; i++) assert_true(gale_emit(out, 0, values, 2) >= 0);
    return 0;
}

/* Their rows are small, and many of them would have room in one batch. */
static void large_bodies_of_one_call_do_not_pass_the_limit(void **state) {
    (void)state;
    rig r;
    reset(1);
    add_chain(&r);
    a.on = emit_large_bodies;
    c.on = rig_take;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.queue_limit = LARGE_LIMIT;
    rig_make_with(&r, options);
    for (int i = 0; i < 100; i++) gale_runtime_step(r.runtime);
    gale_task_stats stats = rig_task(&r, "c", 0);
    assert_in_range(c.seen, LARGE_LIMIT / LARGE - 2, LARGE_LIMIT / LARGE + 2);
    assert_int_equal(c.seen + stats.overflowed, 100);
    assert_true(stats.queued_bytes_max < LARGE_LIMIT + 2 * LARGE);
    assert_int_equal(spout.fails, 1);
    rig_fini(&r);
}

/* The limit may be below flow control's mark, and one call may go beyond both. */
static void a_limit_below_the_mark_is_a_limit_whether_one_listens_or_two(void **state) {
    (void)state;
    for (int consumers = 1; consumers <= 2; consumers++) {
        rig r;
        reset(1);
        rig_init(&r);
        a.on = emit_a_thousand;
        b.on = c.on = rig_take;
        gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
        gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 1);
        gale_topology_add_bolt(r.topology, "b", rig_simple(&b), 1);
        gale_topology_add_bolt(r.topology, "c", rig_simple(&c), 1);
        gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
        gale_topology_subscribe(r.topology, "b", "a", NULL, gale_shuffle());
        gale_topology_subscribe(r.topology, "c", consumers == 2 ? "a" : "spout", NULL, gale_shuffle());
        gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
        options.executors = 1;
        options.queue_limit = 4096;
        rig_make_with(&r, options);
        for (int i = 0; i < 100; i++) gale_runtime_step(r.runtime);
        assert_in_range(b.seen, 4096 / 80, 4096 / 40); /* batches count whole */
        assert_int_equal(b.seen + rig_task(&r, "b", 0).overflowed, 1000);
        if (consumers == 2) assert_in_range(c.seen, b.seen - 2, b.seen + 2);
        assert_int_equal(spout.fails, 1);
        assert_int_equal(spout.last_failure.reason, GALE_REASON_OVERFLOW);
        rig_fini(&r);
    }
}

static int take_slowly(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_manual_clock_advance(the_clock, 10 * GALE_MILLISECOND);
    return rig_take(bolt, tuple, out);
}

/* What is lost with a word to its spout, and what is lost with none: at the emitter's executor and at another's. */
static void what_finds_a_queue_at_its_limit_is_overflowed_when_tracked_and_else_shed(void **state) {
    for (int tracked = 0; tracked <= 1; tracked++) {
        rig r;
        reset(1);
        rig_init(&r);
        the_clock = r.clock;
        spout.untracked = !tracked;
        a.on = emit_a_thousand;
        b.on = take_slowly;
        gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
        gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 1);
        gale_topology_add_bolt(r.topology, "b", rig_simple(&b), 1);
        gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
        gale_topology_subscribe(r.topology, "b", "a", NULL, gale_shuffle());
        gale_topology_set(r.topology, NULL, "gale.executor", gale_i64(0));
        gale_topology_set(r.topology, "b", "gale.executor", gale_i64(rig_executors(state) - 1));
        gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
        options.executors = rig_executors(state);
        options.queue_limit = 4096;
        rig_make_with(&r, options);
        rig_settle(&r);
        gale_task_stats stats = rig_task(&r, "b", 0);
        uint64_t lost = 1000 - b.seen;
        assert_true(lost > 0);
        assert_int_equal(stats.overflowed, tracked ? lost : 0);
        assert_int_equal(stats.shed, tracked ? 0 : lost);
        assert_int_equal(spout.fails, tracked && lost);
        rig_fini(&r);
    }
}

enum { FINISHED = 20000 };

static int finish_with_many(rig_bolt *bolt, gale_collector *out) {
    (void)bolt;
    for (int64_t i = 0; i < FINISHED; i++) {
        const gale_value values[] = { gale_i64(i), gale_text("one of many that come in one call") };
        assert_true(gale_emit(out, 0, values, 2) >= 0);
    }
    return 0;
}

/* Nobody could send them again, and nothing can be held back while the call lasts. */
static void what_a_bolt_emits_as_it_finishes_is_not_lost_at_the_limit(void **state) {
    rig r;
    reset(1);
    rig_init(&r);
    a.on = rig_take;
    a.on_finish = finish_with_many;
    b.on = rig_take;
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 1);
    gale_topology_add_bolt(r.topology, "b", rig_simple(&b), 1);
    gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r.topology, "b", "a", NULL, gale_shuffle());
    gale_topology_set(r.topology, NULL, "gale.executor", gale_i64(0));
    gale_topology_set(r.topology, "b", "gale.executor", gale_i64(rig_executors(state) - 1));
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = rig_executors(state);
    options.queue_limit = 4096;
    rig_make_with(&r, options);
    rig_settle(&r);
    rig_drain(&r);
    assert_int_equal(b.seen, FINISHED);
    rig_fini(&r);
}

/* --- Order --- */

static int in_order(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    assert_int_equal(gale_tuple_value(tuple, 0).as.i64, bolt->seen);
    bolt->seen++;
    if (bolt->seen % 1000 == 0) gale_manual_clock_advance(the_clock, 10 * GALE_MILLISECOND);
    return 0;
}

static void tuples_between_two_tasks_keep_their_order(void **state) {
    rig r;
    reset(50000);
    add_chain(&r);
    c.on = in_order;
    the_clock = r.clock;
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    assert_int_equal(c.seen, 50000);
    rig_fini(&r);
}

/* --- Groupings in a running topology --- */

typedef struct per_task {
    uint64_t numbers[32];
    uint64_t key_task[100];
} per_task;

static int note_task(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    per_task *seen = bolt->user;
    uint32_t task = (uint32_t)(gale_tuple_handle(tuple) >> 48);
    int64_t key = gale_tuple_value(tuple, 1).as.i64;
    seen->numbers[task]++;
    if (seen->key_task[key]) assert_int_equal(seen->key_task[key], task);
    seen->key_task[key] = task;
    return 0;
}

static void fields_grouping_keeps_a_key_on_one_task_and_uses_all(void **state) {
    static per_task seen;
    rig r;
    reset(5000);
    memset(&seen, 0, sizeof seen);
    spout.keys = 100;
    c.on = note_task;
    c.user = &seen;
    rig_init(&r);
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "c", rig_simple(&c), 7);
    gale_topology_subscribe(r.topology, "c", "spout", NULL, gale_fields("key"));
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    uint64_t sum = 0;
    for (int t = 1; t <= 7; t++) {
        assert_true(seen.numbers[t] > 0);
        sum += seen.numbers[t];
    }
    assert_int_equal(sum, 5000);
    rig_fini(&r);
}

static void shuffle_is_exactly_even_and_global_takes_the_lowest_task(void **state) {
    rig r;
    reset(700);
    rig_init(&r);
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 7);
    gale_topology_add_bolt(r.topology, "c", rig_simple(&c), 3);
    gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r.topology, "c", "a", NULL, gale_global());
    gale_topology_set(r.topology, NULL, "topology.disable.loadaware.messaging", gale_bool(true));
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    for (uint32_t i = 0; i < 7; i++) assert_int_equal(rig_task(&r, "a", i).executed, 100);
    assert_int_equal(rig_task(&r, "c", 0).executed, 700);
    assert_int_equal(rig_task(&r, "c", 1).executed, 0);
    rig_fini(&r);
}

/* --- Ticks --- */

static void the_first_tick_comes_a_period_after_prepare_and_none_is_made_up_for(void **state) {
    rig r;
    reset(0);
    add_chain(&r);
    gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_f64(0.25));
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    rig_advance(&r, 249 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(c.ticks, 0);
    rig_advance(&r, GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(c.ticks, 1);
    rig_advance(&r, 10 * GALE_SECOND, 10 * GALE_MILLISECOND);
    assert_int_equal(c.ticks, 41);
    rig_advance(&r, 10 * GALE_SECOND, 10 * GALE_SECOND); /* one leap: one tick */
    assert_int_equal(c.ticks, 42);
    assert_int_equal(rig_task(&r, "c", 0).ticks, 42);
    assert_int_equal(rig_task(&r, "c", 0).executed, 0);
    rig_fini(&r);
}

static int take_tick_by_task(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    assert_true(gale_tuple_is_tick(tuple));
    bolt->ticks++;
    return 0;
}

/* Whatever the grouping: each of the five tasks gets each tick. */
static void a_bolt_may_live_by_ticks_alone(void **state) {
    rig r;
    reset(0);
    add_chain(&r);
    b.on = take_tick_by_task;
    gale_topology_add_bolt(r.topology, "clock", rig_simple(&b), 5);
    gale_topology_subscribe(r.topology, "clock", "__system", "__tick", gale_global());
    gale_topology_set(r.topology, "clock", "topology.tick.tuple.freq.secs", gale_i64(2));
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    rig_advance(&r, 20 * GALE_SECOND, GALE_SECOND);
    assert_int_equal(b.ticks, 50);
    for (uint32_t i = 0; i < 5; i++) assert_int_equal(rig_task(&r, "clock", i).ticks, 10);
    assert_int_equal(c.ticks, 0);
    rig_drain(&r);
    rig_fini(&r);
}

static int check_tick(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    assert_true(gale_tuple_is_tick(tuple));
    assert_string_equal(gale_tuple_component(tuple), "__system");
    assert_string_equal(gale_tuple_stream(tuple), "__tick");
    assert_int_equal(gale_tuple_task(tuple), 0);
    gale_value period = gale_tuple_value(tuple, 0);
    assert_int_equal(period.type, GALE_TYPE_I64);
    assert_int_equal(period.as.i64, 2);
    bolt->ticks++;
    return 0;
}

static void a_tick_says_that_it_is_one_and_its_period(void **state) {
    rig r;
    reset(0);
    add_chain(&r);
    c.on = check_tick;
    gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_i64(2));
    rig_make(&r, rig_executors(state));
    rig_advance(&r, 5 * GALE_SECOND, GALE_SECOND);
    assert_int_equal(c.ticks, 2);
    rig_fini(&r);
}

/* --- Memory --- */

static void in_the_steady_state_nothing_is_allocated(void **state) {
    rig r;
    reset(UINT64_MAX);
    add_chain(&r);
    gale_topology_set(r.topology, NULL, "topology.max.spout.pending", gale_i64(500));
    rig_make(&r, rig_executors(state));
    for (int i = 0; i < 1000; i++) gale_runtime_step(r.runtime);
    uint64_t allocations = rig_stats(&r)->allocations, acked = r.stats.acked;
    for (int i = 0; i < 1200; i++) gale_runtime_step(r.runtime);
    assert_int_equal(rig_stats(&r)->allocations, allocations);
    assert_true(r.stats.acked > acked + 20000);
    rig_fini(&r);
}

static void every_byte_goes_back_to_the_allocator(void **state) {
    rig r;
    counting_allocator counting = { 0 };
    gale_allocator allocator = { sizeof allocator, counting_alloc, counting_resize, counting_release, &counting };
    reset(3000);
    add_chain(&r);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = rig_executors(state);
    options.allocator = &allocator;
    rig_make_with(&r, options);
    for (int i = 0; i < 5; i++) gale_runtime_step(r.runtime); /* stopped in the middle */
    rig_fini(&r);
    assert_true(counting.calls > 0);
    assert_int_equal(counting.blocks, 0);
    assert_int_equal(counting.bytes, 0);
}

/* The n-th allocation fails, for every n, once and then for ever: the runtime is not made, or runs to an end in which
 * every tuple was answered; nothing leaks. */
static void any_allocation_may_fail(void **state) {
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        size_t n = 1;
        for (bool reached = true; reached; n++) {
            rig r;
            counting_allocator counting = { .fail_at = n, .fail_after = for_ever != 0 };
            gale_allocator allocator = { sizeof allocator, counting_alloc, counting_resize, counting_release,
                                         &counting };
            reset(300);
            add_chain(&r);
            gale_clock clock = gale_manual_clock_handle(r.clock);
            gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
            options.executors = rig_executors(state);
            options.allocator = &allocator;
            options.clock = &clock;
            options.seed = 1;
            gale_error error = GALE_ERROR_INIT;
            int rc = gale_runtime_new(r.topology, &options, &r.runtime, &error);
            assert_int_equal(rc == GALE_OK, counting.calls < n); /* no part of it is made do without */
            if (rc == GALE_OK) {
                for (int i = 0; i < 200; i++) {
                    gale_runtime_step(r.runtime);
                    gale_manual_clock_advance(r.clock, GALE_SECOND);
                }
                gale_runtime_stop(r.runtime);
                while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
                }
                assert_int_equal(spout.acks + spout.fails, spout.emitted);
                if (!for_ever) assert_int_equal(spout.emitted, 300);
            } else {
                assert_int_equal(rc, GALE_NO_MEMORY);
                assert_true(error.length > 0);
            }
            reached = counting.calls >= n;
            gale_runtime_free(rc == GALE_OK ? r.runtime : NULL, -1, NULL);
            gale_topology_free(r.topology);
            gale_manual_clock_free(r.clock);
            assert_int_equal(counting.blocks, 0);
        }
        assert_true(n > 20);
    }
}

static uint64_t seed_of_a_run(uint64_t asked_for) {
    rig r;
    reset(0);
    add_chain(&r);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.seed = asked_for;
    assert_int_equal(gale_runtime_new(r.topology, &options, &r.runtime, NULL), GALE_OK);
    uint64_t seed = r.runtime->shared.seed;
    rig_fini(&r);
    return seed;
}

static void a_run_has_the_seed_that_it_is_given_or_one_that_no_other_has(void **state) {
    (void)state;
    assert_int_equal(seed_of_a_run(7), 7);
    assert_int_not_equal(seed_of_a_run(0), seed_of_a_run(0));
}

#define ON_1_2_5(f)                                                                                                    \
    { #f " on 1 executor", f, NULL, NULL, &one }, { #f " on 2 executors", f, NULL, NULL, &two }, {                     \
#f " on 5 executors", f, NULL, NULL, &five                                                                     \
    }

int main(void) {
    static uint32_t one = 1, two = 2, five = 5;
    const struct CMUnitTest tests[] = {
        ON_1_2_5(max_spout_pending_bounds_the_open_trees),
        ON_1_2_5(a_spout_at_its_limit_waits_for_the_answers_that_a_tick_gives),
        ON_1_2_5(a_slow_bolt_holds_its_spout_and_memory_stays_bounded),
        ON_1_2_5(slow_bolts_on_one_executor_share_its_time),
        ON_1_2_5(a_splitter_with_a_gain_of_thousands_is_bounded_by_the_output_of_one_call),
        ON_1_2_5(a_cycle_ends_when_its_tuples_do),
        ON_1_2_5(a_cycle_that_gains_is_bounded_by_the_limit_and_fails_with_overflow),
        cmocka_unit_test(large_bodies_of_one_call_do_not_pass_the_limit),
        cmocka_unit_test(a_limit_below_the_mark_is_a_limit_whether_one_listens_or_two),
        ON_1_2_5(what_finds_a_queue_at_its_limit_is_overflowed_when_tracked_and_else_shed),
        ON_1_2_5(what_a_bolt_emits_as_it_finishes_is_not_lost_at_the_limit),
        ON_1_2_5(tuples_between_two_tasks_keep_their_order),
        ON_1_2_5(fields_grouping_keeps_a_key_on_one_task_and_uses_all),
        ON_1_2_5(shuffle_is_exactly_even_and_global_takes_the_lowest_task),
        ON_1_2_5(the_first_tick_comes_a_period_after_prepare_and_none_is_made_up_for),
        ON_1_2_5(a_bolt_may_live_by_ticks_alone),
        ON_1_2_5(a_tick_says_that_it_is_one_and_its_period),
        ON_1_2_5(in_the_steady_state_nothing_is_allocated),
        ON_1_2_5(every_byte_goes_back_to_the_allocator),
        ON_1_2_5(any_allocation_may_fail),
        cmocka_unit_test(a_run_has_the_seed_that_it_is_given_or_one_that_no_other_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
