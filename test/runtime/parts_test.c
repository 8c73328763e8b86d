/* Emission in parts: a call that returns GALE_MORE is made again when there is room, before anything behind it; nothing is
 * shed, and nothing else waits for it. */
#include "runtime/rig.h"

#include <string.h>

enum { ROWS = 20000, LIMIT = 512 << 10 }; /* of one tuple; they take more than twice the limit of a queue */

static rig_spout spout;
static rig_bolt burst, sink, other;

/* What the bursting bolt has emitted of a tuple, a tick or `finish`, and how it was called. */
static struct {
    uint64_t rows; /* of each */
    uint64_t emitted;
    uint64_t calls, parts;
    uint64_t number; /* of the tuple in progress */
    uint64_t most;   /* rows of a part */
    int rc;          /* in place of GALE_MORE */
} b;

/* What the sink has seen: rows of a tuple stand together, in order. */
static struct { uint64_t next_tuple, next_row, rows, wrong; } s;

static int emit_part(uint64_t number, gale_collector *out) {
    uint64_t before = b.emitted;
    b.calls++;
    while (b.emitted < b.rows) {
        const gale_value row[2] = { gale_i64((int64_t)number), gale_i64((int64_t)b.emitted++) };
        int rc = gale_emit(out, 0, row, 2);
        if (rc < 0) return rc;
        if (b.emitted == b.rows || !gale_part_is_full(out)) continue;
        if (b.emitted - before > b.most) b.most = b.emitted - before;
        b.parts++;
        return b.rc;
    }
    b.emitted = 0;
    return 0;
}

static int on_tuple(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (gale_tuple_is_tick(tuple)) return emit_part(bolt->ticks, out);
    uint64_t number = (uint64_t)gale_tuple_value(tuple, 0).as.i64;
    if (b.emitted) assert_int_equal(number, b.number);
    b.number = number;
    return emit_part(number, out);
}

static int on_tuples(rig_bolt *bolt, gale_batch *tuples, gale_collector *out) {
    const gale_tuple *tuple;
    int rc = 0;
    while (rc == 0 && (tuple = gale_batch_next(tuples)) != NULL) rc = on_tuple(bolt, tuple, out);
    return rc;
}

static int on_row(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    bolt->seen++;
    s.rows++;
    s.wrong += (uint64_t)gale_tuple_value(tuple, 1).as.i64 != s.next_row;
    s.next_row = ((uint64_t)gale_tuple_value(tuple, 1).as.i64 + 1) % b.rows;
    s.wrong += (uint64_t)gale_tuple_value(tuple, 0).as.i64 != s.next_tuple;
    s.next_tuple += s.next_row == 0;
    return 0;
}

static int finish(rig_bolt *bolt, gale_collector *out) {
    (void)bolt;
    return emit_part(0, out);
}

/* spout -> burst -> sink, and spout -> other. */
static void begin(rig *r, uint64_t to_emit, bool at_once) {
    memset(&spout, 0, sizeof spout);
    memset(&burst, 0, sizeof burst);
    memset(&sink, 0, sizeof sink);
    memset(&other, 0, sizeof other);
    memset(&s, 0, sizeof s);
    memset(&b, 0, sizeof b);
    b.rows = ROWS;
    b.rc = GALE_MORE;
    spout.to_emit = to_emit;
    burst.on = on_tuple;
    if (at_once) burst.on_batch = on_tuples;
    sink.on = on_row;
    other.on = rig_take;
    rig_init(r);
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "burst", rig_simple(&burst), 1);
    gale_topology_add_bolt(r->topology, "sink", rig_simple(&sink), 1);
    gale_topology_add_bolt(r->topology, "other", rig_simple(&other), 1);
    gale_topology_subscribe(r->topology, "burst", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "other", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "sink", "burst", NULL, gale_shuffle());
}

static void make(rig *r, void **state) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = rig_executors(state);
    options.queue_limit = LIMIT;
    gale_topology_set(r->topology, "sink", "gale.executor", gale_i64(rig_executors(state) - 1));
    rig_make_with(r, options);
}

