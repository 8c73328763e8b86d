/* What expressions count: the metrics of a collector that keeps what it is told. */
#include "kit/streams.h"

#include <gale/metric.h>
#include <gale_script.h>
#include <math.h>
#include <stdio.h>

#include "harness/cm.h"

typedef struct fixture {
    fake_collector fake;
    gale_collector_ops ops; /* the fake's, but for metric_new */
    gale_bolt bolt;
    void *self;
    gale_error error;
} fixture;

static const gale_collector_ops *below;
static uint32_t asked; /* how often for a metric */
static int refusal;    /* what is answered then, when negative */
static char help[100]; /* that came last; "-": none */

static int metric_new(gale_collector *out, const gale_metric_options *options, gale_metric **ret_metric) {
    asked++;
    snprintf(help, sizeof help, "%s", options->help ? options->help : "-");
    return refusal < 0 ? refusal : below->metric_new(out, options, ret_metric);
}

static void begin(fixture *f) {
    asked = 0;
    refusal = 0;
    fake_init(&f->fake);
    streams_use(&f->fake);
    below = f->fake.collector.ops;
    f->ops = *below;
    f->ops.metric_new = metric_new;
    f->fake.collector.ops = &f->ops;
    fake_source(&f->fake, "parse", "path, status, ms");
    f->error = (gale_error)GALE_ERROR_INIT;
}

static void prepare(fixture *f, int rc) {
    if (rc < 0) fail_msg("%s", f->error.text);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static void begin_filter(fixture *f, const char *where) {
    gale_filter_options options = { .size = sizeof options, .fields = "path, status, ms", .where = where };
    begin(f);
    prepare(f, gale_filter_bolt(&options, &f->bolt, &f->error));
}

static void end(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    fake_fini(&f->fake);
}

static int take(fixture *f, const char *path, int64_t status, gale_value ms) {
    gale_value values[3] = { gale_text(path), gale_i64(status), ms };
    fake_forget(&f->fake);
    return f->bolt.ops->execute(f->self, fake_tuple(&f->fake, values, 3), &f->fake.collector);
}

/* NULL: there is none. */
static const fake_metric *find(const fixture *f, const char *name) {
    for (size_t i = 0; i < f->fake.metric_count; i++)
        if (strcmp(f->fake.metrics[i].name, name) == 0) return &f->fake.metrics[i];
    return NULL;
}

static void expect_metric(const fixture *f, const char *name, int32_t kind, double sum, double last, uint64_t count) {
    const fake_metric *metric = find(f, name);
    assert_non_null(metric);
    assert_int_equal(metric->kind, kind);
    assert_true(metric->sum == sum && metric->last == last);
    assert_int_equal(metric->count, count);
}

static void expect_failed(fixture *f, gale_value ms, const char *report) {
    assert_int_equal(take(f, "/a", 1, ms), GALE_TYPE);
    assert_string_equal(fake_text(&f->fake.reports), report);
}

/* --- Noting --- */

static void a_filter_counts_and_passes_what_it_would(void **state) {
    (void)state;
    fixture f;
    begin_filter(&f, "metric.count('seen') or status >= 500");
    for (int i = 0; i < 3; i++) assert_int_equal(take(&f, "/a", 500, gale_f64(1)), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "[\"/a\",500,1.0]\n");
    assert_int_equal(take(&f, "/a", 499, gale_f64(1)), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "");
    expect_metric(&f, "seen", GALE_METRIC_COUNTER, 4, 1, 4);
    end(&f);
}

static void a_block_notes_to_all_kinds(void **state) {
    (void)state;
    fixture f;
    begin_filter(&f,
                 "metric.count('bytes', status)\nmetric.gauge('level', -ms)\nmetric.observe('took', ms)\nreturn true");
    assert_int_equal(take(&f, "/a", 200, gale_f64(0.5)), 0);
    assert_int_equal(take(&f, "/a", 100, gale_f64(2)), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "[\"/a\",100,2.0]\n");
    expect_metric(&f, "bytes", GALE_METRIC_COUNTER, 300, 100, 2);
    expect_metric(&f, "level", GALE_METRIC_GAUGE, -2.5, -2, 2);
    expect_metric(&f, "took", GALE_METRIC_HISTOGRAM, 2.5, 2, 2);
    end(&f);
}

static void a_name_may_be_computed(void **state) {
    (void)state;
    fixture f;
    begin_filter(&f, "metric.count('class_' .. status // 100 .. 'xx')");
    take(&f, "/a", 200, gale_null());
    take(&f, "/a", 503, gale_null());
    take(&f, "/a", 204, gale_null());
    expect_metric(&f, "class_2xx", GALE_METRIC_COUNTER, 2, 1, 2);
    expect_metric(&f, "class_5xx", GALE_METRIC_COUNTER, 1, 1, 1);
    end(&f);
}

static void labels_make_series(void **state) {
    (void)state;
    fixture f;
    begin_filter(&f, "metric.gauge('level', status, { path = path, ok = status < 500 }, 'How full it is.')\n"
                     "metric.count('seen', 1, { status = status })\nreturn true");
    assert_int_equal(take(&f, "/a", 200, gale_null()), 0);
    assert_int_equal(take(&f, "/b", 503, gale_null()), 0);
    assert_int_equal(take(&f, "/a", 201, gale_null()), 0);
    expect_metric(&f, "level{ok=true,path=/a}", GALE_METRIC_GAUGE, 401, 201, 2);
    expect_metric(&f, "level{ok=false,path=/b}", GALE_METRIC_GAUGE, 503, 503, 1);
    expect_metric(&f, "seen{status=503}", GALE_METRIC_COUNTER, 1, 1, 1);
    end(&f);
}

static void a_help_text_is_the_fourth_argument_and_nothing_else(void **state) {
    static const struct {
        const char *call, *help;
    } rows[] = {
        { "metric.count('a')", "-" },
        { "metric.count('a', 1, nil)", "-" },
        { "metric.count('a', 1, nil, 'Help.')", "Help." },
        { "metric.count('a', 1, { x = path })", "-" },
        { "metric.gauge('a', 1, { x = path, y = status })", "-" },
        { "metric.observe('a', 1, { x = path, y = status }, nil)", "-" },
        { "metric.count('a', 1, { x = path, y = status }, 'Help.')", "Help." },
        { "metric.count('a', 1, { x = path }, 'Help.', 'more')", "Help." },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char where[200];
        fixture f;
        snprintf(where, sizeof where, "%s\nreturn true", rows[i].call);
        begin_filter(&f, where);
        assert_int_equal(take(&f, "/a", 200, gale_null()), 0);
        if (strcmp(help, rows[i].help) != 0) fail_msg("%s: help is %s", rows[i].call, help);
        end(&f);
    }
}

static void labels_that_cannot_be_fail_the_tuple(void **state) {
    (void)state;
    static const char *const said[][2] = {
        { "metric.count('a', 1, 'x')", "bad argument #3 to 'count' (table expected, got string)" },
        { "metric.count('a', 1, { 'x' })", "a label's name is text" },
        { "metric.count('a', 1, { x = {} })", "label 'x' is a table" },
        { "metric.count('a', 1, { a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1, i = 1 })",
          "a metric has at most 8 labels" },
    };
    char wanted[200];
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        fixture f;
        begin_filter(&f, said[i][0]);
        snprintf(wanted, sizeof wanted, "filter: where:1: %s\n", said[i][1]);
        expect_failed(&f, gale_null(), wanted);
        end(&f);
    }
}

