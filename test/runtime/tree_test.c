/* What a spout observes of its trees, whatever their shape and however tasks fall on executors. */
#include "runtime/rig.h"

#include "base/bits.h"

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

static void add_chain(rig *r, gale_bolt first, gale_bolt second) {
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "a", first, 1);
    gale_topology_add_bolt(r->topology, "c", second, 1);
    gale_topology_subscribe(r->topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "c", "a", NULL, gale_shuffle());
}

static void chain_run(rig *r, void **state, gale_bolt first, gale_bolt second) {
    rig_init(r);
    add_chain(r, first, second);
    rig_make(r, rig_executors(state));
    rig_settle(r);
}

static void expect_all_acked(uint64_t count) {
    assert_int_equal(spout.acks, count);
    assert_int_equal(spout.fails, 0);
    for (uint64_t i = 0; i < count && i < RIG_TUPLES_MAX; i++) assert_int_equal(spout.acked[i], 1);
}

static void a_chain_is_acked_once_a_tuple(void **state) {
    rig r;
    reset(1000);
    chain_run(&r, state, rig_simple(&a), rig_simple(&c));
    expect_all_acked(1000);
    assert_int_equal(c.seen, 1000);
    assert_int_equal(rig_stats(&r)->acked, 1000);
    assert_int_equal(r.stats.open, 0);
    assert_int_equal(rig_task(&r, "a", 0).executed, 1000);
    assert_int_equal(rig_task(&r, "a", 0).emitted, 1000);
    assert_int_equal(rig_task(&r, "c", 0).acked, 1000);
    rig_fini(&r);
}

static void a_topology_without_tuples_is_at_rest(void **state) {
    rig r;
    reset(0);
    chain_run(&r, state, rig_simple(&a), rig_simple(&c));
    assert_int_equal(rig_stats(&r)->trees, 0);
    rig_drain(&r);
    rig_fini(&r);
}

static void a_leaf_that_fails_fails_the_tuple_with_reason_place_and_words(void **state) {
    rig r;
    reset(1);
    c.on = rig_refuse;
    chain_run(&r, state, rig_simple(&a), rig_simple(&c));
    assert_int_equal(spout.fails, 1);
    assert_int_equal(spout.acks, 0);
    assert_int_equal(spout.last_failure.reason, GALE_REASON_FAILED);
    assert_int_equal(spout.last_failure.task, rig_task_number(&r, "c", 0));
    assert_string_equal(spout.last_component, "c");
    assert_string_equal(spout.last_text, "no, thanks");
    assert_int_equal(rig_stats(&r)->failed, 1);
    rig_fini(&r);
}

static int forget(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    gale_value number = gale_tuple_value(tuple, 0);
    bolt->seen++;
    if (number.as.i64 % 3 != 0) gale_ack(out, gale_tuple_handle(tuple));
    return 0;
}

static void a_forgotten_tuple_times_out_between_T_and_a_quarter_more(void **state) {
    rig r;
    reset(9);
    c.on = forget;
    rig_init(&r);
    add_chain(&r, rig_simple(&a), rig_manual(&c));
    gale_topology_set(r.topology, NULL, "topology.message.timeout.secs", gale_i64(8));
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    assert_int_equal(spout.acks, 6);
    assert_int_equal(rig_task(&r, "c", 0).forgotten, 3);
    rig_advance(&r, 12 * GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(spout.fails, 3);
    assert_int_equal(spout.last_failure.reason, GALE_REASON_TIMEOUT);
    for (int i = 0; i < 9; i += 3) {
        assert_true(spout.answered_at[i] > 8 * GALE_SECOND);
        assert_true(spout.answered_at[i] <= 10 * GALE_SECOND);
    }
    assert_int_equal(rig_stats(&r)->timed_out, 3);
    rig_fini(&r);
}

static int forget_first_attempt(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    uint8_t *attempts = bolt->user;
    int64_t number = gale_tuple_value(tuple, 0).as.i64;
    if ((number + 1) % 3 == 0 && attempts[number]++ == 0) return 0;
    return gale_ack(out, gale_tuple_handle(tuple));
}

static void every_third_line_times_out_once_and_is_acked_at_its_second_attempt(void **state) {
    static uint8_t attempts[RIG_TUPLES_MAX];
    rig r;
    reset(300);
    memset(attempts, 0, sizeof attempts);
    spout.again = true;
    c.on = forget_first_attempt;
    c.user = attempts;
    rig_init(&r);
    add_chain(&r, rig_simple(&a), rig_manual(&c));
    gale_topology_set(r.topology, NULL, "topology.message.timeout.secs", gale_i64(4));
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    assert_int_equal(spout.acks, 200);
    rig_advance(&r, 4 * GALE_SECOND, 50 * GALE_MILLISECOND);
    assert_int_equal(spout.fails, 0); /* not before T is over */
    rig_advance(&r, GALE_SECOND, 50 * GALE_MILLISECOND);
    assert_int_equal(spout.fails, 100);
    assert_int_equal(spout.acks, 300);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(spout.failed[i], (i + 1) % 3 == 0);
        assert_int_equal(spout.acked[i], 1);
    }
    rig_fini(&r);
}

