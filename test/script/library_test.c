/* Expressions in a whole run, as an application has them: the shared libgale, and libgale-script. */
#include <gale/gale.h>
#include <gale_script.h>
#include <string.h>

#include "harness/cm.h"

enum { TUPLES = 1000 };

static int64_t seen, sum;

static int numbers_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context, (void)out;
    static int64_t next;
    next = 0;
    *ret_self = &next;
    return 0;
}

static int numbers_next(void *self, gale_collector *out, gale_wait *wait) {
    int64_t *next = self;
    (void)wait;
    if (*next == TUPLES) return GALE_NEXT_DONE;
    gale_value values[2] = { gale_i64(*next), gale_text(*next % 2 ? "odd" : "even") };
    int rc = gale_emit_tracked(out, 0, values, 2, (uint64_t)*next);
    if (rc < 0) return GALE_NEXT_NOTHING;
    ++*next;
    return GALE_NEXT_EMITTED;
}

static void numbers_close(void *self) {
    (void)self;
}

static int adder_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self, (void)out;
    seen++;
    sum += gale_tuple_value(tuple, 0).as.i64;
    return 0;
}

static int add_spout(gale_topology *topology) {
    static const gale_output outputs[] = { { NULL, "n, kind" } };
    static const gale_spout_ops ops = {
        .size = sizeof ops, .name = "numbers", .open = numbers_open, .next = numbers_next, .close = numbers_close
    };
    gale_spout spout = { .size = sizeof spout, .ops = &ops, .outputs = outputs, .output_count = 1 };
    return gale_topology_add_spout(topology, "numbers", spout, 1);
}

static int add_adder(gale_topology *topology) {
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "adder", .kind = GALE_BOLT_SIMPLE, .execute = adder_execute
    };
    gale_bolt bolt = { .size = sizeof bolt, .ops = &ops };
    return gale_topology_add_bolt(topology, "adder", bolt, 1);
}

static void subscribe_all(gale_topology *topology) {
    assert_int_equal(add_adder(topology), 0);
    assert_int_equal(gale_topology_subscribe(topology, "odd", "numbers", NULL, gale_shuffle()), 0);
    assert_int_equal(gale_topology_subscribe(topology, "square", "odd", NULL, gale_shuffle()), 0);
    assert_int_equal(gale_topology_subscribe(topology, "adder", "square", NULL, gale_shuffle()), 0);
}

/* numbers --> odd, a filter --> square, a map --> adder. */
static gale_topology *make(const char *where, const char *square) {
    gale_error error = GALE_ERROR_INIT;
    gale_bolt odd, map;
    gale_filter_options filter = { .size = sizeof filter, .fields = "n, kind", .where = where };
    gale_assignment set = { "square", square };
    gale_map_options options = {
        .size = sizeof options, .fields = "n, kind", .drop = "n, kind", .set = &set, .set_count = 1
    };
    assert_int_equal(gale_filter_bolt(&filter, &odd, &error), 0);
    assert_int_equal(gale_map_bolt(&options, &map, &error), 0);
    gale_topology *topology = gale_topology_new("numbers");
    assert_int_equal(add_spout(topology), 0);
    assert_int_equal(gale_topology_add_bolt(topology, "odd", odd, 2), 0);
    assert_int_equal(gale_topology_add_bolt(topology, "square", map, 2), 0);
    subscribe_all(topology);
    seen = sum = 0;
    return topology;
}

/* Until it has drained. */
static gale_runtime *run(gale_topology *topology) {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime = NULL;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.until_drained = true;
    assert_int_equal(gale_runtime_new(topology, &options, &runtime, &error), 0);
    assert_int_equal(gale_runtime_run(runtime, &error), 0);
    return runtime;
}

static void end(gale_topology *topology, gale_runtime *runtime) {
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    gale_topology_free(topology);
}

static void expressions_run_in_a_topology(void **state) {
    (void)state;
    gale_topology *topology = make("kind == 'odd' and n < 10", "math.floor(n ^ 2)");
    end(topology, run(topology));
    assert_int_equal(seen, 5);
    assert_int_equal(sum, 1 + 9 + 25 + 49 + 81);
}

static gale_metric_stats metric_of(gale_runtime *runtime, const char *component, const char *name) {
    gale_metric_stats stats = { .size = sizeof stats };
    assert_int_equal(gale_runtime_metric(runtime, component, name, NULL, 0, NULL, &stats), 0);
    return stats;
}

static void what_expressions_count_is_right_over_tasks(void **state) {
    (void)state;
    gale_topology *topology = make(
        "metric.count(kind .. '_seen') or kind == 'odd'",
        "metric.observe('n', n) or metric.count('squares', n) or metric.gauge('now', 1) or n");
    gale_runtime *runtime = run(topology);
    assert_true(metric_of(runtime, "odd", "odd_seen").value == TUPLES / 2);
    assert_true(metric_of(runtime, "odd", "even_seen").value == TUPLES / 2);
    gale_metric_stats squares = metric_of(runtime, "square", "squares"), n = metric_of(runtime, "square", "n");
    assert_true(squares.kind == GALE_METRIC_COUNTER && squares.value == (double)sum);
    assert_true(n.kind == GALE_METRIC_HISTOGRAM && n.value == (double)sum && n.count == TUPLES / 2);
    assert_true(n.max == TUPLES - 1);
    assert_true(metric_of(runtime, "square", "now").value == 2); /* of each task 1 */
    end(topology, runtime);
}

/* The name is the filter's, where it is a counter. */
static void a_name_of_another_kind_fails_its_tuples_alone(void **state) {
    (void)state;
    gale_topology *topology = make("metric.count('n') or n < 10", "n % 2 == 1 and metric.gauge('n', n) or n");
    gale_runtime *runtime = run(topology);
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(runtime, &stats);
    assert_int_equal(seen, 5); /* the even ones */
    assert_int_equal(stats.failed, 5);
    assert_true(metric_of(runtime, NULL, "n").value == TUPLES);
    end(topology, runtime);
}

static void a_sum_that_would_be_infinite_fails_the_tuple(void **state) {
    (void)state;
    gale_topology *topology = make("n < 3 and (metric.count('huge', 1e308) or true)", "n");
    gale_runtime *runtime = run(topology);
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(runtime, &stats);
    assert_true(stats.failed >= 1); /* of two tasks: one got two of the three, or all */
    assert_true(metric_of(runtime, "odd", "huge").count + stats.failed == 3);
    end(topology, runtime);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_run_in_a_topology),
        cmocka_unit_test(what_expressions_count_is_right_over_tasks),
        cmocka_unit_test(a_name_of_another_kind_fails_its_tuples_alone),
        cmocka_unit_test(a_sum_that_would_be_infinite_fails_the_tuple),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