static void check_whole(const rig *r, uint64_t tuples) {
    assert_int_equal(s.rows, tuples * ROWS);
    assert_int_equal(s.wrong, 0);
    assert_in_range(b.most, 1, GALE_PART_ROWS);
    gale_task_stats stats = rig_task(r, "sink", 0);
    assert_int_equal(stats.shed + stats.overflowed, 0);
    assert_in_range(stats.queued_bytes_max, 0, LIMIT);
}

static void a_tuple_is_acked_when_all_its_parts_are_and_none_is_lost(void **state) {
    for (int at_once = 0; at_once < 2; at_once++) {
        rig r;
        begin(&r, 3, at_once);
        make(&r, state);
        rig_settle(&r);
        check_whole(&r, 3);
        assert_int_equal(spout.acks, 3);
        assert_int_equal(rig_stats(&r)->open, 0);
        gale_task_stats stats = rig_task(&r, "burst", 0);
        assert_int_equal(stats.executed, 3);
        assert_int_equal(stats.acked, 3);
        rig_fini(&r);
    }
}

static void nothing_else_waits_for_an_emission_in_parts(void **state) {
    rig r;
    begin(&r, 2, false);
    make(&r, state);
    while (other.seen < 2) gale_runtime_step(r.runtime);
    assert_in_range(s.rows, 0, ROWS); /* the first tuple's are not all out */
    rig_settle(&r);
    check_whole(&r, 2);
    rig_fini(&r);
}

static void a_tick_emits_in_parts_and_the_next_one_waits_for_it(void **state) {
    rig r;
    begin(&r, 0, false);
    gale_topology_set(r.topology, "burst", "topology.tick.tuple.freq.secs", gale_i64(1));
    make(&r, state);
    rig_settle(&r);
    rig_advance(&r, GALE_SECOND, GALE_SECOND);
    assert_int_equal(s.rows, ROWS);
    assert_int_equal(rig_task(&r, "burst", 0).ticks, 1);
    s.next_tuple = 0;
    rig_advance(&r, GALE_SECOND, GALE_SECOND);
    assert_int_equal(s.rows, 2 * ROWS);
    assert_int_equal(rig_task(&r, "burst", 0).ticks, 2);
    rig_fini(&r);
}

static void finish_emits_in_parts_and_the_drain_waits_for_all(void **state) {
    rig r;
    begin(&r, 0, false);
    burst.on_finish = finish;
    make(&r, state);
    rig_settle(&r);
    rig_drain(&r);
    check_whole(&r, 1);
    assert_in_range(b.calls, ROWS / GALE_PART_ROWS, ROWS);
    rig_fini(&r);
}

static void a_stop_in_the_middle_fails_the_tuple_and_hangs_nowhere(void **state) {
    rig r;
    begin(&r, 2, false);
    make(&r, state);
    while (b.parts < 3) gale_runtime_step(r.runtime);
    gale_runtime_stop(r.runtime);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    assert_int_equal(spout.fails, 2);
    assert_int_equal(spout.last_failure.reason, GALE_REASON_STOPPED);
    assert_in_range(b.parts, 3, ROWS);
    rig_fini(&r);
}

static void a_stop_in_the_middle_of_finish_ends_the_run(void **state) {
    rig r;
    begin(&r, 0, false);
    burst.on_finish = finish;
    make(&r, state);
    rig_settle(&r);
    gale_runtime_drain(r.runtime);
    while (b.parts < 3) gale_runtime_step(r.runtime);
    gale_runtime_stop(r.runtime);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    assert_in_range(s.rows, 0, ROWS - 1);
    rig_fini(&r);
}

static int never_done(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)tuple, (void)out;
    bolt->seen++;
    return GALE_MORE;
}

static void who_says_more_without_a_row_starves_nobody_and_fails_in_the_end(void **state) {
    rig r;
    begin(&r, 2, false);
    burst.on = never_done;
    make(&r, state);
    while (other.seen < 2) gale_runtime_step(r.runtime);
    assert_in_range(burst.seen, 0, 1000);
    assert_int_equal(spout.fails, 0);
    while (spout.fails < 2) gale_runtime_step(r.runtime);
    assert_int_equal(burst.seen, 2 * GALE_PARTS_BARREN);
    assert_int_equal(spout.last_failure.reason, GALE_REASON_FAILED);
    assert_string_equal(spout.last_text, "GALE_MORE was returned 1048576 times in a row, and nothing was emitted");
    rig_fini(&r);
}

