/* Drains end, whoever answers when; and one that makes no progress says what it waits for. */
#include "runtime/rig.h"

#include "runtime/runtime.h"

#include <gale/log.h>
#include <stdio.h>
#include <string.h>

static rig_spout spout;
static rig_bolt early, holder, last;
static char said[4096];
static int32_t level_said; /* of the last line */

static void take_line(void *user, int32_t level, const char *component, const char *text) {
    (void)user;
    size_t size = strlen(said);
    if (level < GALE_LOG_WARN && !strstr(text, "the drain")) return;
    level_said = level;
    snprintf(said + size, sizeof said - size, "%s: %s\n", component ? component : "-", text);
}

static int emit_one(rig_bolt *bolt, gale_collector *out) {
    (void)bolt;
    gale_value values[] = { gale_i64(7), gale_i64(7) };
    return gale_emit(out, 0, values, 2) < 0 ? GALE_COMPONENT : 0;
}

static int hold(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (gale_tuple_is_tick(tuple)) return 0;
    bolt->seen++;
    return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
}

/* Passes on, and acks, what it holds. */
static int answer_all(rig_bolt *bolt, gale_collector *out) {
    while (bolt->held_count) {
        gale_handle held = bolt->held[--bolt->held_count];
        gale_value values[] = { gale_i64(1), gale_i64(1) };
        int rc = gale_emit_anchored(out, 0, values, 2, &held, 1);
        if (rc >= 0) rc = gale_ack(out, held);
        if (rc < 0) return rc;
    }
    return 0;
}

static int answer_at_ticks(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (!gale_tuple_is_tick(tuple)) return hold(bolt, tuple, out);
    bolt->ticks++;
    return answer_all(bolt, out);
}

/* spout -> early (emits one more in finish) -> holder -> last */
static void build(rig *r) {
    memset(&spout, 0, sizeof spout);
    memset(&early, 0, sizeof early);
    memset(&holder, 0, sizeof holder);
    memset(&last, 0, sizeof last);
    memset(said, 0, sizeof said);
    spout.to_emit = 3;
    early.on = rig_pass;
    early.on_finish = emit_one;
    holder.on = hold;
    last.on = rig_take;
    rig_init(r);
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "early", rig_simple(&early), 1);
    gale_topology_add_bolt(r->topology, "holder", rig_manual(&holder), 1);
    gale_topology_add_bolt(r->topology, "last", rig_simple(&last), 1);
    gale_topology_subscribe(r->topology, "early", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "holder", "early", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "last", "holder", NULL, gale_shuffle());
}

static void make_with(rig *r, gale_runtime_options options) {
    static gale_logger logger = { sizeof logger, GALE_LOG_INFO, take_line, NULL };
    options.executors = 2;
    options.logger = &logger;
    rig_make_with(r, options);
}

static void make(rig *r) {
    make_with(r, (gale_runtime_options)GALE_RUNTIME_OPTIONS_INIT);
}

/* Steps on, ten milliseconds after each rest, for this long at the most; true when the run is closed. */
static bool drains_within(rig *r, int64_t nanoseconds) {
    gale_runtime_drain(r->runtime);
    for (int64_t spent = 0; spent <= nanoseconds; spent += 10 * GALE_MILLISECOND) {
        int64_t done;
        while ((done = gale_runtime_step(r->runtime)) > 0) {
        }
        if (done == GALE_STOPPED) return true;
        gale_manual_clock_advance(r->clock, 10 * GALE_MILLISECOND);
    }
    return false;
}

static void a_bolt_that_answers_at_ticks_does_so_when_a_bolt_before_it_emits_in_finish(void **state) {
    (void)state;
    rig r;
    build(&r);
    holder.on = answer_at_ticks;
    gale_topology_set(r.topology, "holder", "topology.tick.tuple.freq.secs", gale_f64(0.2));
    make(&r);
    rig_settle(&r);
    assert_true(drains_within(&r, 2 * GALE_SECOND));
    assert_int_equal(spout.acks, 3);
    assert_int_equal(last.seen, 4);
    rig_fini(&r);
}