static void a_map_a_route_and_a_flat_map_count(void **state) {
    (void)state;
    fixture f;
    gale_assignment set[2] = { { "a", "metric.count('set', 2)" }, { "b", "metric.count('set') or status" } };
    gale_map_options map = { .size = sizeof map, .fields = "path, status, ms", .drop = "path, status, ms", .set = set };
    gale_route routes[1] = { { "slow", "metric.observe('took', ms) or ms > 1" } };
    gale_route_options route = { .size = sizeof route, .fields = "ms", .routes = routes, .route_count = 1 };
    gale_flat_map_options flat = {
        .size = sizeof flat, .fields = "path", .as = "x", .each = "metric.gauge('size', #path) or { path }"
    };
    map.set_count = 2;
    begin(&f);
    prepare(&f, gale_map_bolt(&map, &f.bolt, &f.error));
    assert_int_equal(take(&f, "/a", 7, gale_f64(1)), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "[null,7]\n");
    expect_metric(&f, "set", GALE_METRIC_COUNTER, 3, 1, 2);
    end(&f);
    begin(&f);
    prepare(&f, gale_route_bolt(&route, &f.bolt, &f.error));
    assert_int_equal(take(&f, "/a", 7, gale_f64(3)), 0);
    expect_metric(&f, "took", GALE_METRIC_HISTOGRAM, 3, 3, 1);
    end(&f);
    begin(&f);
    prepare(&f, gale_flat_map_bolt(&flat, &f.bolt, &f.error));
    assert_int_equal(take(&f, "/abc", 7, gale_null()), 0);
    expect_metric(&f, "size", GALE_METRIC_GAUGE, 4, 4, 1);
    end(&f);
}