/* Holds the first tuple; each tick that comes, it is not done yet and says so. Answers at the tenth. */
static int reset_at_ticks(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (!gale_tuple_is_tick(tuple)) return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[0]);
    if (++bolt->ticks == 10) return gale_ack(out, bolt->held[0]);
    return bolt->ticks < 10 ? gale_reset_timeout(out, bolt->held[0]) : GALE_OK;
}

static void work_that_resets_its_timeout_may_take_ten_times_as_long(void **state) {
    rig r;
    reset(1);
    c.on = reset_at_ticks;
    rig_init(&r);
    add_chain(&r, rig_simple(&a), rig_manual(&c));
    gale_topology_set(r.topology, NULL, "topology.message.timeout.secs", gale_i64(8));
    gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_i64(7));
    rig_make(&r, rig_executors(state));
    rig_advance(&r, 69 * GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(spout.acks + spout.fails, 0);
    rig_advance(&r, 2 * GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(spout.acks, 1);
    assert_int_equal(rig_stats(&r)->stale, 0);
    rig_fini(&r);
}

/* Says once that it goes on, and then forgets the tuple. */
static int reset_and_forget(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (!gale_tuple_is_tick(tuple)) return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[0]);
    return bolt->ticks++ == 0 ? gale_reset_timeout(out, bolt->held[0]) : GALE_OK;
}

static void a_reset_timeout_ends_between_T_and_a_quarter_more_after_it(void **state) {
    rig r;
    reset(1);
    c.on = reset_and_forget;
    rig_init(&r);
    add_chain(&r, rig_simple(&a), rig_manual(&c));
    gale_topology_set(r.topology, NULL, "topology.message.timeout.secs", gale_i64(8));
    gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_f64(5.5));
    rig_make(&r, rig_executors(state));
    rig_advance(&r, 20 * GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(spout.fails, 1);
    assert_int_equal(spout.last_failure.reason, GALE_REASON_TIMEOUT);
    assert_true(spout.answered_at[0] > (int64_t)(13.5 * GALE_SECOND));
    assert_true(spout.answered_at[0] <= (int64_t)(15.5 * GALE_SECOND));
    rig_fini(&r);
}

static int fail_then_reset(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    bolt->seen++;
    gale_handle held;
    if (gale_tuple_hold(out, gale_tuple_handle(tuple), &held) < 0) return GALE_NO_MEMORY;
    int rc = gale_fail(out, held, GALE_REASON_FAILED, "no");
    assert_int_equal(gale_reset_timeout(out, held), GALE_SETTLED);
    return rc;
}

static void a_reset_after_the_answer_is_an_error_and_revives_nothing(void **state) {
    rig r;
    reset(3);
    c.on = fail_then_reset;
    chain_run(&r, state, rig_simple(&a), rig_manual(&c));
    rig_advance(&r, 100 * GALE_SECOND, GALE_SECOND);
    assert_int_equal(spout.fails, 3);
    assert_int_equal(spout.acks, 0);
    assert_int_equal(rig_task(&r, "c", 0).misused, 3);
    rig_fini(&r);
}

