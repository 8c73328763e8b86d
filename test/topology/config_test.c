#include "topology/config.h"

#include "base/str.h"
#include "harness/cm.h"

#include "topology/faults.h"
#include <math.h>

#include <stdlib.h>

static gale_config *config;

static int fresh(void **state) {
    (void)state;
    config = gale_config_new();
    return config ? 0 : -1;
}

static int done(void **state) {
    (void)state;
    gale_config_free(config);
    return 0;
}

static void refused(const char *key, gale_value value, const char *text) {
    gale_error e = GALE_ERROR_INIT;
    size_t before = gale_config_size(config);
    assert_int_equal(gale_config_set(config, key, value, &e), GALE_CONFIG);
    assert_string_equal(e.text, text);
    assert_int_equal(gale_config_size(config), before);
}

static void the_table_is_sorted_and_its_defaults_fit_their_types(void **state) {
    (void)state;
    size_t count;
    const gx_key *keys = gx_config_keys(&count);
    assert_true(count > 100);
    for (size_t i = 0; i < count; i++) {
        gale_value value = gx_config_scalar(gx_str(keys[i].default_text));
        if (i) assert_true(strcmp(keys[i - 1].name, keys[i].name) < 0);
        assert_ptr_equal(gx_config_find(gx_str(keys[i].name)), &keys[i]);
        assert_true(value.type == GALE_TYPE_NULL || (keys[i].types >> value.type & 1));
        assert_true(strlen(keys[i].text) > 10);
    }
    assert_null(gx_config_find(gx_str("topology.")));
    assert_null(gx_config_find(gx_str("")));
}

static void what_is_set_is_read_back_and_what_is_not_is_the_default(void **state) {
    (void)state;
    assert_int_equal(gale_config_i64(config, "topology.message.timeout.secs", 7), 30);
    assert_true(gale_config_f64(config, "topology.message.timeout.secs", 7) == 30);
    assert_true(gale_config_bool(NULL, "topology.enable.message.timeouts", false));
    assert_int_equal(gale_config_i64(config, "topology.tasks", 7), 7);
    assert_int_equal(gale_config_i64(config, "my.key", 9), 9);
    assert_int_equal(gale_config_set(config, "topology.message.timeout.secs", gale_f64(0.25), NULL), 0);
    assert_true(gale_config_f64(config, "topology.message.timeout.secs", 7) == 0.25);
    assert_int_equal(gale_config_i64(config, "topology.message.timeout.secs", 7), 7);
    assert_int_equal(gale_config_set(config, "my.key", gale_text("x"), NULL), 0);
    assert_true(gx_str_is(gale_config_text(config, "my.key", gx_str("")), "x"));
    assert_int_equal(gale_config_set(config, "topology.message.timeout.secs", gale_null(), NULL), 0);
    assert_true(gale_config_f64(config, "topology.message.timeout.secs", 7) == 7);
}

static void keys_keep_the_order_in_which_they_were_first_set(void **state) {
    (void)state;
    gale_str key = { NULL, 0 };
    gale_value value = gale_null();
    assert_int_equal(gale_config_set(config, "b", gale_i64(1), NULL), 0);
    assert_int_equal(gale_config_set(config, "a", gale_i64(2), NULL), 0);
    assert_int_equal(gale_config_set(config, "b", gale_i64(3), NULL), 0);
    assert_int_equal(gale_config_size(config), 2);
    assert_true(gale_config_at(config, 0, &key, &value));
    assert_true(gx_str_is(key, "b"));
    assert_int_equal(value.as.i64, 3);
    assert_true(gale_config_at(config, 1, &key, &value));
    assert_false(gale_config_at(config, 2, &key, &value));
    assert_true(gx_str_is(key, "a"));
    assert_true(gale_config_get(config, "a", &value));
    assert_false(gale_config_get(config, "c", &value));
    assert_int_equal(gale_config_size(NULL), 0);
}

static void an_unknown_key_is_refused_with_the_nearest_one(void **state) {
    (void)state;
    refused("topology.mesage.timeout.secs", gale_i64(1),
            "unknown key 'topology.mesage.timeout.secs'; did you mean 'topology.message.timeout.secs'?");
    refused("gale.rat", gale_i64(1), "unknown key 'gale.rat'; did you mean 'gale.rate'?");
    refused("topology.something.quite.different.altogether", gale_i64(1),
            "unknown key 'topology.something.quite.different.altogether'");
    refused("", gale_i64(1), "a configuration key is empty");
    refused(NULL, gale_i64(1), "a configuration key is empty");
}