static void a_bolt_that_answers_in_finish_does_so_when_a_bolt_before_it_emits_in_finish(void **state) {
    (void)state;
    rig r;
    build(&r);
    spout.to_emit = 0;
    holder.on_finish = answer_all;
    make(&r);
    rig_settle(&r);
    assert_true(drains_within(&r, GALE_SECOND));
    assert_int_equal(holder.seen, 1);
    assert_int_equal(last.seen, 1);
    rig_fini(&r);
}

static void what_is_held_of_a_tree_that_timed_out_waits_for_finish_alone(void **state) {
    (void)state;
    rig r;
    build(&r);
    holder.on_finish = answer_all;
    gale_topology_set(r.topology, NULL, "topology.message.timeout.secs", gale_i64(1));
    make(&r);
    rig_settle(&r);
    assert_true(drains_within(&r, 2 * GALE_SECOND));
    assert_int_equal(spout.fails, 3);
    assert_int_equal(last.seen, 4);
    rig_fini(&r);
}

static void a_bolt_that_has_finished_gets_no_more_ticks(void **state) {
    (void)state;
    rig r;
    build(&r);
    holder.on = answer_at_ticks;
    early.on = rig_take;
    gale_topology_set(r.topology, "early", "topology.tick.tuple.freq.secs", gale_f64(0.01));
    gale_topology_set(r.topology, "holder", "topology.tick.tuple.freq.secs", gale_f64(0.5));
    make(&r);
    rig_settle(&r);
    uint64_t before = early.ticks;
    assert_true(drains_within(&r, 2 * GALE_SECOND)); /* waits for the holder's tick, half a second */
    assert_true(early.ticks - before < 10);
    assert_int_equal(holder.ticks, 1);
    rig_fini(&r);
}

static void a_drain_that_does_not_get_on_names_who_holds_it_up_within_a_second(void **state) {
    (void)state;
    rig r;
    build(&r);
    make(&r);
    rig_settle(&r);
    assert_false(drains_within(&r, 550 * GALE_MILLISECOND));
    assert_string_equal(said, "");
    assert_false(drains_within(&r, 450 * GALE_MILLISECOND));
    assert_non_null(strstr(said, "holder: the drain has waited for 0."));
    assert_non_null(strstr(said, "holds 3 tuples, not answered yet; 3 trees are open, until acked or failed; "
                                 "none times out while it waits for a server, a command or its next attempt\n"));
    assert_non_null(strchr(said, '\n'));
    assert_null(strchr(strchr(said, '\n') + 1, '\n')); /* once so far */
    assert_int_equal(level_said, GALE_LOG_INFO);       /* nothing is wrong with a bolt that holds */
    assert_false(drains_within(&r, 2 * GALE_SECOND));
    assert_non_null(strchr(strchr(said, '\n') + 1, '\n')); /* and again later */
    assert_int_equal(level_said, GALE_LOG_INFO);
    assert_false(drains_within(&r, 5 * GALE_SECOND));
    assert_int_equal(level_said, GALE_LOG_WARN); /* for so long */
    rig_fini(&r);
}

static void a_drain_that_gets_on_says_nothing(void **state) {
    (void)state;
    rig r;
    build(&r);
    spout.to_emit = 100;
    holder.on = answer_at_ticks;
    gale_topology_set(r.topology, NULL, "topology.max.spout.pending", gale_i64(1));
    gale_topology_set(r.topology, "holder", "topology.tick.tuple.freq.secs", gale_f64(0.3));
    make(&r);
    rig_settle(&r);
    assert_true(drains_within(&r, GALE_SECOND));
    assert_string_equal(said, "");
    rig_fini(&r);
}

static int forget(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    return rig_take(bolt, tuple, out);
}