static int never_finished(rig_bolt *bolt, gale_collector *out) {
    (void)out;
    bolt->seen++;
    return GALE_MORE;
}

static void a_finish_that_says_more_without_a_row_ends_the_run_with_an_error(void **state) {
    rig r;
    begin(&r, 0, false);
    burst.on_finish = never_finished;
    make(&r, state);
    rig_settle(&r);
    gale_runtime_drain(r.runtime);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_runtime_wait(r.runtime, -1, &error), GALE_COMPONENT);
    assert_non_null(strstr(error.text, "GALE_MORE was returned 1048576 times in a row"));
    assert_int_equal(burst.seen, GALE_PARTS_BARREN);
    rig_fini(&r);
}

static int answer_and_more(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    bolt->seen++;
    gale_ack(out, gale_tuple_handle(tuple));
    return GALE_MORE;
}

static void what_was_answered_does_not_come_again(void **state) {
    rig r;
    begin(&r, 2, false);
    burst.on = answer_and_more;
    make(&r, state);
    rig_settle(&r);
    assert_int_equal(burst.seen, 2);
    assert_int_equal(spout.acks, 2);
    assert_int_equal(rig_task(&r, "burst", 0).misused, 2);
    rig_fini(&r);
}

static int flush_more(rig_bolt *bolt, gale_collector *out) {
    (void)bolt, (void)out;
    return GALE_MORE;
}

static void a_flush_that_says_more_fails_what_it_was_for(void **state) {
    rig r;
    rig_bolt gathers = { .on = rig_take, .on_flush = flush_more };
    begin(&r, 2, false);
    gale_topology_add_bolt(r.topology, "gathers", rig_simple(&gathers), 1);
    gale_topology_subscribe(r.topology, "gathers", "spout", NULL, gale_shuffle());
    make(&r, state);
    rig_settle(&r);
    assert_int_equal(spout.fails, 2);
    rig_fini(&r);
}

static int all_at_once(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt, (void)tuple;
    for (int i = 0; i < ROWS; i++) {
        const gale_value row[2] = { gale_i64(0), gale_i64(i) };
        (void)gale_emit(out, 0, row, 2);
    }
    return 0;
}

/* Where the queue is at another executor the ring and the outbox have room for all. */
static void a_call_that_emits_more_than_a_queue_holds_fails_with_the_bound(void **state) {
    rig r;
    begin(&r, 1, false);
    burst.on = all_at_once;
    make(&r, state);
    rig_settle(&r);
    assert_int_equal(spout.fails, rig_executors(state) == 1);
    if (!spout.fails) assert_int_equal(s.rows, ROWS);
    if (spout.fails) assert_int_equal(spout.last_failure.reason, GALE_REASON_OVERFLOW);
    if (spout.fails)
        assert_string_equal(
            spout.last_text,
            "the queue of the task was at its limit of 524288 bytes (queue_limit): one call that feeds it "
            "emits more, or a cycle does");
    rig_fini(&r);
}

#define BOTH(f)                                                                                                        \
    { #f " on 1 executor", f, NULL, NULL, &one }, {                                                                    \
#f " on 2 executors", f, NULL, NULL, &two                                                                      \
    }

int main(void) {
    static uint32_t one = 1, two = 2;
    const struct CMUnitTest tests[] = {
        BOTH(a_tuple_is_acked_when_all_its_parts_are_and_none_is_lost),
        BOTH(nothing_else_waits_for_an_emission_in_parts),
        BOTH(a_tick_emits_in_parts_and_the_next_one_waits_for_it),
        BOTH(finish_emits_in_parts_and_the_drain_waits_for_all),
        BOTH(a_stop_in_the_middle_fails_the_tuple_and_hangs_nowhere),
        BOTH(a_stop_in_the_middle_of_finish_ends_the_run),
        BOTH(who_says_more_without_a_row_starves_nobody_and_fails_in_the_end),
        BOTH(a_finish_that_says_more_without_a_row_ends_the_run_with_an_error),
        BOTH(what_was_answered_does_not_come_again),
        BOTH(a_flush_that_says_more_fails_what_it_was_for),
        BOTH(a_call_that_emits_more_than_a_queue_holds_fails_with_the_bound),
    };
    return rig_run_on_both_ledgers(tests);
}
