/* gale_test.h: bolts, spouts and topologies under test. */
#include "harness/cm.h"

#include <gale/watch.h>
#include <gale_test.h>
#include <stdlib.h>
#include <string.h>

/* --- Bolts to look at --------------------------------------------------------------------------------------------- */

static const gale_output words[] = { { NULL, "word, length" }, { "long", "word" } };

/* Emits the word and its length, long ones to a stream of their own; fails "bad", rejects "never", reports "odd". */
static int measure(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    gale_value word = gale_tuple_value(tuple, 0);
    const gale_value values[] = { word, gale_i64(word.size) };
    if (word.size == 3 && memcmp(word.as.string, "bad", 3) == 0) {
        gale_report(out, "a bad word");
        return GALE_COMPONENT;
    }
    if (word.size == 3 && memcmp(word.as.string, "odd", 3) == 0) gale_report(out, "an odd word");
    if (word.size > 5) (void)gale_emit(out, 1, values, 1);
    int rc = gale_emit(out, 0, values, 2);
    return rc < 0 ? rc : GALE_OK;
}

static gale_bolt measurer(void) {
    static const gale_bolt_ops ops = { .size = sizeof ops, .name = "measurer", .execute = measure };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .outputs = words, .output_count = 2 };
}

/* Holds what it is given, and acks it with the second tick after. */
typedef struct holder {
    gale_handle held[64];
    uint32_t ticks[64];
    size_t count;
} holder;

static int make_holder(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context, (void)out;
    return (*ret_self = calloc(1, sizeof(holder))) ? GALE_OK : GALE_NO_MEMORY;
}

static int hold(void *self, const gale_tuple *tuple, gale_collector *out) {
    holder *h = self;
    if (!gale_tuple_is_tick(tuple)) {
        h->ticks[h->count] = 0;
        return gale_tuple_hold(out, gale_tuple_handle(tuple), &h->held[h->count++]);
    }
    size_t kept = 0;
    for (size_t i = 0; i < h->count; i++) {
        h->ticks[kept] = h->ticks[i] + 1;
        h->held[kept] = h->held[i];
        if (h->ticks[kept] == 2)
            gale_ack(out, h->held[i]);
        else
            kept++;
    }
    h->count = kept;
    return gale_ack(out, gale_tuple_handle(tuple));
}

static gale_bolt holding(void) {
    static const gale_bolt_ops ops = { .size = sizeof ops,
                                       .name = "holder",
                                       .kind = GALE_BOLT_MANUAL,
                                       .prepare = make_holder,
                                       .execute = hold,
                                       .cleanup = free };
    static const gale_setting ticks = { "topology.tick.tuple.freq.secs",
                                        { .type = GALE_TYPE_I64, .as = { .i64 = 10 } } };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .settings = &ticks, .setting_count = 1 };
}

/* A spout that must not run. */
static int never(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)out, (void)wait;
    fail_msg("the real spout was asked");
    return GALE_NEXT_DONE;
}

static const gale_output lines[] = { { NULL, "word" } };

static gale_spout source(void) {
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "source", .next = never };
    return (gale_spout){ .size = sizeof(gale_spout), .ops = &ops, .outputs = lines, .output_count = 1 };
}

/* lines -> measure (3 tasks) -> hold */
static gale_topology *make_topology(void) {
    gale_topology *t = gale_topology_new("words");
    gale_topology_add_spout(t, "lines", source(), 2);
    gale_topology_add_bolt(t, "measure", measurer(), 3);
    gale_topology_add_bolt(t, "hold", holding(), 1);
    gale_topology_subscribe(t, "measure", "lines", NULL, gale_fields("word"));
    gale_topology_subscribe(t, "hold", "measure", NULL, gale_shuffle());
    return t;
}

static gale_test *make_test(gale_topology *t, gale_test_options options) {
    gale_test *test = NULL;
    gale_error error = GALE_ERROR_INIT;
    options.size = sizeof options;
    if (gale_test_new(t, &options, &test, &error) < 0) fail_msg("%s", error.text);
    return test;
}

