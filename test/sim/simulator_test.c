#include "sim/simulator.h"

#include "sim/component_models.h"
#include "sim/source.h"

#include "harness/cm.h"

#include <gale/metric.h>
#include <stdio.h>
#include <string.h>

/* --- A topology of the models: a source, a bolt of `model` behind `grouping`, and one behind that --- */

static const gale_output outputs[] = { { NULL, "key, energy, hops, load" } };

static gale_topology *make_topology(gx_sim_model model, uint32_t tasks, gale_grouping grouping, int64_t ackers) {
    gale_topology *t = gale_topology_new("small");
    assert_non_null(t);
    gale_spout source = gx_sim_source(8, 0);
    gale_bolt first = gx_sim_worker(model, 3, 0, NULL), second = gx_sim_worker(GX_SIM_PASS, 1, 0, NULL);
    gale_setting tick = { "topology.tick.tuple.freq.secs", gale_f64(0.5) };
    source.outputs = first.outputs = second.outputs = outputs;
    source.output_count = first.output_count = second.output_count = 1;
    first.settings = &tick;
    first.setting_count = 1;
    gale_topology_add_spout(t, "source", source, 2);
    gale_topology_add_bolt(t, "first", first, tasks);
    gale_topology_add_bolt(t, "second", second, 2);
    gale_topology_subscribe(t, "first", "source", NULL, grouping);
    gale_topology_subscribe(t, "second", "first", NULL, gale_fields("key"));
    gale_topology_set(t, NULL, "topology.message.timeout.secs", gale_i64(1));
    if (ackers) gale_topology_set(t, NULL, "topology.acker.executors", gale_i64(ackers));
    gale_error error = GALE_ERROR_INIT;
    if (gale_topology_check(t, &error) < 0) fail_msg("%s", error.text);
    return t;
}

static gx_simulator *make_simulator(gx_simulator_options options) {
    gx_simulator *simulator = NULL;
    gale_error error = GALE_ERROR_INIT;
    if (gx_simulator_new(&options, &simulator, &error) < 0) fail_msg("%s", error.text);
    return simulator;
}

static gx_simulator_result run(gx_simulator *simulator, uint64_t seed) {
    gx_simulator_result result;
    gale_error error = GALE_ERROR_INIT;
    if (gx_simulator_run(simulator, seed, &result, &error) < 0) fail_msg("seed %d: %s", (int)seed, error.text);
    return result;
}

static gx_simulator_result run_well(gx_simulator *simulator, uint64_t seed) {
    gx_simulator_result result = run(simulator, seed);
    if (!result.holds) fail_msg("seed %d: %s", (int)seed, result.text);
    return result;
}

static gx_faults faults_of(const char *text) {
    gx_faults faults = { { 0 } };
    gale_error error = GALE_ERROR_INIT;
    if (gx_faults_parse(text, &faults, &error) < 0) fail_msg("%s", error.text);
    return faults;
}

/* --- Runs --- */

static void without_faults_every_root_is_acked(void **state) {
    (void)state;
    gale_topology *t = make_topology(GX_SIM_WORK, 3, gale_shuffle(), 0);
    gx_simulator *s = make_simulator((gx_simulator_options){ .topology = t, .keep_spouts = true, .roots = 50 });
    uint64_t whole = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        gx_simulator_result r = run_well(s, seed);
        if (r.overflowed || r.cut) continue; /* a small limit was drawn, or an early end */
        assert_true(r.roots >= 50);
        assert_int_equal(r.acked, r.roots);
        assert_true(r.deliveries >= r.roots);
        whole++;
    }
    assert_true(whole >= 10);
    gx_simulator_free(s);
    gale_topology_free(t);
}

