/* Components' own metrics (gale/metric.h): what is noted, what is refused, and what a reader sees, also while threads note. */
#include "harness/counting_allocator.h"
#include "runtime/rig.h"

#include <float.h>
#include <gale/metric.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static rig_spout spout;
static rig_bolt a, c;
static rig r;

static int metric_of(gale_collector *out, const char *name, int32_t kind, gale_metric **ret) {
    const gale_metric_options options = { .size = sizeof options, .name = name, .kind = kind };
    return gale_metric_new(out, &options, ret);
}

static int note(gale_collector *out, const char *name, int32_t kind, double value) {
    gale_metric *metric = NULL;
    int rc = metric_of(out, name, kind, &metric);
    return rc < 0 ? rc : gale_metric_note(metric, value);
}

static void build(uint64_t to_emit, int (*on)(rig_bolt *, const gale_tuple *, gale_collector *), uint32_t tasks) {
    memset(&spout, 0, sizeof spout);
    memset(&a, 0, sizeof a);
    memset(&c, 0, sizeof c);
    spout.to_emit = to_emit;
    a.on = on;
    c.on = rig_take;
    rig_init(&r);
    gale_topology_add_spout(r.topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "a", rig_simple(&a), tasks);
    gale_topology_add_bolt(r.topology, "c", rig_simple(&c), 1);
    gale_topology_subscribe(r.topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r.topology, "c", "spout", NULL, gale_shuffle());
}

static void run(uint64_t to_emit, int (*on)(rig_bolt *, const gale_tuple *, gale_collector *)) {
    build(to_emit, on, 1);
    rig_make(&r, 1);
    rig_settle(&r);
}

static gale_metric_stats read_all(const char *component, const char *name) {
    gale_metric_stats stats = { .size = sizeof stats };
    assert_int_equal(gale_runtime_metric(r.runtime, component, name, NULL, 0, NULL, &stats), GALE_OK);
    assert_string_equal(stats.name, name);
    return stats;
}

static double number(const gale_tuple *tuple) {
    return (double)gale_tuple_value(tuple, 0).as.i64;
}

/* --- What is noted ------------------------------------------------------------------------------------------------ */

static int note_each(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt;
    assert_int_equal(note(out, "rows", GALE_METRIC_COUNTER, 2), 0);
    assert_int_equal(note(out, "level", GALE_METRIC_GAUGE, -number(tuple)), 0);
    assert_int_equal(note(out, "took", GALE_METRIC_HISTOGRAM, number(tuple) / 1000), 0);
    return 0;
}

static void a_counter_adds_a_gauge_is_the_last_and_a_histogram_is_all_of_them(void **state) {
    (void)state;
    run(1000, note_each);
    gale_metric_stats rows = read_all("a", "rows"), level = read_all("a", "level"), took = read_all("a", "took");
    assert_int_equal(rows.kind, GALE_METRIC_COUNTER);
    assert_true(rows.value == 2000 && rows.count == 1000 && rows.tasks == 1 && rows.max == 0 && rows.p99 == 0);
    assert_int_equal(level.kind, GALE_METRIC_GAUGE);
    assert_true(level.value == -(double)(spout.emitted - 1) || level.value == -(double)spout.emitted);
    assert_int_equal(took.kind, GALE_METRIC_HISTOGRAM);
    assert_int_equal(took.count, 1000);
    assert_true(took.value > 499 && took.value < 501);
    assert_true(took.max >= 0.999 && took.max <= 1.0 && took.p99 <= took.max);
    assert_true(took.p50 >= 0.499 && took.p50 < 0.501 * 33 / 32 && took.p90 >= 0.899 && took.p90 <= took.p99);
    rig_fini(&r);
}

static int only_make(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    static const char *const names[] = { "none_yet", "nothing_yet", "never_yet" };
    (void)bolt, (void)tuple;
    for (int32_t kind = 0; kind < GALE_METRIC_KIND_COUNT; kind++) {
        gale_metric *metric = NULL;
        assert_int_equal(metric_of(out, names[kind], kind, &metric), 0);
    }
    return 0;
}

static void one_that_nothing_was_noted_to_is_there_and_is_0(void **state) {
    (void)state;
    run(1, only_make);
    gale_metric_stats stats;
    uint32_t task = rig_task_number(&r, "a", 0), index = 0;
    for (; stats.size = sizeof stats, gale_runtime_metric_stats(r.runtime, task, index, &stats); index++) {
        assert_int_equal(stats.kind, index);
        assert_true(stats.value == 0 && stats.count == 0 && stats.max == 0 && stats.p50 == 0);
        assert_string_equal(stats.help, "");
    }
    assert_int_equal(index, GALE_METRIC_KIND_COUNT);
    rig_fini(&r);
}