static gale_test *test_measurer(void) {
    const gale_test_input input = { "lines", NULL, "word" };
    gale_test *test = NULL;
    gale_error error = GALE_ERROR_INIT;
    if (gale_test_new_for_bolt(measurer(), &input, 1, NULL, &test, &error) < 0) fail_msg("%s", error.text);
    return test;
}

static uint64_t feed(gale_test *test, const char *component, const char *word) {
    gale_value value = gale_text(word);
    gale_error error = GALE_ERROR_INIT;
    int64_t number = gale_test_feed(test, component, NULL, &value, 1, &error);
    if (number < 0) fail_msg("%s", error.text);
    return (uint64_t)number;
}

static void assert_right(const char *wrong) {
    if (wrong) fail_msg("%s", wrong);
}

static int32_t state_of(gale_test *test, uint64_t number) {
    gale_test_answer answer = { .size = sizeof answer };
    assert_int_equal(gale_test_answer_of(test, number, &answer), GALE_OK);
    return answer.state;
}

/* --- One bolt ----------------------------------------------------------------------------------------------------- */

static void a_bolt_emits_what_is_wanted_and_is_looked_at_once(void **state) {
    (void)state;
    gale_test *test = test_measurer();
    const gale_value short_ones[] = { gale_text("the"), gale_i64(3), gale_text("cow"), gale_f64(3) };
    const gale_value long_one = gale_text("jumped");
    feed(test, "lines", "the");
    feed(test, "lines", "cow");
    assert_right(gale_test_differs(test, "bolt", NULL, GALE_TEST_IN_ORDER, short_ones, 2, 2));
    assert_right(gale_test_differs(test, "bolt", NULL, GALE_TEST_IN_ORDER, NULL, 0, 0));
    feed(test, "lines", "jumped");
    assert_right(gale_test_differs(test, "bolt", "long", GALE_TEST_IN_ORDER, &long_one, 1, 1));
    assert_right(gale_test_not_acked(test));
    gale_test_free(test);
}

static void what_differs_is_told_beside_what_is_wanted(void **state) {
    (void)state;
    gale_test *test = test_measurer();
    const gale_value wanted[] = { gale_text("cow"), gale_i64(4),     gale_text("the"),
                                  gale_i64(3),      gale_text("an"), gale_i64(2) };
    feed(test, "lines", "the");
    feed(test, "lines", "cow");
    feed(test, "lines", "moon");
    assert_string_equal(gale_test_differs(test, "bolt", NULL, GALE_TEST_ANY_ORDER, wanted, 2, 3),
                        "'bolt' did not emit to 'default' what is wanted, in any order\n"
                        "        expected      found\n"
                        "      ~ [\"cow\",4]     [\"cow\",3]     length is 3, not 4\n"
                        "        [\"the\",3]     [\"the\",3]\n"
                        "      - [\"an\",2]                    missing\n"
                        "      +               [\"moon\",4]    not expected\n");
    gale_test_free(test);
}

static void in_order_a_tuple_that_came_elsewhere_is_told_of(void **state) {
    (void)state;
    gale_test *test = test_measurer();
    const gale_value wanted[] = { gale_text("a"), gale_i64(1),      gale_text("bb"),
                                  gale_i64(2),    gale_text("ccc"), gale_i64(3) };
    feed(test, "lines", "bb");
    feed(test, "lines", "ccc");
    feed(test, "lines", "a");
    const char *text = gale_test_differs(test, "bolt", NULL, GALE_TEST_IN_ORDER, wanted, 2, 3);
    assert_non_null(text);
    if (!strstr(text, "missing here; it came as number 3 of 3")) fail_msg("%s", text);
    gale_test_free(test);
}

