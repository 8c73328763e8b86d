/* The simulator, as an application has it: libgale and libgale-sim, and no inner header. */
#include <gale/gale.h>
#include <gale_sim.h>
#include <string.h>

#include "harness/cm.h"

static gale_topology *counting(void) {
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = gale_topology_new("counting");
    gale_spout words;
    gale_bolt count;
    assert_int_equal(gale_word_spout(NULL, &words, &error), 0);
    assert_int_equal(gale_count_bolt(GALE_COUNT_EMIT_FINISH, &count, &error), 0);
    assert_int_equal(gale_topology_add_spout(topology, "words", words, 2), 0);
    assert_int_equal(gale_topology_add_bolt(topology, "count", count, 3), 0);
    assert_int_equal(gale_topology_subscribe(topology, "count", "words", NULL, gale_fields("word")), 0);
    return topology;
}

static void runs_under_faults_hold_and_repeat(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = counting();
    gale_simulate_options options = GALE_SIMULATE_OPTIONS_INIT;
    gale_simulate_result all = GALE_SIMULATE_RESULT_INIT, last = all;
    options.topology = topology;
    options.faults = "fail=0.05,slow=0.05";
    options.runs = 20;
    assert_int_equal(gale_simulate(&options, &all, &error), 0);
    assert_true(all.holds);
    assert_string_equal(all.text, "");
    assert_int_equal(all.runs, 20);
    assert_int_equal(all.seed, 20);
    assert_true(all.failed > 0);
    assert_int_equal(all.roots, all.acked + all.failed + all.timed_out + all.rejected + all.stopped);
    options.seed = all.seed;
    options.runs = 1;
    assert_int_equal(gale_simulate(&options, &last, &error), 0);
    assert_int_equal(last.trace, all.trace);
    gale_topology_free(topology);
}

static void an_older_result_is_filled_as_far_as_it_goes(void **state) {
    (void)state;
    gale_topology *topology = counting();
    gale_simulate_options options = GALE_SIMULATE_OPTIONS_INIT;
    gale_simulate_result result = GALE_SIMULATE_RESULT_INIT;
    options.topology = topology;
    options.runs = 1;
    result.size = offsetof(gale_simulate_result, deliveries);
    assert_int_equal(gale_simulate(&options, &result, NULL), 0);
    assert_int_equal(result.size, offsetof(gale_simulate_result, deliveries));
    assert_int_equal(result.runs, 1);
    assert_int_equal(result.deliveries, 0);
    gale_topology_free(topology);
}

static void what_is_no_argument_is_refused(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = counting();
    gale_simulate_options options = GALE_SIMULATE_OPTIONS_INIT, no_size = { 0 };
    gale_simulate_result result = GALE_SIMULATE_RESULT_INIT, none = { 0 };
    assert_int_equal(gale_simulate(NULL, &result, NULL), GALE_INVALID);
    assert_int_equal(gale_simulate(&no_size, &result, NULL), GALE_INVALID);
    assert_int_equal(gale_simulate(&options, &result, NULL), GALE_INVALID);
    options.topology = topology;
    assert_int_equal(gale_simulate(&options, NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_simulate(&options, &none, NULL), GALE_INVALID);
    options.executors = 1000000;
    assert_int_equal(gale_simulate(&options, &result, NULL), GALE_INVALID);
    options.executors = 0;
    options.faults = "fial=0.1";
    assert_int_equal(gale_simulate(&options, &result, &error), GALE_NOT_FOUND);
    assert_non_null(strstr(error.text, "fail"));
    gale_topology_free(topology);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_under_faults_hold_and_repeat),
        cmocka_unit_test(an_older_result_is_filled_as_far_as_it_goes),
        cmocka_unit_test(what_is_no_argument_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
