/* What is set of a component while it runs holds from its next call on, for all of its tasks, on whatever executor. */
#include "runtime/rig.h"

#include <string.h>

static rig_spout spout;
static rig_bolt holds;
static rig r;
static gale_error error;

static int hold(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
}

static int answer_all(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)tuple;
    while (bolt->held_count) (void)gale_ack(out, bolt->held[--bolt->held_count]);
    return gale_ack(out, gale_tuple_handle(tuple));
}

/* A spout that keeps its bolt holding. */
static void begin(uint32_t executors, int64_t pending) {
    memset(&spout, 0, sizeof spout);
    memset(&holds, 0, sizeof holds);
    spout.to_emit = UINT64_MAX;
    holds.on = hold;
    error = (gale_error)GALE_ERROR_INIT;
    rig_init(&r);
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "holds", rig_manual(&holds), 1);
    gale_topology_subscribe(r.topology, "holds", "spout", NULL, gale_shuffle());
    gale_topology_set(r.topology, "holds", "gale.executor", gale_i64(executors - 1));
    gale_topology_set(r.topology, NULL, "topology.enable.message.timeouts", gale_bool(false));
    gale_topology_set(r.topology, "spout", "topology.max.spout.pending", gale_i64(pending));
    gale_topology_set(r.topology, "spout", "gale.rate", gale_i64(7));
    rig_make(&r, executors);
    rig_settle(&r);
}

static int set(const char *component, const char *key, gale_value value) {
    error = (gale_error)GALE_ERROR_INIT;
    return gale_runtime_set(r.runtime, component, key, &value, &error);
}

static void refused(int code, const char *component, const char *key, gale_value value, const char *words) {
    assert_int_equal(set(component, key, value), code);
    if (!strstr(error.text, words)) print_error("'%s' lacks '%s'\n", error.text, words);
    assert_non_null(strstr(error.text, words));
}

static uint64_t limit(void) {
    return rig_task(&r, "spout", 0).pending_limit;
}

static void more_or_fewer_trees_may_be_open(void **state) {
    for (uint32_t executors = 1; executors <= 2; executors++) {
        (void)state;
        begin(executors, 10);
        assert_int_equal(rig_stats(&r)->open, 10);
        assert_int_equal(set("spout", "topology.max.spout.pending", gale_i64(25)), 0);
        assert_int_equal(limit(), 25);
        rig_settle(&r);
        assert_int_equal(rig_stats(&r)->open, 25);
        assert_int_equal(set("spout", "topology.max.spout.pending", gale_i64(5)), 0);
        rig_settle(&r);
        assert_int_equal(rig_stats(&r)->open, 25); /* they stay open */
        holds.on = answer_all;
        assert_int_equal(set("spout", "topology.max.spout.pending", gale_i64(26)), 0);
        while (spout.acks < 26) gale_runtime_step(r.runtime);
        holds.on = hold;
        assert_int_equal(set("spout", "topology.max.spout.pending", gale_i64(5)), 0);
        gale_runtime_drain(r.runtime);
        rig_settle(&r);
        assert_true(spout.pending_max <= 26);
        rig_fini(&r);
    }
}

static void no_bound_is_a_bound_too(void **state) {
    (void)state;
    begin(1, 3);
    assert_int_equal(set("spout", "topology.max.spout.pending", gale_i64(0)), 0);
    assert_int_equal(limit(), 0);
    for (int i = 0; i < 10; i++) gale_runtime_step(r.runtime);
    assert_true(rig_stats(&r)->open > 100);
    rig_fini(&r);
}

static void a_rate_is_in_the_context_and_told(void **state) {
    (void)state;
    begin(2, 3);
    assert_true(spout.context->rate == 7);
    assert_true(rig_task(&r, "spout", 0).rate == 7);
    assert_true(rig_task(&r, "holds", 0).rate == 0);
    assert_int_equal(set("spout", "gale.rate", gale_f64(0.5)), 0);
    assert_true(rig_task(&r, "spout", 0).rate == 0.5);
    rig_settle(&r);
    assert_true(spout.context->rate == 0.5);
    assert_int_equal(set("spout", "gale.rate", gale_i64(0)), 0);
    rig_settle(&r);
    assert_true(spout.context->rate == 0);
    rig_fini(&r);
}