static int extremes(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt, (void)tuple;
    note(out, "tiny", GALE_METRIC_HISTOGRAM, 4e-7);
    note(out, "small", GALE_METRIC_HISTOGRAM, 6e-7);
    note(out, "huge", GALE_METRIC_HISTOGRAM, 1e300);
    note(out, "zero", GALE_METRIC_HISTOGRAM, 0);
    return 0;
}

static void a_histograms_limits_are_those_that_the_header_says(void **state) {
    (void)state;
    run(1, extremes);
    assert_true(read_all("a", "tiny").p50 == 0 && read_all("a", "tiny").max == 4e-7);
    assert_true(read_all("a", "small").p50 == 6e-7); /* a millionth, and never above the largest */
    assert_true(read_all("a", "huge").p50 > 4.6e12 && read_all("a", "huge").p50 < 4.7e12);
    assert_true(read_all("a", "huge").max == 1e300 && read_all("a", "huge").value == 1e300);
    assert_true(read_all("a", "zero").p99 == 0 && read_all("a", "zero").count == 1);
    rig_fini(&r);
}

/* --- What is refused ---------------------------------------------------------------------------------------------- */

static int note_nonsense(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    static const double none[] = { NAN, INFINITY, -INFINITY };
    (void)bolt, (void)tuple;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(note(out, "rows", GALE_METRIC_COUNTER, none[i]), GALE_INVALID);
        assert_int_equal(note(out, "level", GALE_METRIC_GAUGE, none[i]), GALE_INVALID);
        assert_int_equal(note(out, "took", GALE_METRIC_HISTOGRAM, none[i]), GALE_INVALID);
    }
    assert_int_equal(note(out, "rows", GALE_METRIC_COUNTER, -1), GALE_INVALID);
    assert_int_equal(note(out, "took", GALE_METRIC_HISTOGRAM, -1e-9), GALE_INVALID);
    assert_int_equal(note(out, "rows", GALE_METRIC_COUNTER, DBL_MAX), 0);
    assert_int_equal(note(out, "rows", GALE_METRIC_COUNTER, DBL_MAX), GALE_INVALID); /* an infinite sum */
    assert_int_equal(gale_metric_note(NULL, 1), GALE_INVALID);
    return 0;
}

static void what_is_no_figure_is_refused_and_nothing_is_noted(void **state) {
    (void)state;
    run(1, note_nonsense);
    assert_true(read_all("a", "rows").value == DBL_MAX && read_all("a", "rows").count == 1);
    assert_true(read_all("a", "level").value == 0 && read_all("a", "level").count == 0);
    assert_true(read_all("a", "took").value == 0 && read_all("a", "took").count == 0);
    assert_int_equal(rig_task(&r, "a", 0).misused, 12);
    rig_fini(&r);
}

static int name_them(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    static const char *const bad[] = { "", "1st", "a-b", "a.b", "a b", "\xc3\xa4", "a:b", "rows_total", "_total" };
    static const char *const gauges[] = { "x_count", "x_sum", "x_bucket", "x_total" };
    char longest[GALE_METRIC_NAME_MAX + 2];
    gale_metric *metric = NULL;
    (void)bolt, (void)tuple;
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(metric_of(out, bad[i], GALE_METRIC_COUNTER, &metric), GALE_INVALID);
    for (size_t i = 0; i < sizeof gauges / sizeof *gauges; i++)
        assert_int_equal(metric_of(out, gauges[i], GALE_METRIC_GAUGE, &metric), GALE_INVALID);
    assert_int_equal(metric_of(out, NULL, GALE_METRIC_COUNTER, &metric), GALE_INVALID);
    assert_int_equal(metric_of(out, "a", -1, &metric), GALE_INVALID);
    assert_int_equal(metric_of(out, "a", GALE_METRIC_KIND_COUNT, &metric), GALE_INVALID);
    assert_int_equal(metric_of(out, "a", GALE_METRIC_COUNTER, NULL), GALE_INVALID);
    assert_int_equal(gale_metric_new(out, NULL, &metric), GALE_INVALID);
    assert_int_equal(gale_metric_new(out, &(gale_metric_options){ .name = "a" }, &metric), GALE_INVALID);
    assert_null(metric);
    assert_int_equal(metric_of(out, longest + 1, GALE_METRIC_COUNTER, &metric), 0);
    assert_int_equal(metric_of(out, longest, GALE_METRIC_COUNTER, &metric), GALE_INVALID);
    assert_int_equal(metric_of(out, "word_count", GALE_METRIC_COUNTER, &metric), 0);
    assert_int_equal(metric_of(out, "_", GALE_METRIC_GAUGE, &metric), 0);
    return 0;
}