static void a_failed_tuple_has_its_reason_place_and_text(void **state) {
    (void)state;
    gale_test *test = test_measurer();
    uint64_t good = feed(test, "lines", "odd"), bad = feed(test, "lines", "bad");
    assert_int_equal(state_of(test, good), GALE_TEST_ACKED);
    assert_right(gale_test_not_failed(test, bad, GALE_REASON_FAILED, "bad word"));
    assert_string_equal(gale_test_not_failed(test, good, GALE_REASON_TIMEOUT, NULL),
                        "the tuple did not fail as is wanted (timeout)\n  [\"odd\"], fed to 'lines', was acked\n");
    assert_string_equal(gale_test_not_acked(test),
                        "not all that was fed was acked\n"
                        "  [\"bad\"], fed to 'lines', failed at bolt (failed): a bad word\n");
    assert_string_equal(gale_test_report(test, "bolt", 0), "an odd word");
    assert_string_equal(gale_test_report(test, "bolt", 1), "a bad word");
    assert_null(gale_test_report(test, "bolt", 2));
    gale_test_free(test);
}

/* --- A topology --------------------------------------------------------------------------------------------------- */

static void time_passes_only_when_it_is_told_to(void **state) {
    (void)state;
    gale_topology *t = make_topology();
    gale_test *test = make_test(t, (gale_test_options){ 0 });
    uint64_t number = feed(test, "lines", "cow");
    assert_int_equal(state_of(test, number), GALE_TEST_OPEN);
    gale_test_answer answer = { .size = 0 };
    assert_int_equal(gale_test_answer_of(test, number, &answer), GALE_OK);
    if (!strstr(answer.text, "hold")) fail_msg("'%s' does not say where it waits", answer.text);
    assert_int_equal(gale_test_advance(test, 19 * GALE_SECOND, NULL), GALE_OK);
    assert_int_equal(state_of(test, number), GALE_TEST_OPEN);
    assert_int_equal(gale_test_advance(test, GALE_SECOND, NULL), GALE_OK);
    assert_int_equal(state_of(test, number), GALE_TEST_ACKED);
    assert_int_equal(gale_test_now(test), 20 * GALE_SECOND);
    gale_test_free(test);
    gale_topology_free(t);
}

static void a_timeout_is_reached_by_advancing(void **state) {
    (void)state;
    gale_topology *t = make_topology();
    gale_topology_set(t, NULL, "topology.message.timeout.secs", gale_i64(15));
    gale_test *test = make_test(t, (gale_test_options){ 0 });
    uint64_t number = feed(test, "lines", "cow");
    assert_int_equal(gale_test_advance(test, 18 * GALE_SECOND, NULL), GALE_OK);
    assert_right(gale_test_not_failed(test, number, GALE_REASON_TIMEOUT, "hold"));
    gale_test_free(test);
    gale_topology_free(t);
}

static void ten_hours_pass_at_once(void **state) {
    (void)state;
    gale_topology *t = make_topology();
    gale_test *test = make_test(t, (gale_test_options){ 0 });
    assert_int_equal(gale_test_advance(test, 36000 * GALE_SECOND, NULL), GALE_OK);
    assert_int_equal(gale_test_now(test), 36000 * GALE_SECOND);
    gale_test_free(test);
    gale_topology_free(t);
}

static int say_no(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    return gale_reject(out, gale_tuple_handle(tuple), "no words today");
}

static void a_bolt_stands_in_for_another(void **state) {
    (void)state;
    static const gale_bolt_ops ops = { .size = sizeof ops, .name = "no", .kind = GALE_BOLT_MANUAL, .execute = say_no };
    const gale_test_stand_in stand_in = { "measure", { .size = sizeof(gale_bolt), .ops = &ops } };
    gale_topology *t = make_topology();
    gale_test *test = make_test(t, (gale_test_options){ .stand_ins = &stand_in, .stand_in_count = 1 });
    uint64_t number = feed(test, "lines", "cow");
    assert_right(gale_test_not_failed(test, number, GALE_REASON_REJECTED, "no words today"));
    gale_test_free(test);
    gale_topology_free(t);
}

