/* The warning that pending tuples will time out, on the hand-moved clock. */
#include "runtime/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rig_spout spout;
static rig_bolt c;
static gale_manual_clock *the_clock;

typedef struct lines {
    int count;
    char last[1001];
    char component[64];
} lines;

static void take_line(void *user, int32_t level, const char *component, const char *text) {
    lines *l = user;
    assert_int_equal(level, GALE_LOG_WARN);
    l->count++;
    snprintf(l->last, sizeof l->last, "%s", text);
    snprintf(l->component, sizeof l->component, "%s", component ? component : "");
}

static int slow(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_manual_clock_advance(the_clock, 10 * GALE_MILLISECOND);
    return rig_take(bolt, tuple, out);
}

static int keep(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++ % RIG_TUPLES_MAX]);
}

/* Answers one tuple at each tick. */
static int answer_one(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (!gale_tuple_is_tick(tuple)) return keep(bolt, tuple, out);
    return bolt->held_count ? gale_ack(out, bolt->held[--bolt->held_count]) : 0;
}

/* Puts bolts on other executors than their spout, when there are others. */
static void place(rig *r, uint32_t executors, const char *first, const char *last) {
    if (first) gale_topology_set(r->topology, first, "gale.executor", gale_i64(executors / 2));
    if (last) gale_topology_set(r->topology, last, "gale.executor", gale_i64(executors - 1));
}

/* A spout without an end before a bolt that does a hundred a second. */
static void begin(rig *r, gale_bolt bolt, double timeout, int64_t pending) {
    memset(&spout, 0, sizeof spout);
    spout.to_emit = UINT64_MAX;
    rig_init(r);
    the_clock = r->clock;
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "c", bolt, 1);
    gale_topology_subscribe(r->topology, "c", "spout", NULL, gale_shuffle());
    gale_topology_set(r->topology, NULL, "topology.message.timeout.secs", gale_f64(timeout));
    if (pending) gale_topology_set(r->topology, "spout", "topology.max.spout.pending", gale_i64(pending));
}

static void make(rig *r, uint32_t executors, lines *l) {
    gale_logger logger = { sizeof logger, GALE_LOG_WARN, take_line, l };
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = executors;
    options.logger = &logger;
    memset(l, 0, sizeof *l);
    rig_make_with(r, options);
}

static void run_until(rig *r, int64_t seconds) {
    for (int i = 0; i < 100000 && rig_stats(r)->elapsed < seconds * GALE_SECOND; i++) gale_runtime_step(r->runtime);
    assert_true(r->stats.elapsed >= seconds * GALE_SECOND);
}

static void more_pending_than_is_answered_in_a_timeout_is_warned_of_once_a_minute(void **state) {
    rig r;
    lines l;
    memset(&c, 0, sizeof c);
    c.on = slow;
    begin(&r, rig_simple(&c), 10, 0);
    place(&r, rig_executors(state), NULL, "c");
    make(&r, rig_executors(state), &l);
    run_until(&r, 4);
    assert_int_equal(l.count, 0); /* not at the first look: it has to last */
    run_until(&r, 9);
    assert_int_equal(l.count, 1); /* before the first has timed out */
    assert_int_equal(r.stats.timed_out, 0);
    assert_string_equal(l.component, "spout");
    unsigned long long pending;
    double rate, needed;
    assert_int_equal(
        sscanf(l.last, "%llu tuples are pending and %lf a second are answered: that takes %lf s, and they time out",
               &pending, &rate, &needed),
        3);
    assert_true(rate > 95 && rate < 105);
    assert_true(needed > 10 && needed * rate > 0.99 * (double)pending && needed * rate < 1.01 * (double)pending);
    const char *advice = strstr(l.last,
                                "after 10 s (topology.message.timeout.secs); set topology.max.spout.pending to");
    assert_non_null(advice);
    assert_in_range(strtol(strstr(advice, "most ") + 5, NULL, 10), 475, 525);
    run_until(&r, 60);
    assert_int_equal(l.count, 1);
    run_until(&r, 200);
    assert_in_range(l.count, 2, 4);
    /* The queue is longer than a timeout: what is executed has timed out before. */
    assert_non_null(strstr(
        l.last, "tuples timed out and none was answered: a bolt holds or forgets them, or fewer must be pending"));
    rig_fini(&r);
}

static void a_look_is_taken_when_it_is_due_and_not_after_that(void **state) {
    rig r;
    lines l;
    memset(&c, 0, sizeof c);
    c.on = answer_one;
    begin(&r, rig_manual(&c), 8, 100);
    gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_i64(1));
    make(&r, rig_executors(state), &l);
    rig_settle(&r);
    rig_advance(&r, 7 * GALE_SECOND, GALE_SECOND); /* as often as it looks: eight times in a timeout */
    assert_int_equal(l.count, 1);
    rig_fini(&r);
}