static void timeouts_can_be_turned_off(void **state) {
    rig r;
    reset(1);
    c.on = forget;
    rig_init(&r);
    add_chain(&r, rig_simple(&a), rig_manual(&c));
    gale_topology_set(r.topology, NULL, "topology.enable.message.timeouts", gale_bool(false));
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    rig_advance(&r, 1000 * GALE_SECOND, 100 * GALE_SECOND);
    assert_int_equal(spout.fails, 0);
    assert_int_equal(rig_stats(&r)->open, 1);
    rig_fini(&r);
}

static void a_diamond_is_acked_when_both_sides_are(void **state) {
    rig r;
    reset(500);
    rig_init(&r);
    add_chain(&r, rig_simple(&a), rig_simple(&c));
    gale_topology_add_bolt(r.topology, "b", rig_simple(&b), 1);
    gale_topology_subscribe(r.topology, "b", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r.topology, "c", "b", NULL, gale_shuffle());
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    expect_all_acked(500);
    assert_int_equal(c.seen, 1000);
    rig_fini(&r);
}

static void a_tuple_for_every_task_is_acked_when_all_have_it(void **state) {
    rig r;
    reset(200);
    rig_init(&r);
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "c", rig_simple(&c), 10);
    gale_topology_subscribe(r.topology, "c", "spout", NULL, gale_all());
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    expect_all_acked(200);
    assert_int_equal(c.seen, 2000);
    assert_int_equal(rig_task(&r, "spout", 0).emitted, 200);
    assert_int_equal(rig_task(&r, "spout", 0).transferred, 2000);
    rig_fini(&r);
}

static void a_tuple_that_nobody_takes_is_acked_later_not_inside_the_emit(void **state) {
    rig r;
    reset(10);
    rig_init(&r);
    rig_spout other = { .to_emit = 0 };
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_spout(r.topology, "other", rig_spout_of(&other), 1);
    gale_topology_add_bolt(r.topology, "c", rig_simple(&c), 1);
    gale_topology_subscribe(r.topology, "c", "other", NULL, gale_shuffle());
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    expect_all_acked(10);
    assert_int_equal(spout.pending_max, 10); /* none was answered while the burst went on */
    rig_fini(&r);
}

static void without_ackers_every_tuple_is_acked_at_once_and_bolts_owe_nothing(void **state) {
    rig r;
    reset(50);
    c.on = forget;
    rig_init(&r);
    add_chain(&r, rig_simple(&a), rig_manual(&c));
    gale_topology_set(r.topology, NULL, "topology.acker.executors", gale_i64(0));
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    expect_all_acked(50);
    assert_int_equal(c.seen, 50);
    assert_int_equal(rig_task(&r, "c", 0).forgotten, 0);
    rig_fini(&r);
}

static void untracked_tuples_are_delivered_and_never_answered(void **state) {
    rig r;
    reset(50);
    spout.untracked = true;
    chain_run(&r, state, rig_simple(&a), rig_simple(&c));
    assert_int_equal(c.seen, 50);
    assert_int_equal(spout.acks + spout.fails, 0);
    assert_int_equal(rig_stats(&r)->trees, 0);
    rig_fini(&r);
}

/* --- Holding and anchoring --- */

static int join_ten(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    int rc = gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
    if (rc < 0) return rc;
    if (bolt->held_count < 10) return 0;
    const gale_tuple *first = gale_held(out, bolt->held[0]);
    assert_non_null(first);
    gale_value values[] = { gale_tuple_value(first, 0), gale_tuple_value(first, 1) };
    rc = gale_emit_anchored(out, 0, values, 2, bolt->held, 10);
    for (size_t i = 0; i < 10; i++) gale_ack(out, bolt->held[i]);
    bolt->held_count = 0;
    return rc < 0 ? rc : 0;
}

static void a_tuple_anchored_to_ten_acks_all_ten(void **state) {
    rig r;
    reset(100);
    a.on = join_ten;
    chain_run(&r, state, rig_manual(&a), rig_simple(&c));
    expect_all_acked(100);
    assert_int_equal(c.seen, 10);
    assert_int_equal(rig_task(&r, "a", 0).held, 0);
    rig_fini(&r);
}