static void names_are_those_that_readers_take(void **state) {
    (void)state;
    run(1, name_them);
    assert_int_equal(spout.acks, 1);
    assert_true(read_all("a", "word_count").tasks == 1);
    assert_false(gale_runtime_metric_stats(r.runtime, rig_task_number(&r, "a", 0), 3, &(gale_metric_stats){ 0 }));
    rig_fini(&r);
}

static int counts_rows(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt, (void)tuple;
    return note(out, "rows", GALE_METRIC_COUNTER, 1);
}

static int levels_rows(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_metric *metric = NULL;
    (void)bolt, (void)tuple;
    assert_int_equal(note(out, "rows", GALE_METRIC_COUNTER, 1), 0); /* the same kind: another task's figure */
    return metric_of(out, "rows", GALE_METRIC_GAUGE, &metric);
}

static int levels_others(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_metric *metric = NULL;
    (void)bolt, (void)tuple;
    return metric_of(out, "rows", GALE_METRIC_HISTOGRAM, &metric);
}

static void a_name_has_one_kind_in_a_topology_and_the_error_names_both_places(void **state) {
    (void)state;
    build(1, counts_rows, 1);
    c.on = levels_others;
    rig_make(&r, 1);
    rig_settle(&r);
    assert_int_equal(spout.fails, 1);
    bool a_was_first = strcmp(spout.last_component, "c") == 0;
    assert_string_equal(spout.last_text,
                        a_was_first
                            ? "metric 'rows' is a counter of 'a' (task 1), and cannot be a histogram of 'c' (task 2)"
                            : "metric 'rows' is a histogram of 'c' (task 2), and cannot be a counter of 'a' (task 1)");
    rig_fini(&r);
    run(1, levels_rows);
    assert_string_equal(spout.last_text,
                        "metric 'rows' is a counter of 'a' (task 1), and cannot be a gauge of 'a' (task 1)");
    rig_fini(&r);
}

static int make_too_many(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    char name[32];
    gale_metric *metric = NULL, *again = NULL;
    (void)tuple;
    for (int i = 0; i < GALE_METRICS_MAX; i++) {
        snprintf(name, sizeof name, "m%d", i);
        assert_int_equal(metric_of(out, name, i % 2, &metric), 0);
        assert_int_equal(metric_of(out, name, i % 2, &again), 0);
        assert_ptr_equal(again, metric);
    }
    assert_int_equal(metric_of(out, "one_more", GALE_METRIC_COUNTER, &again), GALE_TOO_LARGE);
    assert_ptr_equal(again, metric);
    assert_int_equal(metric_of(out, "m0", GALE_METRIC_COUNTER, &again), 0);
    bolt->seen++;
    return 0;
}

static void a_task_has_so_many_and_hears_once_that_it_wants_more(void **state) {
    (void)state;
    run(10, make_too_many);
    assert_int_equal(a.seen, 10);
    assert_int_equal(rig_task(&r, "a", 0).errors, 1);
    gale_metric_stats stats = { .size = sizeof stats };
    assert_true(gale_runtime_metric_stats(r.runtime, rig_task_number(&r, "a", 0), GALE_METRICS_MAX - 1, &stats));
    assert_string_equal(stats.name, "m63");
    assert_false(gale_runtime_metric_stats(r.runtime, rig_task_number(&r, "a", 0), GALE_METRICS_MAX, &stats));
    rig_fini(&r);
}

static uint32_t made_names;

/* Names that no other task has, as far as there is room. */
static int make_names(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    char name[32];
    gale_metric *metric = NULL;
    (void)bolt, (void)tuple;
    for (int i = 0; i < GALE_METRICS_MAX; i++) {
        snprintf(name, sizeof name, "m%u", (unsigned)made_names);
        int rc = metric_of(out, name, GALE_METRIC_COUNTER, &metric);
        assert_int_equal(rc, made_names < GALE_METRIC_NAMES_MAX ? 0 : GALE_TOO_LARGE);
        made_names += rc == 0;
    }
    return 0;
}

static void a_topology_has_so_many_names(void **state) {
    enum { TASKS = GALE_METRIC_NAMES_MAX / GALE_METRICS_MAX + 1 };
    (void)state;
    static rig_bolt namer = { .on = make_names };
    made_names = 0;
    build(1, rig_take, 1);
    gale_topology_add_bolt(r.topology, "all", rig_simple(&namer), TASKS);
    gale_topology_subscribe(r.topology, "all", "spout", NULL, gale_all());
    rig_make(&r, 1);
    rig_settle(&r);
    assert_int_equal(made_names, GALE_METRIC_NAMES_MAX);
    assert_int_equal(spout.acks, 1);
    rig_fini(&r);
}