static void a_bound_that_is_answered_in_time_is_not_warned_of(void **state) {
    rig r;
    lines l;
    memset(&c, 0, sizeof c);
    c.on = slow;
    begin(&r, rig_simple(&c), 10, 500);
    place(&r, rig_executors(state), NULL, "c");
    make(&r, rig_executors(state), &l);
    run_until(&r, 100);
    assert_int_equal(l.count, 0);
    assert_int_equal(r.stats.timed_out, 0);
    rig_fini(&r);
}

static void without_any_answer_nothing_is_known_before_the_first_timeouts(void **state) {
    rig r;
    lines l;
    memset(&c, 0, sizeof c);
    c.on = keep;
    begin(&r, rig_manual(&c), 10, 100);
    place(&r, rig_executors(state), NULL, "c");
    make(&r, rig_executors(state), &l);
    for (int i = 0; i < 9; i++) rig_advance(&r, GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(rig_stats(&r)->open, 100);
    assert_int_equal(l.count, 0);
    rig_advance(&r, 10 * GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_true(rig_stats(&r)->timed_out >= 100);
    assert_int_equal(l.count, 1);
    assert_non_null(strstr(l.last, "100 tuples timed out and none was answered"));
    rig_fini(&r);
}

static void without_timeouts_nothing_can_be_late(void **state) {
    rig r;
    lines l;
    memset(&c, 0, sizeof c);
    c.on = slow;
    begin(&r, rig_simple(&c), 10, 0);
    gale_topology_set(r.topology, NULL, "topology.enable.message.timeouts", gale_bool(false));
    place(&r, rig_executors(state), NULL, "c");
    make(&r, rig_executors(state), &l);
    run_until(&r, 40);
    assert_int_equal(l.count, 0);
    rig_fini(&r);
}

/* --- At the start --- */

static void expect_at_start(const char *key, gale_value value, const char *component, const char *text) {
    rig r;
    lines l;
    memset(&c, 0, sizeof c);
    c.on = rig_take;
    begin(&r, rig_simple(&c), 10, 1000);
    gale_topology_set(r.topology, component, key, value);
    make(&r, 1, &l);
    assert_int_equal(l.count, text ? 1 : 0);
    if (text) assert_non_null(strstr(l.last, text));
    rig_fini(&r);
}

static void a_deadline_beyond_the_timeout_is_warned_of_at_the_start(void **state) {
    (void)state;
    expect_at_start("topology.message.deadline.secs", gale_i64(10), NULL,
                    "topology.message.deadline.secs is 10 and topology.message.timeout.secs 10: trees time out before");
    expect_at_start("topology.message.deadline.secs", gale_f64(9.9), NULL, NULL);
}

static void a_ceiling_that_does_not_do_what_it_seems_to_is_warned_of_at_the_start(void **state) {
    (void)state;
    static const char key[] = "topology.message.timeout.ceiling.secs";
    expect_at_start(key, gale_i64(20), NULL,
                    "ceiling.secs has no effect: topology.message.timeout.mode is not progress");
    for (int ceiling = 9; ceiling <= 10; ceiling++) {
        rig r;
        lines l;
        memset(&c, 0, sizeof c);
        c.on = rig_take;
        begin(&r, rig_simple(&c), 10, 1000);
        gale_topology_set(r.topology, NULL, "topology.message.timeout.mode", gale_text("progress"));
        gale_topology_set(r.topology, NULL, key, gale_i64(ceiling));
        make(&r, 1, &l);
        assert_int_equal(l.count, ceiling < 10);
        if (ceiling < 10) assert_non_null(strstr(l.last, "is 9 and topology.message.timeout.secs 10"));
        rig_fini(&r);
    }
}

static void a_bound_that_the_rate_cannot_fill_in_time_is_warned_of_at_the_start(void **state) {
    (void)state;
    expect_at_start("gale.rate", gale_i64(50), "spout", "it takes 20 s until 1000 are pending");
    expect_at_start("gale.rate", gale_i64(100), "spout", NULL);
}

#define ON_1_2_8(f)                                                                                                    \
    { #f " on 1 executor", f, NULL, NULL, &one }, { #f " on 2 executors", f, NULL, NULL, &two }, {                     \
#f " on 8 executors", f, NULL, NULL, &eight                                                                    \
    }

int main(void) {
    static uint32_t one = 1, two = 2, eight = 8;
    const struct CMUnitTest tests[] = {
        ON_1_2_8(more_pending_than_is_answered_in_a_timeout_is_warned_of_once_a_minute),
        ON_1_2_8(a_look_is_taken_when_it_is_due_and_not_after_that),
        ON_1_2_8(a_bound_that_is_answered_in_time_is_not_warned_of),
        ON_1_2_8(without_any_answer_nothing_is_known_before_the_first_timeouts),
        ON_1_2_8(without_timeouts_nothing_can_be_late),
        cmocka_unit_test(a_deadline_beyond_the_timeout_is_warned_of_at_the_start),
        cmocka_unit_test(a_ceiling_that_does_not_do_what_it_seems_to_is_warned_of_at_the_start),
        cmocka_unit_test(a_bound_that_the_rate_cannot_fill_in_time_is_warned_of_at_the_start),
    };
    return rig_run_on_both_ledgers(tests);
}
