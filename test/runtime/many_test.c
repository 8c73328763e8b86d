/* Many at once, for components that want it: acks, tuples to execute, emits (gale/component.h). */
#include "runtime/rig.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Acks --- */

typedef struct fixture {
    rig r;
    rig_spout s;
    rig_bolt b;
} fixture;

/* A spout that hears of acks at once, and a bolt that does `on`. */
static fixture *setup(int (*on)(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out)) {
    static fixture f;
    memset(&f, 0, sizeof f);
    rig_init(&f.r);
    f.s.to_emit = 100;
    f.s.at_once = true;
    f.b.on = on;
    gale_topology_add_spout(f.r.topology, "s", rig_spout_of(&f.s), 1);
    gale_topology_add_bolt(f.r.topology, "b", rig_simple(&f.b), 1);
    assert_int_equal(gale_topology_subscribe(f.r.topology, "b", "s", NULL, gale_shuffle()), 0);
    return &f;
}

static void each_was_acked_once(const fixture *f, uint64_t count) {
    assert_int_equal(f->s.acks, count);
    for (uint64_t i = 0; i < count; i++) assert_int_equal(f->s.acked[i], 1);
}

static void a_spout_that_has_ack_batch_is_told_of_many_acks_in_one_call(void **state) {
    (void)state;
    fixture *f = setup(rig_take);
    rig_make(&f->r, 1);
    rig_settle(&f->r);
    each_was_acked_once(f, 100);
    assert_true(f->s.batches < f->s.acks);
    assert_true(f->s.batch_most > 1);
    rig_fini(&f->r);
}

static void on_ack(void *user, const gale_context *task, uint64_t id) {
    uint64_t *told = user;
    (void)task;
    told[id]++;
}

static void hooks_hear_of_each_ack_before_a_spout_is_told_of_many(void **state) {
    (void)state;
    uint64_t told[100] = { 0 };
    fixture *f = setup(rig_take);
    const gale_hook hook = { .size = sizeof hook, .user = told, .ack = on_ack };
    assert_true(gale_topology_add_hook(f->r.topology, "s", hook) >= 0);
    rig_make(&f->r, 1);
    rig_settle(&f->r);
    each_was_acked_once(f, 100);
    for (size_t i = 0; i < 100; i++) assert_int_equal(told[i], 1);
    assert_true(f->s.batch_most > 1);
    rig_fini(&f->r);
}

static int refuse_every_other(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    bolt->seen++;
    return gale_tuple_value(tuple, 0).as.i64 % 2 ? GALE_COMPONENT : 0;
}

static void acks_between_failures_come_by_ack_batch_too(void **state) {
    (void)state;
    fixture *f = setup(refuse_every_other);
    rig_make(&f->r, 1);
    rig_settle(&f->r);
    assert_int_equal(f->s.acks, 50);
    assert_int_equal(f->s.fails, 50);
    for (size_t i = 0; i < 100; i++) assert_int_equal(f->s.acked[i], i % 2 == 0);
    rig_fini(&f->r);
}

static void acks_of_trees_on_acker_tasks_come_by_ack_batch_too(void **state) {
    (void)state;
    fixture *f = setup(rig_take);
    gale_topology_set(f->r.topology, NULL, "topology.acker.executors", gale_i64(2));
    rig_make(&f->r, 2);
    rig_settle(&f->r);
    each_was_acked_once(f, 100);
    assert_true(f->s.batches > 0);
    rig_fini(&f->r);
}

/* --- Tuples to execute --- */

/* spout -> b, which takes many at once -> c. */
static struct {
    rig r;
    rig_spout s;
    rig_bolt b, c;
    uint64_t calls;
    uint64_t failing; /* this call returns an error, from 1; 0: none */
} w;

static void begin(int (*on_batch)(rig_bolt *bolt, gale_batch *tuples, gale_collector *out), bool manual) {
    memset(&w, 0, sizeof w);
    rig_init(&w.r);
    w.s.to_emit = 100;
    w.b.on_batch = on_batch;
    w.c.on = rig_take;
    gale_topology_add_spout(w.r.topology, "s", rig_spout_of(&w.s), 1);
    gale_topology_add_bolt(w.r.topology, "b", manual ? rig_manual(&w.b) : rig_simple(&w.b), 1);
    gale_topology_add_bolt(w.r.topology, "c", rig_simple(&w.c), 1);
    gale_topology_subscribe(w.r.topology, "b", "s", NULL, gale_shuffle());
    assert_int_equal(gale_topology_subscribe(w.r.topology, "c", "b", NULL, gale_shuffle()), 0);
}