static void the_same_seed_gives_the_same_run_and_another_gives_another(void **state) {
    (void)state;
    gx_simulator *s = make_simulator((gx_simulator_options){ .draw_faults = true });
    gx_simulator *other = make_simulator((gx_simulator_options){ .draw_faults = true });
    for (uint64_t seed = 1; seed <= 20; seed++) {
        gx_simulator_result a = run_well(s, seed), b = run_well(other, seed), c = run_well(other, seed + 1000);
        assert_memory_equal(&a, &b, sizeof a);
        assert_true(a.trace != c.trace || !a.trace); /* 0: nothing could be opened */
    }
    gx_simulator_free(s);
    gx_simulator_free(other);
}

static void each_fault_strikes_when_it_is_asked_for_and_never_else(void **state) {
    (void)state;
    gale_topology *t = make_topology(GX_SIM_WORK, 3, gale_shuffle(), 0);
    gale_topology_set(t, NULL, "topology.dead_letters.file", gale_text(GX_SIM_DISK "/letters"));
    for (int fault = 0; fault < GX_FAULT_COUNT; fault++) {
        gx_simulator_options options = { .topology = t, .keep_spouts = true, .keep_sinks = true };
        bool few = fault == GX_FAULT_ALLOC || fault == GX_FAULT_OPEN || fault == GX_FAULT_DISK; /* chances */
        options.faults.odds[fault] = UINT32_MAX / (few ? 4 : 50);
        gx_simulator *s = make_simulator(options);
        uint64_t scarce = 0;
        for (uint64_t seed = 1; seed <= 10; seed++) scarce += run_well(s, seed).failed_allocations;
        uint64_t counts[GX_FAULT_COUNT] = { 0 };
        const gx_coverage *coverage = gx_simulator_coverage(s);
        for (size_t i = 0; i < gx_bytes_map_size(coverage->places); i++) {
            const uint64_t *place = gx_bytes_map_at(coverage->places, i, NULL);
            for (int k = 0; k < GX_FAULT_COUNT; k++) counts[k] += place[k];
        }
        counts[GX_FAULT_ALLOC] = scarce;
        for (int k = 0; k < GX_FAULT_COUNT; k++) assert_int_equal(counts[k] > 0, k == fault);
        gx_simulator_free(s);
    }
    gale_topology_free(t);
}

static void what_a_component_forgets_times_out_and_is_no_violation(void **state) {
    (void)state;
    gale_topology *t = make_topology(GX_SIM_WORK, 1, gale_global(), 0);
    gx_simulator *s = make_simulator((gx_simulator_options){
        .topology = t, .keep_spouts = true, .executors = 2, .faults = faults_of("forget=1"), .roots = 30 });
    uint64_t timed_out = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        gx_simulator_result r = run_well(s, seed);
        assert_int_equal(r.acked, 0);
        assert_int_equal(r.timed_out + r.failed + r.stopped, r.roots);
        timed_out += r.timed_out;
    }
    assert_true(timed_out > 0);
    gx_simulator_free(s);
    gale_topology_free(t);
}

/* Seven executors, of which one has a tick or stalls at any moment, so that they never all rest; and a bolt that answers
 * what it holds of trees that have failed 170 ms later, more steps than are looked at in vain. */
static void what_a_fault_holds_is_waited_for_though_there_are_always_ticks(void **state) {
    (void)state;
    gx_simulator *s = make_simulator((gx_simulator_options){ .draw_faults = true });
    gx_simulator_result r = run_well(s, 7038433);
    assert_false(r.cut);
    assert_true(r.steps > 200000);
    gx_simulator_free(s);
}

/* --- What is replaced --- */

typedef struct seen {
    uint64_t tuples, wrong;
} seen;

static int count_tuple(void *self, const gale_tuple *tuple, gale_collector *out) {
    seen *s = self;
    (void)out;
    gale_value unused;
    s->tuples++;
    s->wrong += gale_tuple_size(tuple) != 4 || gale_tuple_get(tuple, "load", &unused) == false;
    return 0;
}

static int choose_first(void *self, const gale_targets *targets, const gale_value *values, size_t count,
                        uint32_t *ret_indices) {
    (void)targets, (void)values;
    ((seen *)self)->wrong += count != 4;
    ret_indices[0] = 0;
    return 1;
}

