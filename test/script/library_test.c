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

static void expressions_run_in_a_topology(void **state) {
    (void)state;
    gale_error error = GALE_ERROR_INIT;
    gale_bolt odd, square;
    gale_filter_options filter = { .size = sizeof filter, .fields = "n, kind", .where = "kind == 'odd' and n < 10" };
    gale_assignment set = { "square", "math.floor(n ^ 2)" };
    gale_map_options map = {
        .size = sizeof map, .fields = "n, kind", .keep = "n", .drop = NULL, .set = &set, .set_count = 1
    };
    assert_int_equal(gale_filter_bolt(&filter, &odd, &error), 0);
    map.keep = NULL;
    map.drop = "n, kind";
    assert_int_equal(gale_map_bolt(&map, &square, &error), 0);
    gale_topology *topology = gale_topology_new("numbers");
    assert_int_equal(add_spout(topology), 0);
    assert_int_equal(gale_topology_add_bolt(topology, "odd", odd, 2), 0);
    assert_int_equal(gale_topology_add_bolt(topology, "square", square, 2), 0);
    assert_int_equal(add_adder(topology), 0);
    assert_int_equal(gale_topology_subscribe(topology, "odd", "numbers", NULL, gale_shuffle()), 0);
    assert_int_equal(gale_topology_subscribe(topology, "square", "odd", NULL, gale_shuffle()), 0);
    assert_int_equal(gale_topology_subscribe(topology, "adder", "square", NULL, gale_shuffle()), 0);
    gale_runtime *runtime = NULL;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.until_drained = true;
    assert_int_equal(gale_runtime_new(topology, &options, &runtime, &error), 0);
    assert_int_equal(gale_runtime_run(runtime, &error), 0);
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    gale_topology_free(topology);
    assert_int_equal(seen, 5);
    assert_int_equal(sum, 1 + 9 + 25 + 49 + 81);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(expressions_run_in_a_topology) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