static void run(uint32_t executors) {
    rig_make(&w.r, executors);
    rig_settle(&w.r);
}

static int pass_all(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    const gale_tuple *tuple;
    w.calls++;
    while ((tuple = gale_batch_next(tuples)) != NULL) {
        bolt->seen++;
        int rc = rig_pass(bolt, tuple, out);
        if (rc < 0) return rc;
    }
    return 0;
}

static void each_tuple_is_acked_when_the_next_is_taken_or_the_call_returns(void **state) {
    begin(pass_all, false);
    run(*(uint32_t *)*state);
    assert_int_equal(w.b.seen, 100);
    assert_int_equal(w.c.seen, 100);
    assert_int_equal(w.s.acks, 100);
    for (size_t i = 0; i < 100; i++) assert_int_equal(w.s.acked[i], 1);
    assert_true(w.calls < 100);
    gale_task_stats stats = rig_task(&w.r, "b", 0);
    assert_int_equal(stats.executed, 100);
    assert_int_equal(stats.acked, 100);
    rig_fini(&w.r);
}

static void what_is_emitted_belongs_to_the_tuple_that_was_taken_last(void **state) {
    begin(pass_all, false);
    w.c.on = refuse_every_other;
    run(*(uint32_t *)*state);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(w.s.acked[i], i % 2 == 0);
        assert_int_equal(w.s.failed[i], i % 2);
    }
    assert_string_equal(w.s.last_component, "c");
    rig_fini(&w.r);
}

static int fail_each_seventh(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    const gale_tuple *tuple;
    (void)out;
    w.calls++;
    while ((tuple = gale_batch_next(tuples)) != NULL) {
        bolt->seen++;
        if (gale_tuple_value(tuple, 0).as.i64 % 7 == 3) return GALE_COMPONENT;
    }
    return 0;
}

static void an_error_fails_the_tuple_that_was_taken_last_and_the_others_come_in_a_later_call(void **state) {
    begin(fail_each_seventh, false);
    run(*(uint32_t *)*state);
    assert_int_equal(w.b.seen, 100);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(w.s.failed[i], i % 7 == 3);
        assert_int_equal(w.s.acked[i], i % 7 != 3);
    }
    assert_true(w.calls >= 14);
    rig_fini(&w.r);
}

static int take_three(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    (void)out;
    w.calls++;
    for (int i = 0; i < 3 && gale_batch_next(tuples); i++) bolt->seen++;
    return 0;
}

static void a_call_may_return_in_the_middle(void **state) {
    begin(take_three, false);
    run(*(uint32_t *)*state);
    assert_int_equal(w.b.seen, 100);
    assert_int_equal(w.s.acks, 100);
    assert_true(w.calls >= 34);
    rig_fini(&w.r);
}

static int never_ask(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    (void)bolt, (void)tuples, (void)out;
    w.calls++;
    return w.failing ? GALE_IO : 0;
}

static void a_call_that_asks_for_none_fails_the_first_tuple_and_says_so(void **state) {
    begin(never_ask, false);
    run(*(uint32_t *)*state);
    assert_int_equal(w.calls, 100);
    assert_int_equal(w.s.fails, 100);
    assert_string_equal(w.s.last_text, "execute_batch returned without asking for a tuple");
    assert_int_equal(w.s.last_failure.reason, GALE_REASON_FAILED);
    rig_fini(&w.r);
}

static void the_error_of_a_call_that_asks_for_none_is_that_of_the_first_tuple(void **state) {
    begin(never_ask, true);
    w.failing = 1;
    run(*(uint32_t *)*state);
    assert_int_equal(w.calls, 100);
    assert_int_equal(w.s.fails, 100);
    assert_string_equal(w.s.last_text, gale_error_text(GALE_IO));
    rig_fini(&w.r);
}

static int emit_outside(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    const gale_value none[] = { gale_i64(0), gale_i64(0) };
    assert_true(gale_emit(out, 0, none, 2) >= 0);
    while (gale_batch_next(tuples)) bolt->seen++;
    assert_null(gale_batch_next(tuples));
    assert_true(gale_emit(out, 0, none, 2) >= 0);
    w.calls++;
    return GALE_COMPONENT;
}