static void a_tuple_anchored_to_ten_fails_all_ten_and_no_other(void **state) {
    rig r;
    reset(15);
    a.on = join_ten;
    c.on = rig_refuse;
    chain_run(&r, state, rig_manual(&a), rig_simple(&c));
    assert_int_equal(spout.fails, 10);
    assert_int_equal(spout.acks, 0);
    for (int i = 0; i < 10; i++) assert_int_equal(spout.failed[i], 1);
    assert_int_equal(rig_task(&r, "a", 0).held, 5);
    rig_fini(&r);
}

static int join_many(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
    if (bolt->held_count < 1000) return 0;
    gale_value values[] = { gale_i64(1), gale_i64(2) };
    int rc = gale_emit_anchored(out, 0, values, 2, bolt->held, bolt->held_count);
    for (size_t i = 0; i < bolt->held_count; i++) gale_ack(out, bolt->held[i]);
    bolt->held_count = 0;
    return rc < 0 ? rc : 0;
}

static void a_thousand_roots_travel_in_one_tuple(void **state) {
    rig r;
    reset(2000);
    a.on = join_many;
    chain_run(&r, state, rig_manual(&a), rig_simple(&c));
    expect_all_acked(2000);
    assert_int_equal(c.seen, 2);
    rig_fini(&r);
}

static int take_and_ack(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    int64_t first = gale_tuple_value(tuple, 0).as.i64, second = gale_tuple_value(tuple, 1).as.i64;
    assert_true(first == 1 && second == 2);
    rig_take(bolt, tuple, out);
    return gale_ack(out, gale_tuple_handle(tuple));
}

/* More roots than lie in a row, and the bolt's calls are not acked for it. */
static void a_thousand_roots_come_to_a_bolt_that_answers_itself(void **state) {
    rig r;
    reset(2000);
    a.on = join_many;
    c.on = take_and_ack;
    chain_run(&r, state, rig_manual(&a), rig_manual(&c));
    expect_all_acked(2000);
    assert_int_equal(c.seen, 2);
    rig_fini(&r);
}

static int anchor_to_itself_twice(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt;
    gale_handle twice[] = { gale_tuple_handle(tuple), gale_tuple_handle(tuple) };
    gale_value values[] = { gale_tuple_value(tuple, 0), gale_tuple_value(tuple, 1) };
    int rc = gale_emit_anchored(out, 0, values, 2, twice, 2);
    return rc < 0 ? rc : 0;
}

static void the_same_anchor_twice_still_completes(void **state) {
    rig r;
    reset(20);
    a.on = anchor_to_itself_twice;
    chain_run(&r, state, rig_simple(&a), rig_simple(&c));
    expect_all_acked(20);
    rig_fini(&r);
}

static int unanchored(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt;
    gale_value values[] = { gale_tuple_value(tuple, 0), gale_tuple_value(tuple, 1) };
    int rc = gale_emit_unanchored(out, 0, values, 2);
    return rc < 0 ? rc : 0;
}

static void what_an_unanchored_tuple_meets_does_not_matter_to_the_tree(void **state) {
    rig r;
    reset(20);
    a.on = unanchored;
    c.on = rig_refuse;
    chain_run(&r, state, rig_simple(&a), rig_simple(&c));
    expect_all_acked(20);
    rig_fini(&r);
}

/* --- Misuse --- */

static int answer_twice(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt;
    gale_handle h = gale_tuple_handle(tuple);
    assert_int_equal(gale_ack(out, h), 0);
    assert_int_equal(gale_ack(out, h), GALE_SETTLED);
    assert_int_equal(gale_fail(out, h, GALE_REASON_FAILED, "late"), GALE_SETTLED);
    gale_value values[] = { gale_i64(1), gale_i64(2) };
    assert_int_equal(gale_emit(out, 0, values, 2), GALE_SETTLED);
    return 0;
}

static void a_second_answer_and_a_late_emit_are_errors_without_effect(void **state) {
    rig r;
    reset(5);
    a.on = answer_twice;
    chain_run(&r, state, rig_manual(&a), rig_simple(&c));
    expect_all_acked(5);
    assert_int_equal(c.seen, 0);
    assert_int_equal(rig_task(&r, "a", 0).misused, 15);
    rig_fini(&r);
}