static void a_window_counts_its_rows(void **state) {
    (void)state;
    fixture f;
    gale_window_options window = { .size = sizeof window, .key = "path", .aggregates = "count", .length = 10 };
    gale_having_options having = { .size = sizeof having,
                                   .expression = "metric.count('rows') or metric.observe('tuples', count)" };
    begin(&f);
    assert_int_equal(gale_window_having(&having, &window, &f.error), 0);
    prepare(&f, gale_window_bolt(&window, &f.bolt, &f.error));
    take(&f, "/a", 1, gale_null());
    take(&f, "/a", 1, gale_null());
    take(&f, "/b", 1, gale_null());
    assert_null(find(&f, "rows"));
    assert_int_equal(f.bolt.ops->finish(f.self, &f.fake.collector), 0);
    expect_metric(&f, "rows", GALE_METRIC_COUNTER, 2, 1, 2);
    assert_true(find(&f, "tuples")->sum == 3);
    end(&f);
}

/* --- What is wrong --- */

static void a_value_that_cannot_be_noted_fails_the_tuple_and_notes_nothing(void **state) {
    (void)state;
    fixture f;
    begin_filter(&f, "status > 0 and\nmetric.count('bytes', ms)");
    expect_failed(&f, gale_f64(-1),
                  "filter: where:2: bad argument #2 to 'count' (is below 0); with status = 1, ms = -1.0\n");
    expect_failed(&f, gale_f64(INFINITY),
                  "filter: where:2: bad argument #2 to 'count' (is no finite number); with status = 1, ms = null\n");
    expect_failed(&f, gale_f64(NAN),
                  "filter: where:2: bad argument #2 to 'count' (is no finite number); with status = 1, ms = null\n");
    expect_failed(
        &f, gale_null(),
        "filter: where:2: bad argument #2 to 'count' (number expected, got nil); with status = 1, ms = null\n");
    expect_failed(
        &f, gale_text("x"),
        "filter: where:2: bad argument #2 to 'count' (number expected, got string); with status = 1, ms = \"x\"\n");
    assert_null(find(&f, "bytes"));
    end(&f);
    begin_filter(&f, "metric.observe('took', ms)");
    expect_failed(&f, gale_f64(-1), "filter: where:1: bad argument #2 to 'observe' (is below 0); with ms = -1.0\n");
    end(&f);
    begin_filter(&f, "metric.gauge('took')");
    expect_failed(&f, gale_null(), "filter: where:1: bad argument #2 to 'gauge' (number expected, got no value)\n");
    end(&f);
}

static void a_name_that_cannot_be_fails_the_tuple(void **state) {
    (void)state;
    fixture f;
    begin_filter(&f, "metric.count('a') or metric.gauge('a', 1)");
    expect_failed(&f, gale_null(), "filter: where:1: 'a' can be no metric here: the report before this one says why\n");
    expect_metric(&f, "a", GALE_METRIC_COUNTER, 1, 1, 1);
    end(&f);
    begin_filter(&f, "metric.count('a\\0b')");
    expect_failed(&f, gale_null(), "filter: where:1: bad argument #1 to 'count' (has a zero byte)\n");
    end(&f);
    begin_filter(&f, "metric.count(ms)");
    expect_failed(&f, gale_null(),
                  "filter: where:1: bad argument #1 to 'count' (string expected, got nil); with ms = null\n");
    end(&f);
}

static void past_the_limit_of_names_the_tuple_fails_and_known_names_go_on(void **state) {
    (void)state;
    fixture f;
    begin_filter(&f, "metric.count('n' .. status)");
    for (int i = 0; i < FAKE_METRICS_MAX; i++) assert_int_equal(take(&f, "/a", i, gale_null()), 0);
    assert_int_equal(take(&f, "/a", FAKE_METRICS_MAX, gale_null()), GALE_TYPE);
    assert_string_equal(fake_text(&f.fake.reports), "filter: where:1: 'n8' is one metric too many: a task has at most "
                                                    "64, a topology 1024 names; with status = 8\n");
    assert_int_equal(take(&f, "/a", 0, gale_null()), 0);
    expect_metric(&f, "n0", GALE_METRIC_COUNTER, 2, 1, 2);
    end(&f);
}

static void an_engine_that_refuses_is_told_in_words(void **state) {
    (void)state;
    fixture f;
    begin_filter(&f, "metric.count('a')");
    refusal = GALE_STOPPED;
    expect_failed(&f, gale_null(), "filter: where:1: there is no metric 'a': the runtime has stopped\n");
    refusal = 0;
    assert_int_equal(take(&f, "/a", 1, gale_null()), 0);
    expect_metric(&f, "a", GALE_METRIC_COUNTER, 1, 1, 1);
    end(&f);
}

