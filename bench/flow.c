/* Throughput of small acked topologies, beside the raw loop that does the same essential work.
 *
 *     const-null      a spout that emits a constant, a bolt that takes it
 *     const-id-null   the same with a bolt between them that passes it on
 *
 * Each trial runs for a fixed time; trials of gale and of the limit alternate; the medians and their ratio are printed.
 * usage: gale_bench_flow [quick|full] */
#include <gale/kit.h>
#include <gale/runtime.h>

#include "base/os/time.h"
#include "base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int const_next(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)wait;
    const gale_value values[] = { gale_string("some data", 9) };
    int rc = gale_emit_tracked(out, 0, values, 1, 1);
    return rc < 0 ? rc : GALE_NEXT_EMITTED;
}

static int id_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    gale_value value = gale_tuple_value(tuple, 0);
    int rc = gale_emit(out, 0, &value, 1);
    return rc < 0 ? rc : 0;
}

static const gale_output one_field[] = { { NULL, "data" } };

static gale_topology *build(bool with_id) {
    static const gale_spout_ops spout_ops = { .size = sizeof spout_ops, .name = "const", .next = const_next };
    static const gale_bolt_ops id_ops = { .size = sizeof id_ops, .name = "id", .execute = id_execute };
    gale_topology *topology = gale_topology_new("bench");
    gale_spout spout = { .size = sizeof spout, .ops = &spout_ops, .outputs = one_field, .output_count = 1 };
    gale_bolt id = { .size = sizeof id, .ops = &id_ops, .outputs = one_field, .output_count = 1 };
    gale_bolt null;
    if (gale_null_bolt(&null, NULL) < 0) exit(1);
    gale_topology_add_spout(topology, "const", spout, 1);
    if (with_id) {
        gale_topology_add_bolt(topology, "id", id, 1);
        gale_topology_subscribe(topology, "id", "const", NULL, gale_shuffle());
    }
    gale_topology_add_bolt(topology, "null", null, 1);
    gale_topology_subscribe(topology, "null", with_id ? "id" : "const", NULL, gale_shuffle());
    return topology;
}

/* Nanoseconds a tree. */
static double run_gale(bool with_id, uint32_t executors, int64_t nanoseconds) {
    gale_topology *topology = build(with_id);
    if (executors == 2) gale_topology_set(topology, "null", "gale.executor", gale_i64(1));
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = executors;
    if (gale_runtime_new(topology, &options, &runtime, &error) < 0 || gale_runtime_start(runtime, &error) < 0) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    (void)gale_runtime_wait(runtime, nanoseconds / 5, NULL); /* warm up */
    gale_run_stats before = { .size = sizeof before }, after = { .size = sizeof after };
    gale_runtime_stats(runtime, &before);
    int64_t from = gx_os_monotonic();
    (void)gale_runtime_wait(runtime, nanoseconds, NULL);
    gale_runtime_stats(runtime, &after);
    double spent = (double)(gx_os_monotonic() - from);
    gale_runtime_free(runtime, -1, NULL);
    gale_topology_free(topology);
    return spent / (double)(after.acked - before.acked);
}

/* The limit: write a record of 64 bytes, an id a delivery, call the bolt through a pointer, ack a hop at a time. */
typedef struct tree {
    uint64_t xor_, message_id, start, generation;
} tree;

static uint64_t sink;

static void take(const unsigned char *record) {
    sink += record[40];
}

static double run_limit(int hops, int64_t nanoseconds) {
    enum { TREES = 1024 };
    static tree trees[TREES];
    static unsigned char records[TREES * 64];
    void (*volatile bolt)(const unsigned char *) = take;
    gx_random random = gx_random_new(1, 1);
    uint64_t done = 0;
    int64_t from = gx_os_monotonic(), now;
    do {
        for (int i = 0; i < TREES; i++) {
            uint64_t id = gx_random_id(&random);
            trees[i].xor_ = id;
            memcpy(records + 64 * i, &id, 8);
            memcpy(records + 64 * i + 40, "some data", 10);
        }
        for (int hop = 0; hop < hops; hop++)
            for (int i = 0; i < TREES; i++) {
                uint64_t edge, child = 0;
                memcpy(&edge, records + 64 * i, 8);
                bolt(records + 64 * i);
                if (hop + 1 < hops) {
                    child = gx_random_id(&random);
                    memcpy(records + 64 * i, &child, 8);
                }
                trees[i].xor_ ^= edge ^ child;
                done += trees[i].xor_ == 0;
            }
        now = gx_os_monotonic();
    } while (now - from < nanoseconds);
    return (double)(now - from) / (double)done;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *numbers, int count) {
    qsort(numbers, (size_t)count, sizeof *numbers, by_size);
    return numbers[count / 2];
}

static void compare(const char *name, bool with_id, uint32_t executors, int trials, int64_t nanoseconds) {
    double gale[16], limit[16];
    for (int i = 0; i < trials; i++) {
        gale[i] = run_gale(with_id, executors, nanoseconds);
        limit[i] = run_limit(with_id ? 2 : 1, nanoseconds / 2);
    }
    double g = median(gale, trials), l = median(limit, trials);
    printf("%-16s %9u %12.1f %10.2f %12.1f %7.1f\n", name, executors, g, 1000.0 / g, l, g / l);
    fflush(stdout);
}

int main(int argc, char **argv) {
    bool full = argc > 1 && strcmp(argv[1], "full") == 0;
    int trials = full ? 9 : 3;
    int64_t time = full ? GALE_SECOND : 300 * GALE_MILLISECOND;
    printf("%-16s %9s %12s %10s %12s %7s\n", "flow", "executors", "ns a tree", "M trees/s", "limit, ns", "ratio");
    for (uint32_t executors = 1; executors <= 2; executors++) {
        compare("const-null", false, executors, trials, time);
        compare("const-id-null", true, executors, trials, time);
    }
    return 0;
}