static int keep_handle(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (bolt->held_count) {
        assert_int_equal(gale_ack(out, bolt->held[0]), GALE_SETTLED);
        assert_null(gale_held(out, bolt->held[0]));
    }
    bolt->held[0] = gale_tuple_handle(tuple);
    bolt->held_count = 1;
    assert_int_equal(gale_ack(out, gale_tuple_handle(tuple) ^ ((uint64_t)1 << 48)), GALE_INVALID); /* another task's */
    return gale_ack(out, gale_tuple_handle(tuple));
}

static void a_handle_that_was_not_held_is_settled_in_the_next_call(void **state) {
    rig r;
    reset(5);
    c.on = keep_handle;
    chain_run(&r, state, rig_simple(&a), rig_manual(&c));
    expect_all_acked(5);
    rig_fini(&r);
}

static int emit_wrongly(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt, (void)tuple;
    gale_value values[] = { gale_i64(1), gale_i64(2), gale_i64(3) };
    assert_int_equal(gale_emit(out, 0, values, 3), GALE_FIELDS);
    assert_int_equal(gale_emit(out, 7, values, 2), GALE_NOT_FOUND);
    assert_int_equal(gale_emit_tracked(out, 0, values, 2, 1), GALE_STATE);
    return 0;
}

static void a_failed_emit_fails_its_anchor(void **state) {
    rig r;
    reset(1);
    a.on = emit_wrongly;
    chain_run(&r, state, rig_simple(&a), rig_simple(&c));
    assert_int_equal(spout.fails, 1);
    assert_string_equal(spout.last_text, "an emit that was anchored to it failed");
    rig_fini(&r);
}

static int emit_too_much(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt, (void)tuple;
    gale_value values[] = { gale_bytes("", (size_t)1 << 32), gale_i64(2) };
    assert_int_equal(gale_emit(out, 0, values, 2), GALE_TOO_LARGE);
    return 0;
}

static void what_is_too_large_for_its_size_is_refused_and_not_emitted_empty(void **state) {
    rig r;
    reset(1);
    a.on = emit_too_much;
    chain_run(&r, state, rig_simple(&a), rig_simple(&c));
    assert_int_equal(spout.fails, 1);
    assert_int_equal(c.seen, 0);
    rig_fini(&r);
}

static const int32_t no_reasons[] = {
    -1, INT32_MIN, INT32_MIN / 8, GALE_REASON_STOPPED, GALE_REASON_COUNT, GALE_REASON_USER - 1
};

static int fail_for_no_reason(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_handle handle = gale_tuple_handle(tuple);
    int32_t reason = no_reasons[bolt->seen++ % 6];
    assert_int_equal(gale_fail(out, handle, reason, "for no reason"), GALE_INVALID);
    if (bolt->user) assert_int_equal(gale_fail(out, handle, GALE_REASON_USER + 1, "for a reason"), 0);
    return 0;
}

static uint64_t failures_of(const rig *r, const char *component) {
    uint64_t sum = gale_runtime_failures(r->runtime, component, GALE_REASON_USER);
    for (int32_t i = -1; i <= GALE_REASON_COUNT; i++) sum += gale_runtime_failures(r->runtime, component, i);
    return sum;
}

static void a_failure_for_what_is_no_reason_is_refused_and_the_tuple_can_still_be_failed(void **state) {
    rig r;
    reset(6);
    c.on = fail_for_no_reason;
    c.user = &c;
    chain_run(&r, state, rig_simple(&a), rig_simple(&c));
    assert_int_equal(spout.fails, 6);
    assert_int_equal(spout.last_failure.reason, GALE_REASON_USER + 1);
    assert_int_equal(rig_task(&r, "c", 0).misused, 6);
    assert_int_equal(gale_runtime_failures(r.runtime, "c", GALE_REASON_USER), 6);
    assert_int_equal(failures_of(&r, "c"), 6);
    assert_int_equal(failures_of(&r, "a") + failures_of(&r, "spout") + failures_of(&r, NULL), 0);
    rig_fini(&r);
}