static void before_the_first_tuple_and_after_the_last_nothing_is_in_execution(void **state) {
    begin(emit_outside, false);
    w.c.on = rig_refuse;
    run(*(uint32_t *)*state);
    assert_int_equal(w.b.seen, 100);
    assert_int_equal(w.s.acks, 100);
    assert_int_equal(w.s.fails, 0);
    assert_int_equal(rig_task(&w.r, "c", 0).executed, 2 * w.calls);
    assert_int_equal(rig_task(&w.r, "b", 0).errors, w.calls);
    rig_fini(&w.r);
}

/* Of five: acks one, fails one, rejects one, holds one, and forgets one. */
static int answer_by_turns(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    const gale_tuple *tuple;
    while ((tuple = gale_batch_next(tuples)) != NULL) {
        gale_handle handle = gale_tuple_handle(tuple);
        bolt->seen++;
        switch (gale_tuple_value(tuple, 0).as.i64 % 5) {
        case 0: assert_int_equal(gale_ack(out, handle), 0); break;
        case 1: assert_int_equal(gale_fail(out, handle, GALE_REASON_USER, "by turns"), 0); break;
        case 2: assert_int_equal(gale_reject(out, handle, "by turns"), 0); break;
        case 3: assert_int_equal(gale_tuple_hold(out, handle, &bolt->held[bolt->held_count++]), 0); break;
        default: break;
        }
    }
    while (bolt->held_count) assert_int_equal(gale_ack(out, bolt->held[--bolt->held_count]), 0); /* the last first */
    return 0;
}

static void a_manual_bolt_answers_holds_and_forgets_each_as_ever(void **state) {
    begin(answer_by_turns, true);
    run(*(uint32_t *)*state);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(w.s.acked[i], i % 5 == 0 || i % 5 == 3);
        assert_int_equal(w.s.failed[i], i % 5 == 1 || i % 5 == 2);
    }
    gale_task_stats stats = rig_task(&w.r, "b", 0);
    assert_int_equal(stats.forgotten, 20);
    assert_int_equal(stats.held, 0);
    rig_fini(&w.r);
}

static int answer_the_one_before(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    const gale_tuple *tuple;
    gale_handle before = 0;
    (void)bolt;
    while ((tuple = gale_batch_next(tuples)) != NULL) {
        if (before) assert_int_equal(gale_fail(out, before, GALE_REASON_USER, "late"), GALE_SETTLED);
        before = gale_tuple_handle(tuple);
    }
    if (before) assert_int_equal(gale_ack(out, before), GALE_SETTLED);
    return 0;
}

static void the_tuple_before_is_settled_and_cannot_be_answered_any_more(void **state) {
    begin(answer_the_one_before, false);
    run(*(uint32_t *)*state);
    assert_int_equal(w.s.acks, 100);
    assert_int_equal(rig_task(&w.r, "b", 0).misused, 100);
    rig_fini(&w.r);
}

static int flushed(rig_bolt *bolt, gale_collector *out) {
    (void)bolt, (void)out;
    assert_int_equal(w.s.acks, 0);
    return 0;
}

static void the_tuples_of_a_bolt_that_gathers_wait_for_its_flush(void **state) {
    memset(&w, 0, sizeof w);
    rig_init(&w.r);
    w.s.to_emit = 20;
    w.b.on_batch = pass_all;
    w.b.on_flush = flushed;
    w.c.on = rig_take;
    gale_topology_add_spout(w.r.topology, "s", rig_spout_of(&w.s), 1);
    gale_topology_add_bolt(w.r.topology, "b", rig_simple(&w.b), 1);
    gale_topology_subscribe(w.r.topology, "b", "s", NULL, gale_shuffle());
    run(*(uint32_t *)*state);
    assert_int_equal(w.b.seen, 20);
    assert_int_equal(w.s.acks, 20);
    rig_fini(&w.r);
}

static int count_ticks(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    const gale_tuple *tuple;
    while ((tuple = gale_batch_next(tuples)) != NULL) rig_take(bolt, tuple, out);
    return 0;
}

static void ticks_come_by_execute_batch_too(void **state) {
    begin(count_ticks, false);
    gale_topology_set(w.r.topology, "b", "topology.tick.tuple.freq.secs", gale_i64(1));
    run(*(uint32_t *)*state);
    rig_advance(&w.r, 5 * GALE_SECOND, GALE_SECOND);
    assert_int_equal(w.b.seen, 100);
    assert_int_equal(w.b.ticks, 5);
    assert_int_equal(rig_task(&w.r, "b", 0).ticks, 5);
    assert_int_equal(rig_task(&w.r, "b", 0).forgotten, 0);
    rig_fini(&w.r);
}

