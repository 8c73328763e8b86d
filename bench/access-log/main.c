/* The operator's job of examples/access-log in C: the same components, but for expressions and templates, which are functions
 * here.
 *
 *     gale_bench_access_log LOG      writes top.json, failures.tsv and alerts.txt */
#include <gale/gale.h>
#include <stdio.h>

/* --- What expressions do in the file --- */

/* Where fields of an access log stand: gale_access_log_bolt. */
enum { TIME = 2, STATUS = 4, BYTES = 5, PATH = 9 };

static int request_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    gale_value values[4] = { gale_tuple_value(tuple, TIME), gale_tuple_value(tuple, PATH),
                             gale_tuple_value(tuple, BYTES), gale_i64(gale_tuple_value(tuple, STATUS).as.i64 >= 500) };
    int rc = gale_emit(out, 0, values, 4);
    return rc < 0 ? rc : 0;
}

/* start, end, count, failed */
static int alert_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    char text[200];
    snprintf(text, sizeof text, "%lld of %lld requests failed in the ten seconds before %lld",
             (long long)gale_tuple_value(tuple, 3).as.i64, (long long)gale_tuple_value(tuple, 2).as.i64,
             (long long)gale_tuple_value(tuple, 1).as.i64);
    gale_value line = gale_text(text);
    int rc = gale_emit(out, 0, &line, 1);
    return rc < 0 ? rc : 0;
}

/* path, start, end, count, failed */
static int has_failures(void *self, const gale_value *row, size_t count, gale_error *error) {
    (void)self, (void)error;
    return row[count - 1].as.i64 > 0;
}

static int is_unwell(void *self, const gale_value *row, size_t count, gale_error *error) {
    (void)self, (void)error;
    return (double)row[count - 1].as.i64 > 0.05 * (double)row[count - 2].as.i64;
}

/* --- The topology --- */

static const gale_bolt_ops request_ops = {
    .size = sizeof request_ops, .name = "request", .kind = GALE_BOLT_SIMPLE, .execute = request_execute
};
static const gale_bolt_ops alert_ops = {
    .size = sizeof alert_ops, .name = "alert", .kind = GALE_BOLT_SIMPLE, .execute = alert_execute
};
static const gale_output request_output = { NULL, "time, path, bytes, failed" }, alert_output = { NULL, "line" };

typedef struct job {
    gale_topology *topology;
    gale_error error;
    int rc;
} job;

static void add(job *j, const char *name, gale_bolt bolt, int rc) {
    if (j->rc >= 0) j->rc = rc;
    if (j->rc >= 0) j->rc = gale_topology_add_bolt(j->topology, name, bolt, 1);
}

static void add_own(job *j, const char *name, const gale_bolt_ops *ops, const gale_output *output) {
    gale_bolt bolt = { .size = sizeof bolt, .ops = ops, .outputs = output, .output_count = 1 };
    add(j, name, bolt, 0);
}

static void add_window(job *j, const char *name, gale_window_options options) {
    gale_bolt bolt = { .size = 0 };
    options.size = sizeof options;
    options.time = "time";
    int rc = gale_window_bolt(&options, &bolt, &j->error);
    add(j, name, bolt, rc);
}

static void add_sink(job *j, const char *name, const char *path, int32_t format) {
    gale_bolt bolt = { .size = 0 };
    gale_file_sink_options options = { .size = sizeof options, .path = path, .format = format, .overwrite = true };
    int rc = gale_file_sink_bolt(&options, &bolt, &j->error);
    add(j, name, bolt, rc);
}

static void add_all(job *j, const char *log) {
    gale_spout lines = { .size = 0 };
    gale_bolt parse = { .size = 0 }, clock = { .size = 0 };
    gale_file_spout_options file = { .size = sizeof file, .path = log };
    gale_event_time_options by = { .size = sizeof by, .output = "time, path, bytes, failed", .lateness_seconds = 2 };
    j->rc = gale_file_spout(&file, &lines, &j->error);
    if (j->rc >= 0) j->rc = gale_topology_add_spout(j->topology, "log", lines, 1);
    int rc = gale_access_log_bolt(NULL, &parse, &j->error);
    add(j, "parse", parse, rc);
    add_own(j, "request", &request_ops, &request_output);
    rc = gale_event_time_bolt(&by, &clock, &j->error);
    add(j, "clock", clock, rc);
    add_window(j, "top",
               (gale_window_options){ .aggregates = "top(path, 10) as by_count, top(path, 10, bytes) as by_bytes",
                                      .length = 10,
                                      .counters = 100000 });
    add_window(j, "failures",
               (gale_window_options){
                   .key = "path", .aggregates = "count, sum(failed) as failed", .length = 60, .having = has_failures });
    add_window(
        j, "health",
        (gale_window_options){ .aggregates = "count, sum(failed) as failed", .length = 10, .having = is_unwell });
    add_own(j, "alert", &alert_ops, &alert_output);
    add_sink(j, "top-file", "top.json", GALE_FILE_JSON);
    add_sink(j, "failures-file", "failures.tsv", GALE_FILE_TSV);
    add_sink(j, "alert-file", "alerts.txt", GALE_FILE_TEXT);
}

static void subscribe_all(job *j) {
    static const char *const pairs[][2] = {
        { "parse", "log" },    { "request", "parse" },    { "clock", "request" },
        { "top", "clock" },    { "health", "clock" },     { "top-file", "top" },
        { "alert", "health" }, { "alert-file", "alert" }, { "failures-file", "failures" }
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        gale_topology_subscribe(j->topology, pairs[i][0], pairs[i][1], NULL, gale_shuffle());
    gale_topology_subscribe(j->topology, "failures", "clock", NULL, gale_fields("path"));
    gale_topology_subscribe(j->topology, "top", "clock", "watermark", gale_all());
    gale_topology_subscribe(j->topology, "failures", "clock", "watermark", gale_all());
    gale_topology_subscribe(j->topology, "health", "clock", "watermark", gale_all());
}

static int run(job *j) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_runtime *runtime = NULL;
    options.until_drained = true;
    int rc = gale_runtime_new(j->topology, &options, &runtime, &j->error);
    if (rc >= 0) rc = gale_runtime_run(runtime, &j->error);
    gale_runtime_free(runtime, -1, NULL);
    return rc;
}

int main(int argc, char **argv) {
    job j = { .topology = gale_topology_new("access-log"), .error = GALE_ERROR_INIT };
    if (argc != 2) return fprintf(stderr, "usage: gale_bench_access_log LOG\n"), 2;
    add_all(&j, argv[1]);
    subscribe_all(&j);
    if (j.rc >= 0) j.rc = run(&j);
    if (j.rc < 0) fprintf(stderr, "%s\n", j.error.text);
    gale_topology_free(j.topology);
    return j.rc < 0;
}