static void a_tuple_that_was_failed_for_what_is_no_reason_is_not_acked(void **state) {
    rig r;
    reset(6);
    c.on = fail_for_no_reason;
    chain_run(&r, state, rig_simple(&a), rig_simple(&c));
    assert_int_equal(spout.acks, 0);
    assert_int_equal(spout.fails, 6);
    assert_int_equal(gale_runtime_failures(r.runtime, "c", GALE_REASON_FAILED), 6);
    rig_fini(&r);
}

static int hold_then_answer_by_either_name(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_handle held, current = gale_tuple_handle(tuple);
    assert_int_equal(gale_tuple_hold(out, current, &held), 0);
    assert_int_equal(gale_tuple_hold(out, current, &held), GALE_SETTLED);
    gale_value values[] = { gale_tuple_value(tuple, 0), gale_tuple_value(tuple, 1) };
    assert_true(gale_emit(out, 0, values, 2) >= 0); /* anchored to what is held now */
    gale_handle first = bolt->seen++ % 2 ? held : current, second = first == held ? current : held;
    assert_int_equal(gale_ack(out, first), 0);
    assert_int_equal(gale_ack(out, second), GALE_SETTLED);
    return 0;
}

static void a_held_tuple_has_two_names_until_execute_returns(void **state) {
    rig r;
    reset(10);
    a.on = hold_then_answer_by_either_name;
    chain_run(&r, state, rig_manual(&a), rig_simple(&c));
    expect_all_acked(10);
    assert_int_equal(c.seen, 10);
    rig_fini(&r);
}

static char large[100000];

static int emit_large(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt, (void)tuple;
    gale_value values[] = { gale_string(large, sizeof large), gale_i64(7) };
    int rc = gale_emit(out, 0, values, 2);
    return rc < 0 ? rc : 0;
}

static int check_large(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    gale_value v = gale_tuple_value(tuple, 0);
    assert_int_equal(v.size, sizeof large);
    assert_memory_equal(v.as.string, large, sizeof large);
    bolt->seen++;
    return 0;
}

static void large_bodies_are_shared_and_given_back(void **state) {
    rig r;
    reset(100);
    memset(large, 'x', sizeof large);
    a.on = emit_large;
    c.on = check_large;
    rig_init(&r);
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "a", rig_simple(&a), 1);
    gale_topology_add_bolt(r.topology, "c", rig_simple(&c), 5);
    gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r.topology, "c", "a", NULL, gale_all());
    rig_make(&r, rig_executors(state));
    uint64_t at_start = rig_stats(&r)->memory_in_use;
    rig_settle(&r);
    expect_all_acked(100);
    assert_int_equal(c.seen, 500);
    assert_true(rig_stats(&r)->memory_in_use < at_start + (1 << 20)); /* a hundred bodies are 10 MB */
    rig_fini(&r);
}

#define ON_1_2_8(f)                                                                                                    \
    { #f " on 1 executor", f, NULL, NULL, &one }, { #f " on 2 executors", f, NULL, NULL, &two }, {                     \
#f " on 8 executors", f, NULL, NULL, &eight                                                                    \
    }

/* --- Streams --- */

static int fork_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    gale_value pair[] = { gale_tuple_value(tuple, 0), gale_tuple_value(tuple, 1) };
    (void)self;
    int rc = gale_emit(out, 1, pair, 2);
    if (rc >= 0) rc = gale_emit(out, 2, pair, 1);
    return rc < 0 ? rc : 0;
}

/* Counts the tuples that have as many fields as `user` says. */
static int count_sizes(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    if (gale_tuple_size(tuple) == *(const size_t *)bolt->user) bolt->seen++;
    return 0;
}