static int with_an_older_header(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    const gale_collector_ops *ops = out->ops;
    gale_collector_ops shorter = *ops;
    gale_metric *metric = NULL;
    (void)bolt, (void)tuple;
    shorter.size = offsetof(gale_collector_ops, metric_new);
    out->ops = &shorter;
    assert_int_equal(metric_of(out, "rows", GALE_METRIC_COUNTER, &metric), GALE_UNSUPPORTED);
    out->ops = ops;
    assert_null(metric);
    return 0;
}

static void a_collector_of_an_older_gale_has_none(void **state) {
    (void)state;
    run(1, with_an_older_header);
    assert_int_equal(spout.acks, 1);
    rig_fini(&r);
}

#if defined(GALE_CHECKS) && GALE_CHECKS >= 1
static void *note_from_elsewhere(void *collector) {
    gale_metric *metric = NULL;
    assert_int_equal(metric_of(collector, "rows", GALE_METRIC_COUNTER, &metric), GALE_THREAD);
    assert_int_equal(gale_metric_note(a.user, 1), GALE_THREAD);
    return NULL;
}

static int ask_another_thread(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    pthread_t thread;
    gale_metric *metric = NULL;
    (void)tuple;
    assert_int_equal(metric_of(out, "rows", GALE_METRIC_COUNTER, &metric), 0);
    bolt->user = metric;
    assert_int_equal(pthread_create(&thread, NULL, note_from_elsewhere, out), 0);
    return pthread_join(thread, NULL);
}

static void another_thread_than_the_tasks_is_refused_in_builds_with_checks(void **state) {
    (void)state;
    run(1, ask_another_thread);
    assert_int_equal(spout.acks, 1);
    assert_true(read_all("a", "rows").count == 0);
    rig_fini(&r);
}
#endif

/* --- Labels ------------------------------------------------------------------------------------------------------- */

static int labelled(gale_collector *out, const char *name, int32_t kind, const gale_metric_label *labels,
                    uint32_t count, double value) {
    const gale_metric_options options = {
        .size = sizeof options, .name = name, .kind = kind, .labels = labels, .label_count = count
    };
    gale_metric *metric = NULL;
    int rc = gale_metric_new(out, &options, &metric);
    return rc < 0 ? rc : gale_metric_note(metric, value);
}

static gale_metric_stats read_series(const char *component, const char *name, const gale_metric_label *labels,
                                     uint32_t count) {
    gale_metric_stats stats = { .size = sizeof stats };
    assert_int_equal(gale_runtime_metric_series(r.runtime, component, name, labels, count, NULL, 0, NULL, &stats), 0);
    return stats;
}

static int note_by_parity(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    bool even = gale_tuple_value(tuple, 0).as.i64 % 2 == 0;
    const gale_metric_label one[] = { { "url", even ? "/a" : "/b" }, { "method", "GET" } };
    const gale_metric_label other[] = { { "method", "GET" }, { "url", even ? "/a" : "/b" } };
    (void)bolt;
    assert_int_equal(labelled(out, "asked", GALE_METRIC_COUNTER, one, 2, 1), 0);
    assert_int_equal(labelled(out, "asked", GALE_METRIC_COUNTER, other, 2, 1), 0);
    return labelled(out, "took", GALE_METRIC_HISTOGRAM, one, 1, even ? 2 : 8);
}