static void a_key_without_its_topology_is_refused_with_the_whole_one(void **state) {
    (void)state;
    refused("workers", gale_i64(2),
            "unknown key 'workers'; did you mean 'topology.workers'? A component's own key needs a name that is not "
            "Storm's, as 'my.workers'");
    refused("message.timeout.sec", gale_i64(2),
            "unknown key 'message.timeout.sec'; did you mean 'topology.message.timeout.secs'? A component's own key "
            "needs a name that is not Storm's, as 'my.message.timeout.sec'");
    size_t count;
    const gx_key *keys = gx_config_keys(&count);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(keys[i].name, "topology.", 9) != 0 || gx_config_is_daemons(gx_str(keys[i].name + 9))) continue;
        gale_error error = GALE_ERROR_INIT;
        assert_int_equal(gale_config_set(config, keys[i].name + 9, gale_i64(1), &error), GALE_CONFIG);
        assert_non_null(strstr(error.text, keys[i].name));
    }
    for (const char *const *own = (const char *const[]){ "my.workers", "my.max.spout.pending", "worker.childopts",
                                                         "worker", "host", "path", "word.file", NULL };
         *own; own++)
        assert_int_equal(gale_config_set(config, *own, gale_i64(1), NULL), GALE_OK);
}

static void a_value_of_the_wrong_type_is_refused(void **state) {
    (void)state;
    refused("topology.tasks", gale_text("many"), "'topology.tasks' must be a whole number, not the string 'many'");
    refused("topology.tasks", gale_f64(1.5), "'topology.tasks' must be a whole number, not a value of type f64");
    refused("gale.rate", gale_bool(true), "'gale.rate' must be a number, not a value of type bool");
    refused("topology.enable.message.timeouts", gale_i64(1),
            "'topology.enable.message.timeouts' must be true or false, not a value of type i64");
    refused("gale.input", gale_list(NULL, 0), "'gale.input' must be a string, not a value of type list");
}

static void a_value_out_of_range_is_refused(void **state) {
    (void)state;
    refused("topology.tasks", gale_i64(0), "'topology.tasks' must be at least 1, not 0");
    refused("topology.tasks", gale_i64(40000), "'topology.tasks' must be at most 32767, not 40000");
    refused("topology.message.timeout.secs", gale_i64(0), "'topology.message.timeout.secs' must be above 0, not 0");
    refused("topology.message.timeout.secs", gale_f64(1e18),
            "'topology.message.timeout.secs' must be at most 9000000000, not 1e+18");
    refused("topology.acker.executors", gale_i64(-1), "'topology.acker.executors' must be at least 0, not -1");
    refused("gale.rate", gale_f64(-2.5), "'gale.rate' must be above 0, not -2.5");
    gale_error e = GALE_ERROR_INIT;
    double nan = strtod("nan", NULL);
    assert_int_equal(gale_config_set(config, "gale.rate", gale_f64(nan), &e), GALE_CONFIG);
}

static void keys_that_would_change_results_are_refused_unless_null(void **state) {
    (void)state;
    refused("topology.auto.task.hooks", gale_list(NULL, 0),
            "'topology.auto.task.hooks' is not supported: hooks are Java classes that see every tuple, and cannot run "
            "here");
    refused(
        "topology.bolts.window.length.count", gale_i64(5),
        "'topology.bolts.window.length.count' is not supported: write a window of so many tuples as a bolt that counts "
        "them; gale.bolt.Window has windows of time");
    refused("topology.bolts.window.length.duration.ms", gale_i64(5),
            "'topology.bolts.window.length.duration.ms' is not supported: set `length` of a gale.bolt.Window");
    refused("topology.bolts.late.tuple.stream", gale_text("late"),
            "'topology.bolts.late.tuple.stream' is not supported: what is late goes to the stream `late` of a "
            "gale.bolt.EventTime");
    refused(
        "topology.state.provider", gale_text("x"),
        "'topology.state.provider' is not supported: state is kept in a folder of the machine's (topology.state.dir)");
    assert_int_equal(gale_config_set(config, "topology.auto.task.hooks", gale_null(), NULL), 0);
}

static void keys_without_effect_are_accepted_and_said_so(void **state) {
    (void)state;
    assert_int_equal(gale_config_set(config, "topology.workers", gale_i64(4), NULL), 1);
    assert_int_equal(gale_config_set(config, "topology.classpath", gale_text("x"), NULL), 1);
    assert_int_equal(gale_config_set(config, "topology.eventlogger.executors", gale_i64(2), NULL), 1);
    assert_int_equal(gale_config_set(config, "topology.metrics.consumer.register", gale_list(NULL, 0), NULL), 1);
    assert_int_equal(gale_config_size(config), 4);
}