static void components_and_groupings_never_see_the_number_of_an_emission(void **state) {
    (void)state;
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "count", .kind = GALE_BOLT_SIMPLE, .execute = count_tuple
    };
    static const gale_custom_ops custom = { sizeof custom, "first", NULL, choose_first, NULL };
    seen s = { 0, 0 };
    gale_topology *t = gale_topology_new("seen");
    gale_spout source = gx_sim_source(1, 0);
    source.outputs = outputs;
    source.output_count = 1;
    gale_topology_add_spout(t, "source", source, 1);
    gale_topology_add_bolt(t, "count", (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .user = &s }, 2);
    gale_topology_subscribe(t, "count", "source", NULL, gale_custom(&custom, &s, NULL));
    gx_simulator *kept = make_simulator(
        (gx_simulator_options){ .topology = t, .keep_spouts = true, .keep_sinks = true });
    gx_simulator_result r = run_well(kept, 1);
    assert_int_equal(s.tuples, r.deliveries);
    assert_int_equal(s.wrong, 0);
    assert_int_equal(r.captured, 0);
    gx_simulator_free(kept);

    gx_simulator *replaced = make_simulator((gx_simulator_options){ .topology = t });
    uint64_t before = s.tuples;
    r = run_well(replaced, 1);
    assert_int_equal(s.tuples, before); /* the sink did not run */
    assert_int_equal(r.captured, r.deliveries);
    assert_true(r.captured >= 100);
    gx_simulator_free(replaced);
    gale_topology_free(t);
}

static int note_tuple(void *self, const gale_tuple *tuple, gale_collector *out) {
    const gale_metric_options options = { .size = sizeof options, .name = "tuples", .kind = GALE_METRIC_COUNTER };
    gale_metric *metric = NULL;
    seen *s = self;
    (void)tuple;
    s->tuples++;
    s->wrong += gale_metric_new(out, &options, &metric) != 0 || gale_metric_note(metric, 1) != 0;
    return 0;
}

static void components_have_their_metrics_as_in_a_run(void **state) {
    (void)state;
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "note", .kind = GALE_BOLT_SIMPLE, .execute = note_tuple
    };
    seen s = { 0, 0 };
    gale_topology *t = gale_topology_new("noted");
    gale_spout source = gx_sim_source(1, 0);
    source.outputs = outputs;
    source.output_count = 1;
    gale_topology_add_spout(t, "source", source, 1);
    gale_topology_add_bolt(t, "note", (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .user = &s }, 2);
    gale_topology_subscribe(t, "note", "source", NULL, gale_shuffle());
    gx_simulator *simulator = make_simulator((gx_simulator_options){ .topology = t, .keep_sinks = true });
    run_well(simulator, 1);
    assert_true(s.tuples >= 100);
    assert_int_equal(s.wrong, 0);
    gx_simulator_free(simulator);
    gale_topology_free(t);
}

/* --- Replay --- */

static int read_letter(void *self, const gale_tuple *tuple, gale_collector *out) {
    seen *s = self;
    (void)out;
    gale_value list = gale_tuple_value(tuple, 3), reason;
    s->tuples++;
    s->wrong += gale_tuple_size(tuple) != 9 || !gale_tuple_get(tuple, "reason", &reason);
    s->wrong += list.type != GALE_TYPE_LIST || list.size != 4 || gale_list_at(&list, 0).type != GALE_TYPE_I64;
    return 0;
}

static int choose_by_size(void *self, const gale_targets *targets, const gale_value *values, size_t count,
                          uint32_t *ret_indices) {
    (void)targets, (void)values;
    ((seen *)self)->wrong += count != 9;
    ret_indices[0] = 0;
    return 1;
}