static void a_drain_names_who_forgot_what_it_waits_for(void **state) {
    (void)state;
    rig r;
    build(&r);
    spout.to_emit = 1;
    holder.on = forget;
    make(&r);
    rig_settle(&r);
    assert_false(drains_within(&r, GALE_SECOND));
    assert_non_null(strstr(said, "holder: the drain has waited for 0."));
    assert_non_null(strstr(said, "forgot 1 tuple: execute returned without answering or holding it; "
                                 "1 tree is open"));
    assert_int_equal(level_said, GALE_LOG_WARN);
    rig_fini(&r);
}

static void a_drain_names_who_may_not_run_and_who_is_congested(void **state) {
    (void)state;
    rig r;
    build(&r);
    make(&r);
    uint32_t jam = rig_task_number(&r, "last", 0), behind = rig_task_number(&r, "holder", 0);
    gx_flow_mark(&r.runtime->shared.flow, (uint16_t)jam, true);
    rig_settle(&r);
    assert_int_equal(holder.seen, 0);
    assert_false(drains_within(&r, GALE_SECOND));
    char words[200];
    snprintf(words, sizeof words,
             "bytes wait for 'holder' (task %u), which may not run while 'last' (task %u) is congested", behind, jam);
    assert_non_null(strstr(said, words));
    assert_memory_equal(said, "holder: the drain has", strlen("holder: the drain has"));
    gx_flow_mark(&r.runtime->shared.flow, (uint16_t)jam, false);
    rig_fini(&r);
}

static void a_run_until_drained_says_nothing_while_a_spout_has_more_to_emit(void **state) {
    (void)state;
    rig r;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.until_drained = true;
    build(&r);
    spout.to_emit = 100;
    gale_topology_set(r.topology, NULL, "topology.max.spout.pending", gale_i64(3));
    make_with(&r, options);
    rig_advance(&r, 2 * GALE_SECOND, 10 * GALE_MILLISECOND);
    assert_int_equal(holder.held_count, 3);
    assert_string_equal(said, "");
    rig_fini(&r);
}

/* --- Bolts that hold because more may come ------------------------------------------------------------------------------ */

static char asked[64]; /* who was asked, and how many tuples it held */

static int note_ask(const rig_bolt *bolt, size_t count) {
    size_t size = strlen(asked);
    snprintf(asked + size, sizeof asked - size, "%s%zu ", bolt == &early ? "early" : "holder", count);
    return 0;
}

static int answer_when_asked(rig_bolt *bolt, gale_collector *out) {
    note_ask(bolt, bolt->held_count);
    return answer_all(bolt, out);
}

static int answer_one_when_asked(rig_bolt *bolt, gale_collector *out) {
    gale_handle held = bolt->held[--bolt->held_count];
    note_ask(bolt, bolt->held_count + 1);
    return gale_ack(out, held);
}

static int do_nothing_when_asked(rig_bolt *bolt, gale_collector *out) {
    (void)out;
    return note_ask(bolt, bolt->held_count);
}

/* Both hold; `early` is a manual bolt. */
static void build_holders(rig *r, int (*first)(rig_bolt *, gale_collector *),
                          int (*second)(rig_bolt *, gale_collector *)) {
    build(r);
    gale_topology_free(r->topology);
    r->topology = gale_topology_new("t");
    *asked = 0;
    early.on = holder.on = hold;
    early.on_finish = NULL;
    early.on_drain = first;
    holder.on_drain = second;
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "early", rig_manual(&early), 1);
    gale_topology_add_bolt(r->topology, "holder", rig_manual(&holder), 1);
    gale_topology_add_bolt(r->topology, "last", rig_simple(&last), 1);
    gale_topology_subscribe(r->topology, "early", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "holder", "early", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "last", "holder", NULL, gale_shuffle());
}

static void who_holds_is_asked_in_the_order_of_components_and_the_drain_ends_at_once(void **state) {
    (void)state;
    rig r;
    build_holders(&r, answer_when_asked, answer_when_asked);
    make(&r);
    rig_settle(&r);
    assert_true(drains_within(&r, 100 * GALE_MILLISECOND));
    assert_string_equal(asked, "early3 holder3 ");
    assert_string_equal(said, "");
    assert_int_equal(spout.acks, 3);
    assert_int_equal(last.seen, 3);
    rig_fini(&r);
}