/* Each takes a millisecond. */
static int take_slowly(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    uint64_t taken = 0;
    (void)out;
    w.calls++;
    while (gale_batch_next(tuples)) {
        bolt->seen++;
        taken++;
        gale_manual_clock_advance(w.r.clock, GALE_MILLISECOND);
    }
    if (w.calls > 1) assert_true(taken <= 1); /* what it takes is known by then */
    return 0;
}

static void a_slow_bolts_call_ends_at_its_slice_of_time(void **state) {
    begin(take_slowly, false);
    run(*(uint32_t *)*state);
    assert_int_equal(w.b.seen, 100);
    assert_int_equal(w.s.acks, 100);
    rig_fini(&w.r);
}

/* Works when it has taken all: two hundred microseconds a tuple. */
static int work_at_the_end(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    int64_t taken = 0;
    (void)out;
    w.calls++;
    while (gale_batch_next(tuples)) taken++;
    bolt->seen += (uint64_t)taken;
    gale_manual_clock_advance(w.r.clock, taken * 200 * GALE_MICROSECOND);
    if (w.calls > 1) assert_in_range(taken, 1, 3);
    return 0;
}

static void a_call_is_timed_whole_and_shared_among_its_tuples(void **state) {
    begin(work_at_the_end, false);
    run(*(uint32_t *)*state);
    assert_int_equal(w.b.seen, 100);
    gale_task_stats stats = rig_task(&w.r, "b", 0);
    assert_int_equal(stats.execute_samples, w.calls);
    assert_int_equal(stats.execute_nanoseconds, w.calls * 200 * GALE_MICROSECOND);
    rig_fini(&w.r);
}

/* Slow, so that the clock is read for each; once it moves so far that those behind are too late. */
static int be_late(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    (void)out;
    while (gale_batch_next(tuples))
        gale_manual_clock_advance(w.r.clock, ++bolt->seen == 30 ? GALE_SECOND : 30 * GALE_MICROSECOND);
    return 0;
}

static void what_is_past_its_deadline_is_passed_over(void **state) {
    begin(be_late, false);
    gale_topology_set(w.r.topology, NULL, "topology.message.deadline.secs", gale_f64(0.5));
    run(*(uint32_t *)*state);
    gale_task_stats stats = rig_task(&w.r, "b", 0);
    assert_true(stats.expired > 0);
    assert_int_equal(stats.executed + stats.expired, 100);
    assert_int_equal(w.b.seen, stats.executed);
    assert_int_equal(w.s.acks + w.s.fails, 100);
    assert_int_equal(w.s.fails, stats.expired);
    assert_int_equal(w.s.last_failure.reason, GALE_REASON_DEADLINE);
    rig_fini(&w.r);
}

static void on_execute(void *user, const gale_context *context, const gale_tuple *tuple, int returned) {
    uint64_t *heard = user;
    (void)context;
    heard[gale_tuple_value(tuple, 0).as.i64] += returned < 0 ? 100 : 1;
}

static void hooks_hear_of_each_tuple_and_what_it_came_to(void **state) {
    uint64_t heard[100] = { 0 };
    begin(fail_each_seventh, false);
    const gale_hook hook = { .size = sizeof hook, .user = heard, .execute = on_execute };
    assert_true(gale_topology_add_hook(w.r.topology, "b", hook) >= 0);
    run(*(uint32_t *)*state);
    for (size_t i = 0; i < 100; i++) assert_int_equal(heard[i], i % 7 == 3 ? 100 : 1);
    rig_fini(&w.r);
}

/* So much for each that what it feeds is congested before it has taken many. */
static int pour(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    uint64_t taken = 0;
    const gale_tuple *tuple;
    w.calls++;
    while ((tuple = gale_batch_next(tuples)) != NULL) {
        bolt->seen++;
        taken++;
        for (int i = 0; i < 1000; i++) assert_int_equal(rig_pass(bolt, tuple, out), 0);
    }
    if (taken > w.failing) w.failing = taken; /* the most in one call */
    return 0;
}

static void a_call_ends_where_what_it_feeds_has_enough(void **state) {
    begin(pour, false);
    run(*(uint32_t *)*state);
    assert_int_equal(w.b.seen, 100);
    assert_int_equal(w.c.seen, 100000);
    assert_int_equal(w.s.acks, 100);
    assert_true(w.failing < 10);
    rig_fini(&w.r);
}