static void failed_tuples_are_emitted_again_and_who_takes_dead_letters_sees_them_whole(void **state) {
    (void)state;
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "letters", .kind = GALE_BOLT_SIMPLE, .execute = read_letter
    };
    static const gale_custom_ops custom = { sizeof custom, "first", NULL, choose_by_size, NULL };
    seen s = { 0, 0 };
    gale_topology *t = make_topology(GX_SIM_WORK, 3, gale_shuffle(), 0);
    gale_topology_add_bolt(t, "letters", (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .user = &s }, 2);
    gale_topology_subscribe(t, "letters", "source", "__dead_letter", gale_custom(&custom, &s, NULL));
    gale_topology_set(t, NULL, "topology.replay.attempts", gale_i64(2));
    gale_topology_set(t, NULL, "topology.dead_letters.file", gale_text("/nowhere/letters")); /* left out */
    gx_simulator *simulator = make_simulator((gx_simulator_options){
        .topology = t, .keep_spouts = true, .keep_sinks = true, .faults = faults_of("fail=0.1") });
    uint64_t repeats = 0, letters = 0, failed = 0, rejected = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        gx_simulator_result r = run_well(simulator, seed);
        repeats += r.repeats;
        letters += r.letters;
        failed += r.failed;
        rejected += r.rejected;
        assert_int_equal(r.acked + r.failed + r.timed_out + r.rejected + r.stopped, r.roots);
    }
    assert_true(repeats > failed); /* what failed for good was tried twice, and some was acked at last */
    assert_true(failed > 0 && rejected > 0 && letters > 0);
    assert_true(s.tuples > 0);
    assert_int_equal(s.wrong, 0);
    gx_simulator_free(simulator);
    gale_topology_free(t);
}

/* --- Faults by name --- */

static void odds_are_read_by_name_and_what_is_wrong_changes_nothing(void **state) {
    (void)state;
    gx_faults faults = faults_of("slow=0.5, hold=1,alloc=0.00000000000000000000000000000000000001");
    assert_int_equal(faults.odds[GX_FAULT_SLOW], UINT32_C(1) << 31);
    assert_int_equal(faults.odds[GX_FAULT_HOLD], UINT32_MAX);
    assert_int_equal(faults.odds[GX_FAULT_FAIL], 0);
    static const struct {
        const char *text, *says;
    } wrong[] = {
        { "slow=0.1,forgt=0.1", "unknown fault 'forgt'; did you mean 'forget'?" },
        { "slow=0.1,hold=2", "fault 'hold' has odds from 0 to 1, not '2'" },
        { "hold=", "fault 'hold' has odds from 0 to 1, not ''" },
        { "hold=nan", "fault 'hold' has odds from 0 to 1, not 'nan'" },
        { "slow", "faults are written slow=0.01,fail=0.1; 'slow' has no '='" },
        { "", "faults are written slow=0.01,fail=0.1; '' has no '='" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gx_faults before = faults;
        gale_error error = GALE_ERROR_INIT;
        assert_true(gx_faults_parse(wrong[i].text, &faults, &error) < 0);
        assert_string_equal(error.text, wrong[i].says);
        assert_memory_equal(&before, &faults, sizeof faults);
    }
}

static void coverage_is_printed_in_order_of_places(void **state) {
    (void)state;
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_coverage coverage;
    assert_int_equal(gx_coverage_init(&coverage, &heap), GALE_OK);
    gx_buf out = GX_BUF_INIT(NULL);
    gx_coverage_print(&coverage, &out);
    assert_string_equal(gx_buf_text(&out), "");
    gx_coverage_count(&coverage, "split", GX_FAULT_HOLD);
    gx_coverage_count(&coverage, "count", GX_FAULT_SLOW);
    gx_coverage_count(&coverage, "split", GX_FAULT_HOLD);
    gx_coverage_print(&coverage, &out);
    assert_string_equal(gx_buf_text(&out),
                        "faults at                 slow      hold      fail    forget     twice     "
                        "reset     stall      late     alloc      open      disk      stop     later\n"
                        "count                        1         0         0         0         0     "
                        "    0         0         0         0         0         0         0         0\n"
                        "split                        0         2         0         0         0     "
                        "    0         0         0         0         0         0         0         0\n");
    gx_buf_fini(&out);
    gx_coverage_fini(&coverage);
}

/* --- Topologies that it cannot take --- */

static void a_topology_with_an_error_is_refused_with_that_error(void **state) {
    (void)state;
    gale_topology *t = gale_topology_new("empty");
    gx_simulator *s = NULL;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_simulator_new(&(gx_simulator_options){ .topology = t }, &s, &error), GALE_TOPOLOGY);
    assert_string_equal(error.text, "topology 'empty' has no spout");
    assert_null(s);
    gale_topology_free(t);
}