static void each_set_of_values_is_a_series_whatever_the_order_of_its_labels(void **state) {
    static const gale_metric_label get_a[] = { { "url", "/a" }, { "method", "GET" } },
                                   get_b[] = { { "method", "GET" }, { "url", "/b" } };
    static const gale_metric_label none[] = { { "method", "GET" }, { "url", "/c" } }, few[] = { { "url", "/a" } };
    static rig_bolt d = { .on = note_by_parity };
    (void)state;
    build(100, note_by_parity, 1);
    gale_topology_add_bolt(r.topology, "d", rig_simple(&d), 4);
    gale_topology_subscribe(r.topology, "d", "spout", NULL, gale_shuffle());
    rig_make(&r, 1);
    rig_settle(&r);
    assert_true(read_series("a", "asked", get_a, 2).value == 100 && read_series("a", "asked", get_b, 2).value == 100);
    assert_true(read_series("d", "asked", get_a, 2).value == 100 && read_series(NULL, "asked", get_b, 2).value == 200);
    assert_true(read_all("a", "asked").value == 200 && read_all("a", "asked").tasks == 1);
    assert_true(read_all("a", "asked").label_count == 0);
    gale_metric_stats stats = read_series("a", "asked", get_b, 2);
    assert_int_equal(stats.label_count, 2);
    assert_string_equal(stats.labels[0].name, "method");
    assert_string_equal(stats.labels[1].value, "/b");
    assert_true(read_series("a", "took", few, 1).max == 2 && read_all("a", "took").max == 8);
    assert_int_equal(gale_runtime_metric_series(r.runtime, "a", "asked", none, 2, NULL, 0, NULL, &stats),
                     GALE_NOT_FOUND);
    assert_int_equal(gale_runtime_metric_series(r.runtime, "a", "asked", few, 1, NULL, 0, NULL, &stats),
                     GALE_NOT_FOUND);
    assert_int_equal(gale_runtime_metric_series(r.runtime, "a", "asked", NULL, 1, NULL, 0, NULL, &stats), GALE_INVALID);
    assert_int_equal(gale_runtime_metric_series(r.runtime, "a", "asked", get_a, 9, NULL, 0, NULL, &stats),
                     GALE_INVALID);
    assert_true(gale_runtime_metric_stats(r.runtime, rig_task_number(&r, "a", 0), 3, &stats));
    assert_false(gale_runtime_metric_stats(r.runtime, rig_task_number(&r, "a", 0), 4, &stats));
    rig_fini(&r);
}

static int label_them(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    static const char *const bad[] = {
        "", "1st", "a-b", "\xc3\xa4", "component", "task", "le", "quantile", "__name__"
    };
    gale_metric_label many[GALE_METRIC_LABELS_MAX + 1];
    const gale_metric_label good[] = { { "a", "" }, { "b", "\xff\"\n" } }, twice[] = { { "a", "1" }, { "a", "2" } };
    (void)bolt, (void)tuple;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(labelled(out, "x", 0, &(gale_metric_label){ bad[i], "1" }, 1, 1), GALE_INVALID);
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) many[i] = good[0];
    assert_int_equal(labelled(out, "x", 0, many, GALE_METRIC_LABELS_MAX + 1, 1), GALE_INVALID);
    assert_int_equal(labelled(out, "x", 0, twice, 2, 1), GALE_INVALID);
    assert_int_equal(labelled(out, "x", 0, NULL, 1, 1), GALE_INVALID);
    assert_int_equal(labelled(out, "x", 0, &(gale_metric_label){ NULL, "1" }, 1, 1), GALE_INVALID);
    assert_int_equal(labelled(out, "x", 0, &(gale_metric_label){ "a", NULL }, 1, 1), GALE_INVALID);
    assert_int_equal(labelled(out, "y", 0, good, 2, 1), 0);
    assert_int_equal(labelled(out, "y", 0, good, 1, 1), GALE_INVALID);
    assert_int_equal(labelled(out, "y", 0, NULL, 0, 1), GALE_INVALID);
    assert_int_equal(labelled(out, "y", 1, good, 2, 1), GALE_INVALID);
    return labelled(out, "y", 0, &(gale_metric_label){ "z", "1" }, 1, 1) == GALE_INVALID ? 0 : GALE_INVALID;
}

static void labels_are_those_that_readers_take_and_of_one_name_always_the_same(void **state) {
    (void)state;
    run(1, label_them);
    assert_int_equal(spout.acks, 1);
    static const gale_metric_label kept[] = { { "b", "?\"\n" }, { "a", "" } };
    assert_true(read_series("a", "y", kept, 2).value == 1);
    assert_false(gale_runtime_metric_stats(r.runtime, rig_task_number(&r, "a", 0), 1, &(gale_metric_stats){ 0 }));
    rig_fini(&r);
}

static uint64_t allocations(void) {
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(r.runtime, &stats);
    return stats.allocations;
}

static int note_often(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    uint64_t before = 0;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(note_by_parity(bolt, tuple, out), 0);
        if (i == 0) before = allocations();
    }
    assert_int_equal(allocations(), before);
    return 0;
}

static void a_series_that_is_there_is_found_without_memory(void **state) {
    (void)state;
    run(1, note_often);
    assert_int_equal(spout.acks, 1);
    assert_true(read_all("a", "asked").value == 2000);
    rig_fini(&r);
}

static int note_by_number(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    char value[32];
    const gale_metric_label label = { "n", value };
    (void)bolt;
    snprintf(value, sizeof value, "%lld", (long long)gale_tuple_value(tuple, 0).as.i64);
    assert_int_equal(labelled(out, "asked", GALE_METRIC_COUNTER, &label, 1, 1), 0);
    assert_int_equal(labelled(out, "took", GALE_METRIC_GAUGE, &label, 1, 1), 0);
    return note(out, "rows", GALE_METRIC_COUNTER, 1);
}