static void without_acks_all_are_executed_as_well(void **state) {
    begin(pass_all, false);
    gale_topology_set(w.r.topology, NULL, "topology.acker.executors", gale_i64(0));
    run(*(uint32_t *)*state);
    assert_int_equal(w.b.seen, 100);
    assert_int_equal(w.c.seen, 100);
    rig_fini(&w.r);
}

static int must_not_be_called(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt, (void)tuple, (void)out;
    fail_msg("execute was called");
    return 0;
}

static int both_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    return must_not_be_called(self, tuple, out);
}

static int both_batch(void *self, gale_batch *tuples, gale_collector *out) {
    (void)out;
    while (gale_batch_next(tuples)) ++*(uint64_t *)self;
    return 0;
}

static void where_both_are_there_execute_is_not_called(void **state) {
    (void)state;
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "both", .execute = both_execute, .execute_batch = both_batch
    };
    uint64_t seen = 0;
    fixture *f = setup(rig_take);
    const gale_bolt bolt = { .size = sizeof bolt, .ops = &ops, .user = &seen };
    gale_topology_add_bolt(f->r.topology, "both", bolt, 1);
    assert_int_equal(gale_topology_subscribe(f->r.topology, "both", "s", NULL, gale_shuffle()), 0);
    rig_make(&f->r, 1);
    rig_settle(&f->r);
    assert_int_equal(seen, 100);
    rig_fini(&f->r);
}

static void on_threads_all_is_counted_once(void **state) {
    begin(pass_all, false);
    w.s.to_emit = 4000;
    rig_make_with(&w.r,
                  (gale_runtime_options){ .size = sizeof(gale_runtime_options), .executors = *(uint32_t *)*state });
    assert_int_equal(gale_runtime_start(w.r.runtime, NULL), 0);
    while (rig_stats(&w.r)->acked < 4000) continue;
    gale_runtime_drain(w.r.runtime);
    assert_int_equal(gale_runtime_wait(w.r.runtime, 10 * GALE_SECOND, NULL), 0);
    assert_int_equal(w.b.seen, 4000);
    assert_int_equal(w.s.acks, 4000);
    rig_fini(&w.r);
}

/* --- Tuples to emit --- */

static int64_t order[RIG_TUPLES_MAX];

/* Keeps the numbers that come, in their order. */
static int note_order(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    gale_value value = gale_tuple_value(tuple, 0);
    assert_true(bolt->seen < RIG_TUPLES_MAX);
    order[bolt->seen++] = value.type == GALE_TYPE_I64 ? value.as.i64 : atoll(value.as.string);
    return 0;
}

/* What `b` emits for each of its tuples. */
static struct {
    uint32_t stream;
    gale_value values[200];
    size_t count, rows;
    int expected;
    size_t expected_rows;
    bool without; /* the collector has no such function */
} e;

static int emit_all(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    const gale_collector_ops *ops = out->ops;
    gale_collector_ops shorter = *ops;
    size_t rows = 77;
    (void)tuple;
    bolt->seen++;
    shorter.size = offsetof(gale_collector_ops, emit_many);
    if (e.without) out->ops = &shorter;
    assert_int_equal(gale_emit_many(out, e.stream, e.values, e.count, e.rows, &rows), e.expected);
    assert_int_equal(rows, e.expected_rows);
    out->ops = ops;
    return 0;
}

/* spout -> b -> c, which is given one of the two streams. */
static void begin_emits(uint64_t tuples, const char *stream) {
    memset(&e, 0, sizeof e);
    memset(&w, 0, sizeof w);
    rig_init(&w.r);
    w.s.to_emit = tuples;
    w.b.on = emit_all;
    w.c.on = note_order;
    gale_topology_add_spout(w.r.topology, "s", rig_spout_of(&w.s), 1);
    gale_topology_add_bolt(w.r.topology, "b", rig_simple(&w.b), 1);
    gale_topology_add_bolt(w.r.topology, "c", rig_simple(&w.c), 1);
    gale_topology_subscribe(w.r.topology, "b", "s", NULL, gale_shuffle());
    assert_int_equal(gale_topology_subscribe(w.r.topology, "c", "b", stream, gale_shuffle()), 0);
}

