/* What expressions cost: a filter written in C, the same as an expression, and one that needs Lua.
 *
 *   gale_bench_script c|quick|lua TUPLES
 *
 * A spout emits (path, status, ms); the filter passes one in ten to a bolt that does nothing. "c" and "quick" say status >= 500;
 * "lua" calls a function of Lua's with three fields. Prints ns a tuple; instructions: callgrind, of two numbers of tuples. */
#include <gale/gale.h>
#include <gale_script.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct source {
    uint64_t next, end;
} source;

static uint64_t tuples;

static int source_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context, (void)out;
    source *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->end = tuples;
    *ret_self = s;
    return 0;
}

static int source_next(void *self, gale_collector *out, gale_wait *wait) {
    source *s = self;
    (void)wait;
    if (s->next == s->end) return GALE_NEXT_DONE;
    gale_value values[3] = { gale_string("/index.html", 11), gale_i64(s->next % 10 ? 200 : 503),
                             gale_f64((double)(s->next % 100)) };
    if (gale_emit_tracked(out, 0, values, 3, s->next) < 0) return GALE_NEXT_NOTHING;
    s->next++;
    return GALE_NEXT_EMITTED;
}

static int filter_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    gale_value status = gale_tuple_value(tuple, 1);
    if (status.type != GALE_TYPE_I64) return GALE_TYPE;
    if (status.as.i64 < 500) return 0;
    gale_value values[3] = { gale_tuple_value(tuple, 0), status, gale_tuple_value(tuple, 2) };
    int rc = gale_emit(out, 0, values, 3);
    return rc < 0 ? rc : 0;
}

static int sink_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self, (void)tuple, (void)out;
    return 0;
}

static const gale_output outputs[] = { { NULL, "path, status, ms" } };

static gale_bolt in_c(void) {
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "filter in C", .kind = GALE_BOLT_SIMPLE, .execute = filter_execute
    };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .outputs = outputs, .output_count = 1 };
}

static gale_bolt by_expression(const char *where) {
    gale_filter_options options = { .size = sizeof options, .fields = "path, status, ms", .where = where };
    gale_error error = GALE_ERROR_INIT;
    gale_bolt bolt;
    if (gale_filter_bolt(&options, &bolt, &error) == 0) return bolt;
    fprintf(stderr, "%s\n", error.text);
    exit(1);
}

static gale_topology *build(const char *how) {
    static const gale_spout_ops source_ops = {
        .size = sizeof source_ops, .name = "source", .open = source_open, .next = source_next, .close = free
    };
    static const gale_bolt_ops sink_ops = {
        .size = sizeof sink_ops, .name = "sink", .kind = GALE_BOLT_SIMPLE, .execute = sink_execute
    };
    gale_spout spout = { .size = sizeof spout, .ops = &source_ops, .outputs = outputs, .output_count = 1 };
    gale_bolt sink = { .size = sizeof sink, .ops = &sink_ops };
    gale_bolt filter = strcmp(how, "c") == 0       ? in_c()
                       : strcmp(how, "quick") == 0 ? by_expression("status >= 500")
                                                   : by_expression("math.max(status, ms) >= 500 and #path > 0");
    gale_topology *topology = gale_topology_new("script");
    if (gale_topology_add_spout(topology, "source", spout, 1) < 0 ||
        gale_topology_add_bolt(topology, "filter", filter, 1) < 0 ||
        gale_topology_add_bolt(topology, "sink", sink, 1) < 0 ||
        gale_topology_subscribe(topology, "filter", "source", NULL, gale_shuffle()) < 0 ||
        gale_topology_subscribe(topology, "sink", "filter", NULL, gale_shuffle()) < 0) {
        fprintf(stderr, "no topology\n");
        exit(1);
    }
    return topology;
}

int main(int argc, char **argv) {
    if (argc != 3 || (tuples = strtoull(argv[2], NULL, 10)) == 0) {
        fprintf(stderr, "usage: gale_bench_script c|quick|lua TUPLES\n");
        return 2;
    }
    gale_error error = GALE_ERROR_INIT;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.until_drained = true;
    gale_topology *topology = build(argv[1]);
    gale_runtime *runtime;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    int rc = gale_runtime_new(topology, &options, &runtime, &error);
    if (rc == 0) rc = gale_runtime_run(runtime, &error);
    clock_gettime(CLOCK_MONOTONIC, &to);
    if (rc < 0) fprintf(stderr, "%s\n", error.text);
    printf("%s\t%.1f\tns\n", argv[1],
           ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / (double)tuples);
    (void)gale_runtime_free(runtime, -1, NULL);
    gale_topology_free(topology);
    return rc < 0;
}