static void what_makes_no_sense_is_refused_and_changes_nothing(void **state) {
    (void)state;
    begin(1, 3);
    refused(GALE_NOT_FOUND, "spuot", "gale.rate", gale_i64(1), "there is no component 'spuot'; did you mean 'spout'?");
    refused(GALE_STATE, "holds", "gale.rate", gale_i64(1), "'holds' is a bolt: gale.rate is of spouts");
    refused(GALE_STATE, "holds", "topology.max.spout.pending", gale_i64(1), "is of spouts");
    refused(GALE_INVALID, "spout", "gale.rate", gale_i64(-1), "gale.rate must be a number from 0");
    refused(GALE_INVALID, "spout", "gale.rate", gale_text("1"), "gale.rate must be a number from 0");
    refused(GALE_INVALID, "spout", "topology.max.spout.pending", gale_i64(-1), "must be a whole number");
    refused(GALE_INVALID, "spout", "topology.max.spout.pending", gale_f64(1), "must be a whole number");
    refused(GALE_STATE, "holds", "drop", gale_text("oldest"), "no input of 'holds' drops");
    refused(GALE_UNSUPPORTED, "holds", "dorp", gale_text("oldest"), "did you mean 'drop'?");
    refused(GALE_UNSUPPORTED, "spout", "topology.workers", gale_i64(1), "cannot be set while a topology runs");
    assert_int_equal(gale_runtime_set(NULL, "spout", "drop", NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_runtime_set(r.runtime, "spout", "gale.rate", NULL, NULL), GALE_INVALID);
    assert_int_equal(limit(), 3);
    assert_true(spout.context->rate == 7);
    rig_fini(&r);
}

/* --- What is dropped --- */

enum { FILL = 20000 };

static int64_t first_seen, last_seen;

static int note(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    int64_t number = gale_tuple_value(tuple, 0).as.i64;
    assert_true(number > last_seen);
    if (first_seen < 0) first_seen = number;
    last_seen = number;
    return rig_take(bolt, tuple, out);
}

/* Emits more than a queue takes while the bolt that it is for does nothing. */
static void fill(gale_grouping grouping, const char *instead) {
    static rig_bolt stuck;
    memset(&spout, 0, sizeof spout);
    memset(&holds, 0, sizeof holds);
    memset(&stuck, 0, sizeof stuck);
    spout.to_emit = FILL;
    holds.on = note;
    stuck.on = rig_pass;
    first_seen = last_seen = -1;
    rig_init(&r);
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "drops", rig_simple(&holds), 1);
    gale_topology_subscribe(r.topology, "drops", "spout", NULL, grouping);
    gale_topology_set(r.topology, NULL, "topology.enable.message.timeouts", gale_bool(false));
    rig_make(&r, 1);
    if (instead) assert_int_equal(set("drops", "drop", gale_text(instead)), 0);
    rig_settle(&r);
    int32_t policy;
    uint64_t dropped;
    assert_true(gale_runtime_input_stats(r.runtime, rig_task_number(&r, "drops", 0), 0, NULL, NULL, &policy, &dropped));
    assert_string_equal(gale_drop_name(policy), instead ? instead : gale_drop_name(grouping.drop));
    assert_int_equal(dropped + holds.seen, FILL);
    assert_int_equal(spout.acks, FILL);
    rig_fini(&r);
}

static void inputs_that_drop_drop_others(void **state) {
    (void)state;
    fill(gale_drop_newest(gale_shuffle()), "oldest");
    assert_int_equal(last_seen, FILL - 1); /* the last one is never dropped */
    fill(gale_drop_oldest(gale_shuffle()), "newest");
    assert_int_equal(first_seen, 0);
    fill(gale_drop_oldest(gale_shuffle()), "oldest");
    assert_int_equal(last_seen, FILL - 1);
}

static void nothing_is_no_policy_of_an_input_that_drops(void **state) {
    (void)state;
    memset(&spout, 0, sizeof spout);
    rig_init(&r);
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    holds.on = rig_take;
    gale_topology_add_bolt(r.topology, "drops", rig_simple(&holds), 1);
    gale_topology_subscribe(r.topology, "drops", "spout", NULL, gale_drop_newest(gale_shuffle()));
    rig_make(&r, 1);
    refused(GALE_INVALID, "drops", "drop", gale_text("nothing"), "drop must be oldest or newest");
    refused(GALE_INVALID, "drops", "drop", gale_i64(1), "drop must be oldest or newest");
    refused(GALE_STATE, "spout", "drop", gale_text("oldest"), "no input of 'spout' drops");
    rig_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_or_fewer_trees_may_be_open),
        cmocka_unit_test(no_bound_is_a_bound_too),
        cmocka_unit_test(a_rate_is_in_the_context_and_told),
        cmocka_unit_test(what_makes_no_sense_is_refused_and_changes_nothing),
        cmocka_unit_test(inputs_that_drop_drop_others),
        cmocka_unit_test(nothing_is_no_policy_of_an_input_that_drops),
    };
    return rig_run_on_both_ledgers(tests);
}