static void a_value_that_cannot_be_kept_is_refused(void **state) {
    (void)state;
    gale_value pairs[] = { gale_text("a"), gale_null(), gale_text("a"), gale_null() };
    refused("mine", gale_map(pairs, 2), "the value of 'mine' is not valid: invalid argument");
}

static void scalar(const char *text, int type, double number) {
    gale_value v = gx_config_scalar(gx_str(text));
    assert_int_equal(v.type, type);
    if (type == GALE_TYPE_I64) assert_true(v.as.i64 == (int64_t)number);
    if (type == GALE_TYPE_F64) assert_true(v.as.f64 == number);
    if (type == GALE_TYPE_BOOL) assert_int_equal(v.as.boolean, number != 0);
}

static void scalars_are_read_as_yaml_reads_them(void **state) {
    (void)state;
    scalar("", GALE_TYPE_NULL, 0);
    scalar("~", GALE_TYPE_NULL, 0);
    scalar("null", GALE_TYPE_NULL, 0);
    scalar("true", GALE_TYPE_BOOL, 1);
    scalar("Yes", GALE_TYPE_BOOL, 1);
    scalar("ON", GALE_TYPE_BOOL, 1);
    scalar("no", GALE_TYPE_BOOL, 0);
    scalar("off", GALE_TYPE_BOOL, 0);
    scalar(" 12 ", GALE_TYPE_I64, 12);
    scalar("-12", GALE_TYPE_I64, -12);
    scalar("+1_000", GALE_TYPE_I64, 1000);
    scalar("0x1F", GALE_TYPE_I64, 31);
    scalar("017", GALE_TYPE_I64, 15);
    scalar("0", GALE_TYPE_I64, 0);
    scalar("0b1010", GALE_TYPE_I64, 10);
    scalar("1:30", GALE_TYPE_I64, 90);
    scalar("190:20:30", GALE_TYPE_I64, 685230);
    scalar("-1:1", GALE_TYPE_I64, -61);
    scalar("190:20:30.5", GALE_TYPE_F64, 685230.5);
    scalar("1_0.2_5", GALE_TYPE_F64, 10.25);
    scalar("0.5", GALE_TYPE_F64, 0.5);
    scalar("1.", GALE_TYPE_F64, 1);
    scalar(".INF", GALE_TYPE_F64, (double)INFINITY);
    scalar("-.inf", GALE_TYPE_F64, -(double)INFINITY);
    assert_int_equal(gx_config_scalar(gx_str(".nan")).type, GALE_TYPE_F64);
    scalar("1.5", GALE_TYPE_F64, 1.5);
    scalar("-.5", GALE_TYPE_F64, -0.5);
    scalar("1e3", GALE_TYPE_F64, 1000);
    scalar("9223372036854775808", GALE_TYPE_F64, 9223372036854775808.0);
    assert_true(gx_config_scalar(gx_str("9223372036854775807")).as.i64 == INT64_MAX);
    assert_true(gx_config_scalar(gx_str("-9223372036854775808")).as.i64 == INT64_MIN);
    static const char *const strings[] = { "word", "1.2.3", "inf", "nan",   "0x",         "_1",
                                           "-",    ".",     "1-2", "e3",    "0x1p3",      "12a",
                                           "08",   "1:60",  "0o7", "1:2_0", "2026-11-22", "2026-11-22T10:00:00Z",
                                           "0:30", "1:",    ":1",  "1e",    "y",          "N",
                                           "1:30:" };
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) scalar(strings[i], GALE_TYPE_STRING, 0);
    gale_value quoted = gx_config_scalar(gx_str("'12'"));
    assert_true(quoted.type == GALE_TYPE_STRING && gx_str_is((gale_str){ quoted.as.string, quoted.size }, "12"));
    quoted = gx_config_scalar(gx_str("\"true\""));
    assert_true(quoted.type == GALE_TYPE_STRING && quoted.size == 4);
    scalar("'", GALE_TYPE_STRING, 0);
    scalar("\"a'", GALE_TYPE_STRING, 0);
}