/* So many rows of `count` values, the first of which number them. */
static void fill(uint32_t stream, size_t count, size_t rows) {
    e.stream = stream;
    e.count = count;
    e.rows = e.expected_rows = rows;
    for (size_t i = 0; i < count * rows; i++) e.values[i] = gale_i64((int64_t)(i / count));
}

static void expect_order(uint64_t tuples, size_t rows) {
    assert_int_equal(w.c.seen, tuples * rows);
    for (size_t i = 0; i < tuples * rows; i++) assert_int_equal(order[i], i % rows);
    assert_int_equal(w.s.acks, tuples);
    assert_int_equal(w.s.fails, 0);
}

static void many_tuples_of_one_value_are_emitted_in_order_and_belong_to_the_tuple(void **state) {
    begin_emits(20, "side");
    fill(1, 1, 100);
    run(*(uint32_t *)*state);
    expect_order(20, 100);
    rig_fini(&w.r);
}

static void many_tuples_of_several_values_are_too(void **state) {
    begin_emits(20, NULL);
    fill(0, 2, 100);
    run(*(uint32_t *)*state);
    expect_order(20, 100);
    rig_fini(&w.r);
}

static void texts_that_are_not_brief_stay_in_their_place(void **state) {
    static char texts[100][3000];
    begin_emits(20, "side");
    fill(1, 1, 100);
    for (size_t i = 0; i < 100; i++) {
        size_t size = (size_t)snprintf(texts[i], sizeof texts[i], "%zu", i);
        if (i % 3 == 1) size = i % 2 ? 40 : 2900;
        if (i % 3) e.values[i] = gale_string(texts[i], size);
    }
    run(*(uint32_t *)*state);
    expect_order(20, 100);
    rig_fini(&w.r);
}

static void without_acks_many_are_emitted_as_well(void **state) {
    begin_emits(20, "side");
    gale_topology_set(w.r.topology, NULL, "topology.acker.executors", gale_i64(0));
    fill(1, 1, 100);
    run(*(uint32_t *)*state);
    assert_int_equal(w.c.seen, 2000);
    rig_fini(&w.r);
}

static void on_emit(void *user, const gale_context *context, uint32_t stream, const gale_value *values, size_t count,
                    uint32_t deliveries) {
    (void)context, (void)stream, (void)count;
    *(uint64_t *)user += (uint64_t)values[0].as.i64 * deliveries;
}

static void hooks_hear_of_each_emit(void **state) {
    uint64_t sum = 0;
    begin_emits(20, "side");
    fill(1, 1, 100);
    const gale_hook hook = { .size = sizeof hook, .user = &sum, .emit = on_emit };
    assert_true(gale_topology_add_hook(w.r.topology, "b", hook) >= 0);
    run(*(uint32_t *)*state);
    expect_order(20, 100);
    assert_int_equal(sum, 20 * 99 * 100 / 2);
    rig_fini(&w.r);
}

static void one_that_is_refused_ends_the_call_and_fails_the_tuple(void **state) {
    begin_emits(20, "side");
    fill(1, 1, 100);
    e.values[60].type = INT8_MAX;
    e.expected = GALE_INVALID;
    e.expected_rows = 60;
    run(*(uint32_t *)*state);
    assert_int_equal(w.c.seen, 20 * 60);
    assert_int_equal(w.s.fails, 20);
    assert_int_equal(rig_task(&w.r, "b", 0).misused, 20);
    rig_fini(&w.r);
}

static void no_rows_are_no_reason_to_refuse(void **state) {
    begin_emits(20, "side");
    e.stream = 99;
    run(*(uint32_t *)*state);
    assert_int_equal(w.s.acks, 20);
    rig_fini(&w.r);
}

static void to_no_stream_of_its_own_none_is_emitted(void **state) {
    begin_emits(20, "side");
    fill(2, 1, 10);
    e.expected = GALE_NOT_FOUND;
    e.expected_rows = 0;
    run(*(uint32_t *)*state);
    assert_int_equal(w.c.seen, 0);
    assert_int_equal(w.s.fails, 20);
    rig_fini(&w.r);
}

static void a_collector_without_it_emits_one_after_the_other(void **state) {
    begin_emits(20, "side");
    fill(1, 1, 100);
    e.without = true;
    run(*(uint32_t *)*state);
    expect_order(20, 100);
    rig_fini(&w.r);
}