static void too_many_tasks_are_refused(void **state) {
    (void)state;
    gale_topology *t = make_topology(GX_SIM_PASS, 1200, gale_shuffle(), 0);
    gx_simulator *s = make_simulator((gx_simulator_options){ .topology = t });
    gx_simulator_result r;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_simulator_run(s, 1, &r, &error), GALE_TOO_LARGE);
    assert_string_equal(error.text, "the simulator cannot take this topology: too large");
    gx_simulator_free(s);
    gale_topology_free(t);
}

/* --- Every allocation through the door fails once --- */

/* Returns how many of the allocations were the run's own, not the start's. */
static uint64_t fail_each(gale_topology *topology, uint32_t executors, uint64_t seed) {
    uint64_t refused = 0, n = 1;
    for (;; n++) {
        gx_simulator *s = make_simulator((gx_simulator_options){ .topology = topology,
                                                                 .keep_spouts = true,
                                                                 .keep_sinks = true,
                                                                 .executors = executors,
                                                                 .roots = 60,
                                                                 .fail_at = n });
        gx_simulator_result r = run_well(s, seed);
        gx_simulator_free(s);
        refused += r.refused;
        if (!r.failed_allocations) break;
        assert_int_equal(r.failed_allocations, 1);
        if (!r.refused) assert_int_equal(r.acked + r.failed + r.timed_out + r.rejected + r.stopped, r.roots);
    }
    assert_true(refused > 20); /* those of the start */
    return n - refused;
}

static void whichever_allocation_fails_all_is_answered_and_nothing_leaks(void **state) {
    (void)state;
    const struct {
        gx_sim_model model;
        uint32_t tasks, executors;
        gale_grouping grouping;
        int64_t ackers;
    } shapes[] = {
        { GX_SIM_PASS, 1, 1, gale_global(), 0 },
        { GX_SIM_WORK_BLINDLY, 3, 2, gale_all(), 0 },
        { GX_SIM_JOIN, 3, 3, gale_partial_key("key"), 2 },
        { GX_SIM_LOOSE, 2, 3, gale_local_or_shuffle(), 1 },
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        gale_topology *t = make_topology(shapes[i].model, shapes[i].tasks, shapes[i].grouping, shapes[i].ackers);
        uint64_t of_runs = 0;
        for (uint64_t seed = 1; seed <= 3; seed++) of_runs += fail_each(t, shapes[i].executors, seed);
        assert_true(of_runs > 10);
        gale_topology_free(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_faults_every_root_is_acked),
        cmocka_unit_test(the_same_seed_gives_the_same_run_and_another_gives_another),
        cmocka_unit_test(each_fault_strikes_when_it_is_asked_for_and_never_else),
        cmocka_unit_test(what_a_component_forgets_times_out_and_is_no_violation),
        cmocka_unit_test(what_a_fault_holds_is_waited_for_though_there_are_always_ticks),
        cmocka_unit_test(components_and_groupings_never_see_the_number_of_an_emission),
        cmocka_unit_test(components_have_their_metrics_as_in_a_run),
        cmocka_unit_test(failed_tuples_are_emitted_again_and_who_takes_dead_letters_sees_them_whole),
        cmocka_unit_test(odds_are_read_by_name_and_what_is_wrong_changes_nothing),
        cmocka_unit_test(coverage_is_printed_in_order_of_places),
        cmocka_unit_test(a_topology_with_an_error_is_refused_with_that_error),
        cmocka_unit_test(too_many_tasks_are_refused),
        cmocka_unit_test(whichever_allocation_fails_all_is_answered_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