static uint32_t count_series(void) {
    uint32_t count = 0;
    for (gale_metric_stats stats = { .size = sizeof stats };
         gale_runtime_metric_stats(r.runtime, rig_task_number(&r, "a", 0), count, &stats); count++)
        stats.size = sizeof stats;
    return count;
}

static void run_with_series(uint64_t tuples, int64_t most) {
    build(tuples, note_by_number, 1);
    if (most) assert_true(gale_topology_set(r.topology, "a", "gale.metric.series", gale_i64(most)) >= 0);
    rig_make(&r, 1);
    rig_settle(&r);
}

static void further_series_are_counted_as_other_which_is_reported_once(void **state) {
    static const gale_metric_label other = { "n", "other" };
    (void)state;
    run_with_series(1000, 0);
    assert_int_equal(spout.acks, 1000);
    assert_int_equal(count_series(), GALE_METRIC_SERIES + 2 + 1);
    assert_true(read_all("a", "asked").value == 1000 && read_series("a", "asked", &other, 1).value == 900);
    assert_true(read_all("a", "rows").value == 1000);
    assert_int_equal(rig_task(&r, "a", 0).errors, 1);
    rig_fini(&r);
    run_with_series(1000, 10);
    assert_int_equal(count_series(), 10 + 2 + 1);
    assert_true(read_series("a", "asked", &other, 1).value == 995);
    rig_fini(&r);
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

static gale_collector *last_collector;
static gale_metric *last_metric;
static int at_the_end;

static int meter_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context, (void)ret_self;
    last_collector = out;
    return metric_of(out, "rows", GALE_METRIC_COUNTER, &last_metric);
}

static int meter_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self, (void)tuple, (void)out;
    return gale_metric_note(last_metric, 1);
}

static void meter_cleanup(void *self) {
    gale_metric *metric = NULL;
    (void)self;
    at_the_end = metric_of(last_collector, "late", GALE_METRIC_COUNTER, &metric);
    assert_int_equal(gale_metric_note(last_metric, 100), 0);
}