static void an_edge_feeds_a_bolt_alone(void **state) {
    (void)state;
    const gale_test_edge edge = { "measure", "hold" };
    gale_topology *t = make_topology();
    gale_test *test = make_test(t, (gale_test_options){ .edges = &edge, .edge_count = 1 });
    const gale_value values[] = { gale_text("cow"), gale_i64(3) };
    int64_t number = gale_test_feed(test, "measure", NULL, values, 2, NULL);
    assert_int_equal(number, 0);
    assert_int_equal(gale_test_advance(test, 20 * GALE_SECOND, NULL), GALE_OK);
    assert_right(gale_test_not_acked(test));
    gale_test_free(test);
    gale_topology_free(t);
}

static void any_seed_and_any_fault_gives_a_true_answer(void **state) {
    (void)state;
    gale_topology *t = make_topology();
    for (uint64_t seed = 1; seed <= 60; seed++) {
        gale_test *test = make_test(
            t, (gale_test_options){ .seed = seed, .faults = "fail=0.1,hold=0.1,late=0.3,slow=0.1" });
        for (int i = 0; i < 20; i++) feed(test, "lines", i % 2 ? "cow" : "moon");
        gale_error error = GALE_ERROR_INIT;
        if (gale_test_advance(test, 60 * GALE_SECOND, &error) < 0) fail_msg("seed %d: %s", (int)seed, error.text);
        for (uint64_t i = 0; i < 20; i++) assert_true(state_of(test, i) >= GALE_TEST_ACKED);
        if (gale_test_finish(test, &error) < 0) fail_msg("seed %d: %s", (int)seed, error.text);
        gale_test_free(test);
    }
    gale_topology_free(t);
}

static void a_finished_test_takes_nothing_more(void **state) {
    (void)state;
    gale_topology *t = make_topology();
    gale_test *test = make_test(t, (gale_test_options){ 0 });
    gale_value word = gale_text("cow");
    feed(test, "lines", "moon");
    assert_int_equal(gale_test_finish(test, NULL), GALE_OK);
    assert_right(gale_test_not_acked(test)); /* the drain waited for the ticks */
    assert_int_equal(gale_test_finish(test, NULL), GALE_OK);
    assert_int_equal(gale_test_feed(test, "lines", NULL, &word, 1, NULL), GALE_STATE);
    assert_int_equal(gale_test_advance(test, 1, NULL), GALE_STATE);
    gale_test_free(test);
    gale_topology_free(t);
}

static int fail_to_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context, (void)ret_self;
    gale_report(out, "there is no paper");
    return GALE_IO;
}

static void a_component_that_cannot_begin_ends_the_test_in_words(void **state) {
    (void)state;
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "none", .prepare = fail_to_prepare, .execute = measure
    };
    const gale_bolt bolt = { .size = sizeof bolt, .ops = &ops, .outputs = words, .output_count = 2 };
    const gale_test_input input = { "lines", NULL, "word" };
    gale_test *test = NULL;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_test_new_for_bolt(bolt, &input, 1, NULL, &test, &error), GALE_OK);
    assert_int_equal(gale_test_settle(test, &error), GALE_IO);
    if (!strstr(error.text, "there is no paper")) fail_msg("%s", error.text);
    assert_non_null(gale_test_differs(test, "bolt", NULL, GALE_TEST_IN_ORDER, NULL, 0, 0));
    gale_test_free(test);
}

/* --- A bolt that watches a time ------------------------------------------------------------------------------------ */

/* Acks what it holds when its time has come: seven seconds after it was given it. */
typedef struct sleeper {
    const gale_context *context;
    gale_watch watch;
    gale_handle held;
} sleeper;

static int wake(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    sleeper *s = user;
    (void)watch, (void)events;
    return gale_ack(out, s->held);
}

static int make_sleeper(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    sleeper *s = calloc(1, sizeof *s);
    (void)user;
    if (!s) return GALE_NO_MEMORY;
    s->context = context;
    *ret_self = s;
    const gale_watch_options options = { .size = sizeof options, .fd = -1, .call = wake, .user = s };
    return gale_watch_new(out, &options, &s->watch);
}