static void a_run_until_drained_asks_as_soon_as_its_spouts_are_done(void **state) {
    (void)state;
    rig r;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.until_drained = true;
    build_holders(&r, answer_when_asked, answer_when_asked);
    make_with(&r, options);
    rig_advance(&r, 200 * GALE_MILLISECOND, 10 * GALE_MILLISECOND);
    assert_string_equal(asked, "early3 holder3 ");
    assert_int_equal(spout.acks, 3);
    rig_fini(&r);
}

static void who_answers_some_is_asked_again_for_the_rest(void **state) {
    (void)state;
    rig r;
    build_holders(&r, answer_when_asked, answer_one_when_asked);
    make(&r);
    rig_settle(&r);
    assert_true(drains_within(&r, 200 * GALE_MILLISECOND));
    assert_string_equal(asked, "early3 holder3 holder2 holder1 ");
    rig_fini(&r);
}

static void who_does_not_get_on_is_asked_once(void **state) {
    (void)state;
    rig r;
    build_holders(&r, do_nothing_when_asked, answer_when_asked);
    make(&r);
    rig_settle(&r);
    assert_false(drains_within(&r, 3 * GALE_SECOND));
    assert_string_equal(asked, "early3 ");
    rig_fini(&r);
}

static int refuse_three(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    return bolt->seen++ < 3 ? GALE_COMPONENT : rig_take(bolt, tuple, out);
}

static void what_fails_and_comes_again_is_asked_for_again(void **state) {
    (void)state;
    rig r;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.until_drained = true;
    build_holders(&r, answer_when_asked, answer_when_asked);
    spout.again = true;
    last.on = refuse_three;
    make_with(&r, options);
    rig_advance(&r, GALE_SECOND, 10 * GALE_MILLISECOND);
    assert_string_equal(asked, "early3 holder3 early3 holder3 ");
    rig_fini(&r);
}

static void nobody_is_asked_while_the_run_goes_on(void **state) {
    (void)state;
    rig r;
    build_holders(&r, answer_when_asked, answer_when_asked);
    make(&r);
    rig_advance(&r, GALE_SECOND, 10 * GALE_MILLISECOND);
    assert_int_equal(early.held_count, 3);
    assert_string_equal(asked, "");
    rig_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bolt_that_answers_at_ticks_does_so_when_a_bolt_before_it_emits_in_finish),
        cmocka_unit_test(a_bolt_that_answers_in_finish_does_so_when_a_bolt_before_it_emits_in_finish),
        cmocka_unit_test(what_is_held_of_a_tree_that_timed_out_waits_for_finish_alone),
        cmocka_unit_test(a_bolt_that_has_finished_gets_no_more_ticks),
        cmocka_unit_test(a_drain_that_does_not_get_on_names_who_holds_it_up_within_a_second),
        cmocka_unit_test(a_drain_that_gets_on_says_nothing),
        cmocka_unit_test(a_drain_names_who_forgot_what_it_waits_for),
        cmocka_unit_test(a_drain_names_who_may_not_run_and_who_is_congested),
        cmocka_unit_test(a_run_until_drained_says_nothing_while_a_spout_has_more_to_emit),
        cmocka_unit_test(who_holds_is_asked_in_the_order_of_components_and_the_drain_ends_at_once),
        cmocka_unit_test(a_run_until_drained_asks_as_soon_as_its_spouts_are_done),
        cmocka_unit_test(who_answers_some_is_asked_again_for_the_rest),
        cmocka_unit_test(who_does_not_get_on_is_asked_once),
        cmocka_unit_test(what_fails_and_comes_again_is_asked_for_again),
        cmocka_unit_test(nobody_is_asked_while_the_run_goes_on),
    };
    return rig_run_on_both_ledgers(tests);
}