static void none_is_made_at_the_end_and_what_was_noted_can_be_read_after_it(void **state) {
    static const gale_bolt_ops ops = { .size = sizeof ops,
                                       .name = "meter",
                                       .prepare = meter_prepare,
                                       .execute = meter_execute,
                                       .cleanup = meter_cleanup };
    (void)state;
    build(10, rig_take, 1);
    gale_topology_add_bolt(r.topology, "meter", (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops }, 1);
    gale_topology_subscribe(r.topology, "meter", "spout", NULL, gale_shuffle());
    rig_make(&r, 1);
    rig_settle(&r);
    assert_true(read_all("meter", "rows").value == 10);
    rig_drain(&r);
    assert_int_equal(at_the_end, GALE_STOPPED);
    assert_true(read_all("meter", "rows").value == 110);
    rig_fini(&r);
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static int note_size(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt;
    const gale_metric_options options = {
        .size = sizeof options, .name = "size", .kind = GALE_METRIC_HISTOGRAM, .help = "How large\xff it is."
    };
    gale_metric *metric = NULL;
    assert_int_equal(gale_metric_new(out, &options, &metric), 0);
    assert_int_equal(note(out, "rows", GALE_METRIC_COUNTER, 1), 0);
    assert_int_equal(note(out, "level", GALE_METRIC_GAUGE, 5), 0);
    return gale_metric_note(metric, number(tuple) < 100 ? 10 : 1000);
}

static void a_components_figure_is_that_of_its_tasks_together(void **state) {
    static const double bounds[] = { -1, 0, 9, 11, 900, 1100, 1e300 };
    static rig_bolt d = { .on = note_size };
    uint64_t counts[7];
    (void)state;
    build(400, note_size, 1);
    gale_topology_add_bolt(r.topology, "d", rig_simple(&d), 4);
    gale_topology_subscribe(r.topology, "d", "spout", NULL, gale_all());
    rig_make(&r, 2);
    rig_settle(&r);
    assert_true(read_all("d", "rows").value == 1600 && read_all("d", "rows").tasks == 4);
    assert_true(read_all(NULL, "rows").value == 2000 && read_all(NULL, "rows").tasks == 5);
    assert_true(read_all("d", "level").value == 20);
    assert_string_equal(read_all("a", "size").help, "How large? it is.");
    assert_true(read_all("d", "size").max == 1000);
    assert_int_equal(gale_runtime_metric(r.runtime, "d", "size", bounds, 7, counts, NULL), 0);
    assert_true(counts[0] == 0 && counts[1] == 0 && counts[2] == 0);
    assert_true(counts[3] >= 4 * 98 && counts[3] <= 4 * 101 && counts[4] == counts[3]);
    assert_true(counts[5] == 1600 && counts[6] == 1600);
    for (uint32_t i = 0; i < 4; i++) {
        gale_metric_stats one = { .size = sizeof one };
        assert_true(gale_runtime_metric_stats(r.runtime, rig_task_number(&r, "d", i), 1, &one));
        assert_string_equal(one.name, "rows");
        assert_true(one.value == 400 && one.tasks == 1);
    }
    rig_fini(&r);
}

static void what_makes_no_sense_is_refused_by_readers(void **state) {
    static const double falling[] = { 2, 1 }, none[] = { NAN };
    uint64_t counts[2] = { 7, 7 };
    gale_metric_stats stats = { .size = sizeof stats };
    (void)state;
    run(1, note_size);
    uint32_t task = rig_task_number(&r, "a", 0);
    assert_int_equal(gale_runtime_metric(NULL, "a", "size", NULL, 0, NULL, &stats), GALE_INVALID);
    assert_int_equal(gale_runtime_metric(r.runtime, "a", NULL, NULL, 0, NULL, &stats), GALE_INVALID);
    assert_int_equal(gale_runtime_metric(r.runtime, "b", "size", NULL, 0, NULL, &stats), GALE_NOT_FOUND);
    assert_int_equal(gale_runtime_metric(r.runtime, "spout", "size", NULL, 0, NULL, &stats), GALE_NOT_FOUND);
    assert_int_equal(gale_runtime_metric(r.runtime, "a", "sizes", NULL, 0, NULL, &stats), GALE_NOT_FOUND);
    assert_int_equal(gale_runtime_metric(r.runtime, "a", "size", falling, 2, counts, &stats), GALE_INVALID);
    assert_int_equal(gale_runtime_metric(r.runtime, "a", "size", none, 1, counts, &stats), GALE_INVALID);
    assert_int_equal(gale_runtime_metric(r.runtime, "a", "size", falling, 1, NULL, &stats), GALE_INVALID);
    assert_true(counts[0] == 7 && stats.name == NULL);
    assert_int_equal(gale_runtime_metric(r.runtime, "a", "size", NULL, 0, NULL, NULL), GALE_OK);
    assert_false(gale_runtime_metric_stats(NULL, task, 0, &stats));
    assert_false(gale_runtime_metric_stats(r.runtime, 0, 0, &stats));
    assert_false(gale_runtime_metric_stats(r.runtime, 1000, 0, &stats));
    assert_false(gale_runtime_metric_stats(r.runtime, task, UINT32_MAX, &stats));
    assert_false(gale_runtime_metric_stats(r.runtime, task, 0, NULL));
    stats = (gale_metric_stats){ .size = offsetof(gale_metric_stats, value), .value = 77 };
    assert_true(gale_runtime_metric_stats(r.runtime, task, 0, &stats)); /* an older header's */
    assert_true(stats.value == 77 && stats.size == offsetof(gale_metric_stats, value) && stats.tasks == 1);
    assert_string_equal(gale_metric_kind_name(GALE_METRIC_GAUGE), "gauge");
    assert_string_equal(gale_metric_kind_name(-1), "unknown");
    assert_string_equal(gale_metric_kind_name(GALE_METRIC_KIND_COUNT), "unknown");
    rig_fini(&r);
}

/* --- Memory ------------------------------------------------------------------------------------------------------- */

static int note_if_there_is_memory(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)bolt;
    for (int32_t kind = 0; kind < GALE_METRIC_KIND_COUNT; kind++) {
        int rc = note(out, gale_metric_kind_name(kind), kind, number(tuple));
        assert_true(rc == GALE_OK || rc == GALE_NO_MEMORY);
    }
    return 0;
}

/* One that could not be made is made when it is asked for again. */
static void any_allocation_may_fail(void **state) {
    bool reached = true;
    uint64_t n = 1;
    (void)state;
    for (; reached; n++) {
        counting_allocator counting = { .fail_at = n };
        gale_allocator allocator = counting_handle(&counting);
        build(20, note_if_there_is_memory, 2);
        gale_clock clock = gale_manual_clock_handle(r.clock);
        gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
        options.executors = 1;
        options.allocator = &allocator;
        options.clock = &clock;
        options.seed = 1;
        int rc = gale_runtime_new(r.topology, &options, &r.runtime, NULL);
        assert_true(rc == GALE_OK || rc == GALE_NO_MEMORY);
        for (int i = 0; rc == GALE_OK && i < 50; i++) gale_runtime_step(r.runtime);
        if (rc == GALE_OK && a.seen == 0 && spout.acks == 20) assert_true(read_all("a", "counter").count >= 18);
        gale_runtime_free(rc == GALE_OK ? r.runtime : NULL, -1, NULL);
        gale_topology_free(r.topology);
        gale_manual_clock_free(r.clock);
        reached = counting.calls >= n;
        assert_int_equal(counting.blocks, 0);
    }
    assert_true(n > 20);
}