static int sleep_on_it(void *self, const gale_tuple *tuple, gale_collector *out) {
    sleeper *s = self;
    int rc = gale_tuple_hold(out, gale_tuple_handle(tuple), &s->held);
    return rc < 0 ? rc : gale_watch_set(out, s->watch, 0, gale_context_now(s->context) + 7 * GALE_SECOND);
}

static void a_time_that_is_watched_comes_at_its_moment(void **state) {
    (void)state;
    static const gale_bolt_ops ops = { .size = sizeof ops,
                                       .name = "sleeper",
                                       .kind = GALE_BOLT_MANUAL,
                                       .prepare = make_sleeper,
                                       .execute = sleep_on_it,
                                       .cleanup = free };
    const gale_bolt bolt = { .size = sizeof bolt, .ops = &ops };
    const gale_test_input input = { "lines", NULL, "word" };
    gale_test *test = NULL;
    gale_error error = GALE_ERROR_INIT;
    if (gale_test_new_for_bolt(bolt, &input, 1, NULL, &test, &error) < 0) fail_msg("%s", error.text);
    uint64_t number = feed(test, "lines", "cow");
    assert_int_equal(gale_test_advance(test, 7 * GALE_SECOND - 1, &error), GALE_OK);
    assert_int_equal(state_of(test, number), GALE_TEST_OPEN);
    assert_int_equal(gale_test_advance(test, 1, &error), GALE_OK);
    assert_int_equal(state_of(test, number), GALE_TEST_ACKED);
    gale_test_free(test);
}

/* --- A spout ------------------------------------------------------------------------------------------------------ */

static int count_to_three(void *self, gale_collector *out, gale_wait *wait) {
    int *n = self;
    gale_value value = gale_i64(*n);
    (void)wait;
    if (*n == 3) return GALE_NEXT_DONE;
    int rc = gale_emit_tracked(out, 0, &value, 1, (uint64_t)*n);
    if (rc >= 0) ++*n;
    return rc < 0 ? rc : GALE_NEXT_EMITTED;
}

static void a_spout_runs_as_it_is(void **state) {
    (void)state;
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "three", .next = count_to_three };
    static const gale_output output = { NULL, "n" };
    int n = 0;
    const gale_spout spout = { .size = sizeof spout, .ops = &ops, .user = &n, .outputs = &output, .output_count = 1 };
    gale_test *test = NULL;
    assert_int_equal(gale_test_new_for_spout(spout, NULL, &test, NULL), GALE_OK);
    const gale_value wanted[] = { gale_i64(0), gale_i64(1) };
    assert_right(gale_test_differs(test, "spout", NULL, GALE_TEST_CONTAINS, wanted, 1, 2));
    const gale_value *values;
    size_t count;
    assert_int_equal(gale_test_take(test, "spout", NULL, &values, &count), GALE_OK);
    assert_int_equal(count, 1);
    assert_int_equal(values[0].as.i64, 2);
    assert_int_equal(gale_test_take(test, "spout", NULL, &values, &count), GALE_NOT_FOUND);
    gale_test_free(test);
}

/* --- Misuse ------------------------------------------------------------------------------------------------------- */

static void refused(gale_topology *t, gale_test_options options, int code, const char *text) {
    gale_test *test = NULL;
    gale_error error = GALE_ERROR_INIT;
    options.size = sizeof options;
    assert_int_equal(gale_test_new(t, &options, &test, &error), code);
    if (!strstr(error.text, text)) fail_msg("'%s' does not say '%s'", error.text, text);
    assert_null(test);
}