static void an_assignment_is_read_and_set(void **state) {
    (void)state;
    gale_error e = GALE_ERROR_INIT;
    assert_int_equal(gale_config_set_text(config, "topology.tasks = 4", &e), 0);
    assert_int_equal(gale_config_i64(config, "topology.tasks", 0), 4);
    assert_int_equal(gale_config_set_text(config, "my.url=http://x/?a=b", &e), 0);
    assert_true(gx_str_is(gale_config_text(config, "my.url", gx_str("")), "http://x/?a=b"));
    assert_int_equal(gale_config_set_text(config, "topology.workers=2", &e), 1);
    assert_int_equal(gale_config_set_text(config, "nothing", &e), GALE_CONFIG);
    assert_string_equal(e.text, "'nothing' is no 'key=value'");
    assert_int_equal(gale_config_set_text(config, "=1", &e), GALE_CONFIG);
    assert_int_equal(gale_config_set_text(config, NULL, &e), GALE_CONFIG);
}

static void a_component_overlays_only_what_storm_lets_it(void **state) {
    (void)state;
    gale_config *own = gale_config_new();
    (void)gale_config_set(config, "topology.message.timeout.secs", gale_i64(10), NULL);
    (void)gale_config_set(config, "topology.max.spout.pending", gale_i64(100), NULL);
    (void)gale_config_set(own, "topology.message.timeout.secs", gale_i64(20), NULL);
    (void)gale_config_set(own, "topology.max.spout.pending", gale_i64(200), NULL);
    (void)gale_config_set(own, "mine", gale_text("kept"), NULL);
    gale_config *both = gx_config_overlay(config, own);
    assert_non_null(both);
    assert_int_equal(gale_config_i64(both, "topology.message.timeout.secs", 0), 10);
    assert_int_equal(gale_config_i64(both, "topology.max.spout.pending", 0), 200);
    assert_true(gx_str_is(gale_config_text(both, "mine", gx_str("")), "kept"));
    assert_int_equal(gale_config_i64(config, "topology.max.spout.pending", 0), 100);
    gale_config_free(both);
    gale_config_free(own);
}

static void without_memory_a_configuration_stays_as_it_was(void **state) {
    (void)state;
    bool finished = false;
    for (long n = 1; !finished; n++) {
        gale_config *c = gale_config_new();
        for (int i = 0; i < 7; i++) (void)gale_config_set(c, (const char[]){ (char)('a' + i), 0 }, gale_i64(i), NULL);
        fail_call(n);
        int last = gale_config_set(c, "h", gale_i64(7), NULL);
        int more = last < 0 ? last : gale_config_set(c, "i", gale_i64(8), NULL);
        int again = more < 0 ? more : gale_config_set(c, "a", gale_text("new"), NULL);
        gale_config *copy = again < 0 ? NULL : gx_config_overlay(c, c);
        finished = !has_failed;
        fail_call(0);
        if (!finished) assert_null(copy);
        assert_int_equal(gale_config_size(c), 7 + (last == 0) + (more == 0));
        assert_int_equal(gale_config_i64(c, "a", 5), again == 0 ? 5 : 0);
        gale_config_free(copy);
        gale_config_free(c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_table_is_sorted_and_its_defaults_fit_their_types, fresh, done),
        cmocka_unit_test_setup_teardown(what_is_set_is_read_back_and_what_is_not_is_the_default, fresh, done),
        cmocka_unit_test_setup_teardown(keys_keep_the_order_in_which_they_were_first_set, fresh, done),
        cmocka_unit_test_setup_teardown(an_unknown_key_is_refused_with_the_nearest_one, fresh, done),
        cmocka_unit_test_setup_teardown(a_key_without_its_topology_is_refused_with_the_whole_one, fresh, done),
        cmocka_unit_test_setup_teardown(a_value_of_the_wrong_type_is_refused, fresh, done),
        cmocka_unit_test_setup_teardown(a_value_out_of_range_is_refused, fresh, done),
        cmocka_unit_test_setup_teardown(keys_that_would_change_results_are_refused_unless_null, fresh, done),
        cmocka_unit_test_setup_teardown(keys_without_effect_are_accepted_and_said_so, fresh, done),
        cmocka_unit_test_setup_teardown(a_value_that_cannot_be_kept_is_refused, fresh, done),
        cmocka_unit_test_setup_teardown(scalars_are_read_as_yaml_reads_them, fresh, done),
        cmocka_unit_test_setup_teardown(an_assignment_is_read_and_set, fresh, done),
        cmocka_unit_test_setup_teardown(a_component_overlays_only_what_storm_lets_it, fresh, done),
        cmocka_unit_test_setup_teardown(without_memory_a_configuration_stays_as_it_was, fresh, done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