static void where_nobody_reads_them_nothing_is_noted(void **state) {
    (void)state;
    fixture f;
    begin_filter(&f, "metric.count('seen') or true");
    f.ops.metric_new = NULL;
    assert_int_equal(take(&f, "/a", 1, gale_null()), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "[\"/a\",1,null]\n");
    end(&f);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    fixture f;
    gale_filter_options options = { .size = sizeof options,
                                    .fields = "path",
                                    .where = "metric.count('n' .. path) or true" };
    bool whole = false;
    for (uint64_t n = 1; !whole; n++) {
        begin(&f);
        assert_int_equal(gale_filter_bolt(&options, &f.bolt, &f.error), 0);
        f.fake.fail_at = n;
        int rc = fake_prepare(&f.fake, &f.bolt, &f.self);
        if (rc == 0) rc = take(&f, "a", 1, gale_null());
        whole = f.fake.allocations < n;
        f.fake.fail_at = 0;
        assert_true(rc == 0 || rc == GALE_NO_MEMORY || rc == GALE_TOO_LARGE);
        if (f.self) {
            assert_int_equal(take(&f, "a", 1, gale_null()), 0);
            expect_metric(&f, "na", GALE_METRIC_COUNTER, rc == 0 ? 2 : 1, 1, rc == 0 ? 2 : 1);
        }
        end(&f);
        assert_true(n < 5000);
    }
}

/* --- What it costs --- */

static void a_metric_is_made_once_and_a_tuple_takes_no_memory(void **state) {
    (void)state;
    fixture f;
    begin_filter(&f, "metric.count('seen') or metric.observe('took', ms) or metric.gauge('status', status)");
    for (int i = 0; i < 100; i++) take(&f, "/a", i, gale_f64(i));
    assert_int_equal(asked, 3);
    uint64_t before = f.fake.allocations;
    for (int i = 0; i < 10000; i++) take(&f, "/a", i, gale_f64(i));
    assert_int_equal(f.fake.allocations, before);
    assert_int_equal(asked, 3);
    assert_int_equal(find(&f, "seen")->count, 10100);
    end(&f);
}

/* --- Names --- */

static void a_field_may_be_called_as_the_metrics_are(void **state) {
    (void)state;
    fixture f;
    gale_filter_options options = {
        .size = sizeof options,
        .fields = "metric, count",
        .where = "metric:sub(1, 2) == '/a' and count > 1 and not metric.count(metric:sub(2))"
    };
    begin(&f);
    fake_source(&f.fake, "parse", "metric, count, ms");
    prepare(&f, gale_filter_bolt(&options, &f.bolt, &f.error));
    assert_int_equal(take(&f, "/abc", 2, gale_null()), 0);
    assert_string_equal(fake_text(&f.fake.emitted), "[\"/abc\",2]\n");
    expect_metric(&f, "abc", GALE_METRIC_COUNTER, 1, 1, 1);
    end(&f);
}

static void a_word_that_is_near_is_told(void **state) {
    (void)state;
    static const char *const said[][2] = { { "count('a')", "count'; did you mean 'metric.count'?" },
                                           { "gauge('a', 1)", "gauge'; did you mean 'metric.gauge'?" },
                                           { "counter('a')", "counter'; did you mean 'metric.count'?" } };
    fixture f;
    char wanted[200];
    begin(&f);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        gale_filter_options options = { .size = sizeof options, .fields = "path", .where = said[i][0] };
        assert_int_equal(gale_filter_bolt(&options, &f.bolt, &f.error), GALE_SYNTAX);
        snprintf(wanted, sizeof wanted, "filter: where:1:1: there is no function '%s", said[i][1]);
        assert_string_equal(f.error.text, wanted);
    }
    fake_fini(&f.fake);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_counts_and_passes_what_it_would),
        cmocka_unit_test(a_block_notes_to_all_kinds),
        cmocka_unit_test(a_name_may_be_computed),
        cmocka_unit_test(labels_make_series),
        cmocka_unit_test(a_help_text_is_the_fourth_argument_and_nothing_else),
        cmocka_unit_test(labels_that_cannot_be_fail_the_tuple),
        cmocka_unit_test(a_map_a_route_and_a_flat_map_count),
        cmocka_unit_test(a_window_counts_its_rows),
        cmocka_unit_test(a_value_that_cannot_be_noted_fails_the_tuple_and_notes_nothing),
        cmocka_unit_test(a_name_that_cannot_be_fails_the_tuple),
        cmocka_unit_test(past_the_limit_of_names_the_tuple_fails_and_known_names_go_on),
        cmocka_unit_test(an_engine_that_refuses_is_told_in_words),
        cmocka_unit_test(where_nobody_reads_them_nothing_is_noted),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(a_metric_is_made_once_and_a_tuple_takes_no_memory),
        cmocka_unit_test(a_field_may_be_called_as_the_metrics_are),
        cmocka_unit_test(a_word_that_is_near_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