static void options_that_name_nothing_are_refused_with_the_nearest_name(void **state) {
    (void)state;
    gale_topology *t = make_topology();
    const gale_test_edge edges[] = { { "mesure", "hold" }, { "lines", "hold" } };
    const gale_test_stand_in spout = { "lines", holding() };
    static const char *const kept[] = { "hold" };
    refused(t, (gale_test_options){ .edges = &edges[0], .edge_count = 1 }, GALE_NOT_FOUND, "did you mean 'measure'?");
    refused(t, (gale_test_options){ .edges = &edges[1], .edge_count = 1 }, GALE_INVALID, "'hold' takes nothing from");
    refused(t, (gale_test_options){ .stand_ins = &spout, .stand_in_count = 1 }, GALE_INVALID, "which is a spout");
    refused(t, (gale_test_options){ .kept = kept, .kept_count = 1 }, GALE_INVALID, "bolts are kept anyway");
    refused(t, (gale_test_options){ .faults = "fial=1" }, GALE_NOT_FOUND, "did you mean 'fail'?");
    refused(t, (gale_test_options){ .edge_count = 1 }, GALE_INVALID, "its array is missing");
    refused(NULL, (gale_test_options){ 0 }, GALE_INVALID, "");
    gale_topology_free(t);
}

static void what_is_fed_is_checked(void **state) {
    (void)state;
    gale_test *test = test_measurer();
    const gale_value values[] = { gale_text("a"), gale_text("b") };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_test_feed(test, "line", NULL, values, 1, &error), GALE_NOT_FOUND);
    if (!strstr(error.text, "did you mean 'lines'?")) fail_msg("%s", error.text);
    assert_int_equal(gale_test_feed(test, "lines", "x", values, 1, NULL), GALE_NOT_FOUND);
    assert_int_equal(gale_test_feed(test, "lines", NULL, values, 2, NULL), GALE_FIELDS);
    assert_int_equal(gale_test_feed(test, "lines", NULL, NULL, 1, NULL), GALE_INVALID);
    assert_int_equal(gale_test_advance(test, -1, NULL), GALE_INVALID);
    gale_test_free(test);
}

static void nothing_is_no_test(void **state) {
    (void)state;
    gale_test_answer answer = { .size = 0 };
    const gale_value *values;
    size_t count;
    gale_test_free(NULL);
    assert_int_equal(gale_test_settle(NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_test_advance(NULL, 1, NULL), GALE_INVALID);
    assert_int_equal(gale_test_finish(NULL, NULL), GALE_INVALID);
    assert_int_equal(gale_test_feed(NULL, "a", NULL, NULL, 0, NULL), GALE_INVALID);
    assert_int_equal(gale_test_now(NULL), 0);
    assert_int_equal(gale_test_take(NULL, "a", NULL, &values, &count), GALE_INVALID);
    assert_int_equal(gale_test_answer_of(NULL, 0, &answer), GALE_INVALID);
    assert_non_null(gale_test_differs(NULL, "a", NULL, 0, NULL, 0, 0));
    assert_non_null(gale_test_not_acked(NULL));
    assert_non_null(gale_test_not_failed(NULL, 0, 0, NULL));
    assert_null(gale_test_report(NULL, "a", 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bolt_emits_what_is_wanted_and_is_looked_at_once),
        cmocka_unit_test(what_differs_is_told_beside_what_is_wanted),
        cmocka_unit_test(in_order_a_tuple_that_came_elsewhere_is_told_of),
        cmocka_unit_test(a_failed_tuple_has_its_reason_place_and_text),
        cmocka_unit_test(time_passes_only_when_it_is_told_to),
        cmocka_unit_test(a_timeout_is_reached_by_advancing),
        cmocka_unit_test(ten_hours_pass_at_once),
        cmocka_unit_test(a_bolt_stands_in_for_another),
        cmocka_unit_test(an_edge_feeds_a_bolt_alone),
        cmocka_unit_test(any_seed_and_any_fault_gives_a_true_answer),
        cmocka_unit_test(a_finished_test_takes_nothing_more),
        cmocka_unit_test(a_component_that_cannot_begin_ends_the_test_in_words),
        cmocka_unit_test(a_time_that_is_watched_comes_at_its_moment),
        cmocka_unit_test(a_spout_runs_as_it_is),
        cmocka_unit_test(options_that_name_nothing_are_refused_with_the_nearest_name),
        cmocka_unit_test(what_is_fed_is_checked),
        cmocka_unit_test(nothing_is_no_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