static void what_must_be_there_is_asked_for(void **state) {
    const gale_value value = gale_i64(1);
    size_t rows = 7;
    (void)state;
    assert_int_equal(gale_emit_many(NULL, 0, &value, 1, 1, &rows), GALE_INVALID);
    assert_int_equal(rows, 0);
    assert_int_equal(gale_emit_many_tracked(NULL, 0, &value, 1, 1, (const uint64_t[]){ 1 }, NULL), GALE_INVALID);
}

/* A spout of one value a tuple, which emits all in its first call. */
typedef struct flood {
    size_t rows, emitted;
    size_t most; /* that it could emit in one call */
    int rc;
    bool done;
    bool by_room; /* it emits as many as gale_room says */
    size_t open_most;
    size_t told_most; /* in one call */
    uint8_t told[2000];
} flood;

static int next_flood(void *self, gale_collector *out, gale_wait *wait) {
    flood *f = self;
    gale_value values[2000];
    uint64_t ids[2000];
    size_t rows = 0;
    (void)wait;
    for (size_t i = f->emitted; i < f->rows; i++) {
        values[i] = gale_i64((int64_t)i);
        ids[i] = i;
    }
    if (f->emitted == f->rows) return GALE_NEXT_DONE;
    size_t left = f->rows - f->emitted, room = f->by_room ? gale_room(out) : left;
    size_t wanted = left < room ? left : room;
    f->rc = gale_emit_many_tracked(out, 0, values + f->emitted, 1, wanted, ids + f->emitted, &rows);
    f->emitted += rows;
    if (rows > f->most) f->most = rows;
    if (gale_pending(out) > f->open_most) f->open_most = gale_pending(out);
    assert_int_equal(f->rc < 0, rows < wanted);
    return GALE_NEXT_EMITTED;
}

static void tell_flood(void *self, const uint64_t *ids, size_t count) {
    flood *f = self;
    for (size_t i = 0; i < count; i++) f->told[ids[i]]++;
    if (count > f->told_most) f->told_most = count;
}

/* A clock that each reading moves on: a spout is slow then, and trees for each of which it was read are of different ages. */
static int64_t reading(void *user) {
    return *(int64_t *)user += 25 * GALE_MICROSECOND;
}

static void build_flood(flood *f) {
    static const gale_spout_ops ops = {
        .size = sizeof ops, .name = "flood", .next = next_flood, .ack_batch = tell_flood
    };
    static const gale_output output = { NULL, "number" };
    memset(&w, 0, sizeof w);
    rig_init(&w.r);
    w.c.on = note_order;
    const gale_spout spout = { .size = sizeof spout, .ops = &ops, .user = f, .outputs = &output, .output_count = 1 };
    gale_topology_add_spout(w.r.topology, "s", spout, 1);
    gale_topology_add_bolt(w.r.topology, "c", rig_simple(&w.c), 1);
    assert_int_equal(gale_topology_subscribe(w.r.topology, "c", "s", NULL, gale_shuffle()), 0);
}

static void run_flood(flood *f, uint32_t executors, const char *key, gale_value value) {
    build_flood(f);
    if (key) gale_topology_set(w.r.topology, NULL, key, value);
    run(executors);
    assert_int_equal(w.c.seen, f->rows);
    for (size_t i = 0; i < f->rows; i++) {
        assert_int_equal(order[i], i);
        assert_int_equal(f->told[i], 1);
    }
    rig_fini(&w.r);
}

static void a_spout_that_emits_as_many_as_there_is_room_keeps_max_spout_pending(void **state) {
    flood f = { .rows = 2000, .by_room = true };
    run_flood(&f, *(uint32_t *)*state, "topology.max.spout.pending", gale_i64(7));
    assert_int_equal(f.open_most, 7);
    assert_in_range(f.most, 2, 7);
}

static void room_is_what_the_turn_leaves(void **state) {
    flood f = { .rows = 2000, .by_room = true };
    run_flood(&f, *(uint32_t *)*state, NULL, gale_null());
    assert_int_equal(f.most, 256); /* the first call of a turn takes all of it, and no more */
}

static void a_spout_is_told_of_each_of_many_by_its_own_message_id(void **state) {
    flood f = { .rows = 2000 };
    run_flood(&f, *(uint32_t *)*state, NULL, gale_null());
    assert_int_equal(f.most, 2000);
}