/* --- Threads ------------------------------------------------------------------------------------------------------ */

/* A new metric now and then, as a name that is computed would be. */
static int note_many(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    char name[32];
    (void)bolt;
    snprintf(name, sizeof name, "m%d", (int)number(tuple) / 200);
    assert_int_equal(note(out, name, GALE_METRIC_COUNTER, 1), 0);
    assert_int_equal(note(out, "rows", GALE_METRIC_COUNTER, 1), 0);
    return note(out, "size", GALE_METRIC_HISTOGRAM, number(tuple));
}

/* No figure falls, and what is read is never more than was noted. */
static void look(uint32_t tasks, double *rows, uint64_t *sizes) {
    gale_metric_stats stats = { .size = sizeof stats };
    for (uint32_t task = 1; task <= tasks; task++)
        for (uint32_t i = 0; stats.size = sizeof stats, gale_runtime_metric_stats(r.runtime, task, i, &stats); i++)
            assert_true(stats.name[0] && stats.value >= 0 && stats.p50 <= stats.max);
    if (gale_runtime_metric(r.runtime, NULL, "rows", NULL, 0, NULL, &stats) == GALE_OK) {
        assert_true(stats.value >= *rows && stats.value <= 2 * RIG_TUPLES_MAX);
        *rows = stats.value;
    }
    if (gale_runtime_metric(r.runtime, "a", "size", NULL, 0, NULL, &stats) == GALE_OK) {
        assert_true(stats.count >= *sizes && stats.count <= RIG_TUPLES_MAX);
        *sizes = stats.count;
    }
}

static void figures_are_read_while_threads_note_and_make_more(void **state) {
    double rows = 0;
    uint64_t sizes = 0;
    (void)state;
    build(RIG_TUPLES_MAX, note_many, 3);
    c.on = note_many;
    gale_clock clock = gale_clock_monotonic();
    gale_runtime_options options = { .size = sizeof options, .executors = 2, .until_drained = true, .clock = &clock };
    rig_make_with(&r, options);
    assert_int_equal(gale_runtime_start(r.runtime, NULL), GALE_OK);
    while (gale_runtime_wait(r.runtime, 0, NULL) == GALE_TIMED_OUT)
        look(gale_runtime_task_count(r.runtime), &rows, &sizes);
    assert_true(read_all(NULL, "rows").value == 2 * RIG_TUPLES_MAX);
    assert_int_equal(read_all("a", "size").count, RIG_TUPLES_MAX);
    rig_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_adds_a_gauge_is_the_last_and_a_histogram_is_all_of_them),
        cmocka_unit_test(one_that_nothing_was_noted_to_is_there_and_is_0),
        cmocka_unit_test(a_histograms_limits_are_those_that_the_header_says),
        cmocka_unit_test(what_is_no_figure_is_refused_and_nothing_is_noted),
        cmocka_unit_test(names_are_those_that_readers_take),
        cmocka_unit_test(a_name_has_one_kind_in_a_topology_and_the_error_names_both_places),
        cmocka_unit_test(a_task_has_so_many_and_hears_once_that_it_wants_more),
        cmocka_unit_test(a_topology_has_so_many_names),
        cmocka_unit_test(a_collector_of_an_older_gale_has_none),
#if defined(GALE_CHECKS) && GALE_CHECKS >= 1
        cmocka_unit_test(another_thread_than_the_tasks_is_refused_in_builds_with_checks),
#endif
        cmocka_unit_test(each_set_of_values_is_a_series_whatever_the_order_of_its_labels),
        cmocka_unit_test(labels_are_those_that_readers_take_and_of_one_name_always_the_same),
        cmocka_unit_test(a_series_that_is_there_is_found_without_memory),
        cmocka_unit_test(further_series_are_counted_as_other_which_is_reported_once),
        cmocka_unit_test(none_is_made_at_the_end_and_what_was_noted_can_be_read_after_it),
        cmocka_unit_test(a_components_figure_is_that_of_its_tasks_together),
        cmocka_unit_test(what_makes_no_sense_is_refused_by_readers),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(figures_are_read_while_threads_note_and_make_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