/* The stream that is the first's number of fields, and so on: numbers and counts must not be taken for each other. */
static void each_of_several_streams_takes_its_own_tuples(void **state) {
    (void)state;
    static const gale_bolt_ops ops = { .size = sizeof ops, .name = "fork", .execute = fork_execute };
    static const gale_output outputs[] = { { NULL, "a, b, c" }, { "pair", "a, b" }, { "single", "a" } };
    static size_t sizes[] = { 2, 1 };
    rig r;
    static rig_spout s;
    rig_bolt pairs = { .on = count_sizes, .user = &sizes[0] }, singles = { .on = count_sizes, .user = &sizes[1] };
    rig_init(&r);
    s = (rig_spout){ .to_emit = 10 };
    gale_bolt fork = { .size = sizeof fork, .ops = &ops, .outputs = outputs, .output_count = 3 };
    gale_topology_add_spout(r.topology, "s", rig_spout_of(&s), 1);
    gale_topology_add_bolt(r.topology, "fork", fork, 1);
    gale_topology_add_bolt(r.topology, "pairs", rig_simple(&pairs), 1);
    gale_topology_add_bolt(r.topology, "singles", rig_simple(&singles), 1);
    assert_int_equal(gale_topology_subscribe(r.topology, "fork", "s", NULL, gale_shuffle()), 0);
    assert_int_equal(gale_topology_subscribe(r.topology, "pairs", "fork", "pair", gale_shuffle()), 0);
    assert_int_equal(gale_topology_subscribe(r.topology, "singles", "fork", "single", gale_shuffle()), 0);
    rig_make(&r, 1);
    rig_settle(&r);
    assert_int_equal(s.acks, 10);
    assert_int_equal(pairs.seen, 10);
    assert_int_equal(singles.seen, 10);
    rig_fini(&r);
}

int main(void) {
    static uint32_t one = 1, two = 2, eight = 8;
    const struct CMUnitTest tests[] = {
        ON_1_2_8(a_chain_is_acked_once_a_tuple),
        ON_1_2_8(a_topology_without_tuples_is_at_rest),
        ON_1_2_8(a_leaf_that_fails_fails_the_tuple_with_reason_place_and_words),
        ON_1_2_8(a_forgotten_tuple_times_out_between_T_and_a_quarter_more),
        ON_1_2_8(every_third_line_times_out_once_and_is_acked_at_its_second_attempt),
        ON_1_2_8(timeouts_can_be_turned_off),
        ON_1_2_8(work_that_resets_its_timeout_may_take_ten_times_as_long),
        ON_1_2_8(a_reset_timeout_ends_between_T_and_a_quarter_more_after_it),
        ON_1_2_8(a_reset_after_the_answer_is_an_error_and_revives_nothing),
        ON_1_2_8(a_diamond_is_acked_when_both_sides_are),
        ON_1_2_8(a_tuple_for_every_task_is_acked_when_all_have_it),
        ON_1_2_8(a_tuple_that_nobody_takes_is_acked_later_not_inside_the_emit),
        ON_1_2_8(without_ackers_every_tuple_is_acked_at_once_and_bolts_owe_nothing),
        ON_1_2_8(untracked_tuples_are_delivered_and_never_answered),
        ON_1_2_8(a_tuple_anchored_to_ten_acks_all_ten),
        ON_1_2_8(a_tuple_anchored_to_ten_fails_all_ten_and_no_other),
        ON_1_2_8(a_thousand_roots_travel_in_one_tuple),
        ON_1_2_8(a_thousand_roots_come_to_a_bolt_that_answers_itself),
        ON_1_2_8(the_same_anchor_twice_still_completes),
        ON_1_2_8(what_an_unanchored_tuple_meets_does_not_matter_to_the_tree),
        ON_1_2_8(a_second_answer_and_a_late_emit_are_errors_without_effect),
        ON_1_2_8(a_handle_that_was_not_held_is_settled_in_the_next_call),
        ON_1_2_8(a_failed_emit_fails_its_anchor),
        ON_1_2_8(what_is_too_large_for_its_size_is_refused_and_not_emitted_empty),
        ON_1_2_8(a_failure_for_what_is_no_reason_is_refused_and_the_tuple_can_still_be_failed),
        ON_1_2_8(a_tuple_that_was_failed_for_what_is_no_reason_is_not_acked),
        ON_1_2_8(a_held_tuple_has_two_names_until_execute_returns),
        ON_1_2_8(large_bodies_are_shared_and_given_back),
        cmocka_unit_test(each_of_several_streams_takes_its_own_tuples),
    };
    return rig_run_on_both_ledgers(tests);
}