static void trees_of_one_call_begin_together_and_those_of_a_slow_spout_too(void **state) {
    (void)state;
    flood f = { .rows = 2000 };
    int64_t now = 0;
    const gale_clock clock = { .size = sizeof clock, .now = reading, .user = &now };
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.clock = &clock;
    build_flood(&f);
    rig_make_with(&w.r, options);
    rig_settle(&w.r);
    assert_int_equal(f.most, 2000);
    assert_true(f.told_most >= 10); /* as many as a step executes */
    rig_fini(&w.r);
}

static void trees_that_acker_tasks_keep_are_begun_at_once_too(void **state) {
    flood f = { .rows = 2000 };
    run_flood(&f, *(uint32_t *)*state, "topology.acker.executors", gale_i64(2));
}

static void trees_with_a_deadline_are_begun_at_once_too(void **state) {
    flood f = { .rows = 2000 };
    run_flood(&f, *(uint32_t *)*state, "topology.message.deadline.secs", gale_i64(9));
}

static void trees_that_are_kept_for_replay_are_begun_at_once_too(void **state) {
    flood f = { .rows = 2000 };
    run_flood(&f, *(uint32_t *)*state, "topology.replay.attempts", gale_i64(3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spout_that_has_ack_batch_is_told_of_many_acks_in_one_call),
        cmocka_unit_test(hooks_hear_of_each_ack_before_a_spout_is_told_of_many),
        cmocka_unit_test(acks_between_failures_come_by_ack_batch_too),
        cmocka_unit_test(acks_of_trees_on_acker_tasks_come_by_ack_batch_too),
    };
    static uint32_t one = 1, two = 2;
#define ON(test) cmocka_unit_test_prestate(test, &one), cmocka_unit_test_prestate(test, &two)
    const struct CMUnitTest executing[] = {
        ON(each_tuple_is_acked_when_the_next_is_taken_or_the_call_returns),
        ON(what_is_emitted_belongs_to_the_tuple_that_was_taken_last),
        ON(an_error_fails_the_tuple_that_was_taken_last_and_the_others_come_in_a_later_call),
        ON(a_call_may_return_in_the_middle),
        ON(a_call_that_asks_for_none_fails_the_first_tuple_and_says_so),
        ON(the_error_of_a_call_that_asks_for_none_is_that_of_the_first_tuple),
        ON(before_the_first_tuple_and_after_the_last_nothing_is_in_execution),
        ON(a_manual_bolt_answers_holds_and_forgets_each_as_ever),
        ON(the_tuple_before_is_settled_and_cannot_be_answered_any_more),
        ON(the_tuples_of_a_bolt_that_gathers_wait_for_its_flush),
        ON(ticks_come_by_execute_batch_too),
        ON(a_slow_bolts_call_ends_at_its_slice_of_time),
        ON(a_call_is_timed_whole_and_shared_among_its_tuples),
        ON(what_is_past_its_deadline_is_passed_over),
        ON(hooks_hear_of_each_tuple_and_what_it_came_to),
        ON(a_call_ends_where_what_it_feeds_has_enough),
        ON(without_acks_all_are_executed_as_well),
        ON(on_threads_all_is_counted_once),
        cmocka_unit_test(where_both_are_there_execute_is_not_called),
    };
    const struct CMUnitTest emitting[] = {
        ON(many_tuples_of_one_value_are_emitted_in_order_and_belong_to_the_tuple),
        ON(many_tuples_of_several_values_are_too),
        ON(texts_that_are_not_brief_stay_in_their_place),
        ON(without_acks_many_are_emitted_as_well),
        ON(hooks_hear_of_each_emit),
        ON(one_that_is_refused_ends_the_call_and_fails_the_tuple),
        ON(no_rows_are_no_reason_to_refuse),
        ON(to_no_stream_of_its_own_none_is_emitted),
        ON(a_collector_without_it_emits_one_after_the_other),
        ON(a_spout_that_emits_as_many_as_there_is_room_keeps_max_spout_pending),
        ON(room_is_what_the_turn_leaves),
        ON(a_spout_is_told_of_each_of_many_by_its_own_message_id),
        cmocka_unit_test(trees_of_one_call_begin_together_and_those_of_a_slow_spout_too),
        ON(trees_that_acker_tasks_keep_are_begun_at_once_too),
        ON(trees_with_a_deadline_are_begun_at_once_too),
        ON(trees_that_are_kept_for_replay_are_begun_at_once_too),
        cmocka_unit_test(what_must_be_there_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) + cmocka_run_group_tests(executing, NULL, NULL) +
           cmocka_run_group_tests(emitting, NULL, NULL);
}
