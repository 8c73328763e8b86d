/* Topologies of every shape at full speed on real threads: no deadlock, nothing lost, memory flat, figures that balance.
 *
 * usage: soak SECONDS [SHAPE [PENDING [EXECUTORS]]]     SECONDS a cell; without the rest, all cells
 *
 * Shapes:  chain, diamond, fan (out 10), join (two spouts), cycle (gain below one), weave (S, P, D, B, C with P emitting
 *          two and the tasks on executors 0, 1, 0, 1, 0).
 * Pending: 1, 100, 0 (no bound). */
#include "base/os/time.h"

#include <gale/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLAT_BYTES = 1 << 20, WARM_UP = 10 };

typedef struct source {
    uint64_t emitted, acked, failed; /* the spout's thread writes; read after the end */
} source;

static source sources[2];

static void give_up(const char *cell, const char *what, long long figure) {
    fprintf(stderr, "%s: %s: %lld\n", cell, what, figure);
    exit(1);
}

static int next(void *self, gale_collector *out, gale_wait *wait) {
    source *s = self;
    (void)wait;
    gale_value value = gale_i64((int64_t)s->emitted);
    int rc = gale_emit_tracked(out, 0, &value, 1, s->emitted);
    if (rc < 0) return rc;
    s->emitted++;
    return GALE_NEXT_EMITTED;
}

static void on_ack(void *self, uint64_t id) {
    (void)id;
    ((source *)self)->acked++;
}

static void on_fail(void *self, uint64_t id, const gale_failure *failure) {
    (void)id, (void)failure;
    ((source *)self)->failed++;
}

/* Passes its tuple on as many times as `self` says. */
static int pass(void *self, const gale_tuple *tuple, gale_collector *out) {
    gale_value value = gale_tuple_value(tuple, 0);
    for (int times = *(const int *)self; times > 0; times--) {
        int rc = gale_emit(out, 0, &value, 1);
        if (rc < 0) return rc;
    }
    return 0;
}

/* Passes half of an even number on: on average less than once, so that a cycle through here comes to an end. */
static int halve(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    gale_value value = gale_tuple_value(tuple, 0);
    if (value.as.i64 & 1) return 0;
    value.as.i64 >>= 1;
    int rc = value.as.i64 ? gale_emit(out, 0, &value, 1) : 0;
    return rc < 0 ? rc : 0;
}

static void add_spout(gale_topology *t, const char *name, source *s) {
    static const gale_spout_ops ops = {
        .size = sizeof ops, .name = "source", .next = next, .ack = on_ack, .fail = on_fail
    };
    static const gale_output number[] = { { NULL, "number" } };
    gale_spout spout = { .size = sizeof spout, .ops = &ops, .user = s, .outputs = number, .output_count = 1 };
    gale_topology_add_spout(t, name, spout, 1);
}

static void add_bolt(gale_topology *t, const char *name, const char *from, int times, uint32_t tasks,
                     gale_grouping grouping) {
    static const int counts[] = { 0, 1, 2 };
    static const gale_bolt_ops passes = { .size = sizeof passes, .name = "pass", .execute = pass };
    static const gale_bolt_ops halves = { .size = sizeof halves, .name = "halve", .execute = halve };
    static const gale_output number[] = { { NULL, "number" } };
    gale_bolt bolt = { .size = sizeof bolt,
                       .ops = times < 0 ? &halves : &passes,
                       .user = (void *)&counts[times & 3],
                       .outputs = number,
                       .output_count = 1 };
    if (times < 0) bolt.user = NULL;
    gale_topology_add_bolt(t, name, bolt, tasks);
    gale_topology_subscribe(t, name, from, NULL, grouping);
}

static void build(gale_topology *t, const char *shape, uint32_t executors) {
    add_spout(t, "s", &sources[0]);
    if (strcmp(shape, "chain") == 0) {
        add_bolt(t, "a", "s", 1, 2, gale_shuffle());
        add_bolt(t, "b", "a", 0, 2, gale_fields("number"));
    } else if (strcmp(shape, "diamond") == 0) {
        add_bolt(t, "a", "s", 1, 1, gale_shuffle());
        add_bolt(t, "b", "s", 1, 2, gale_shuffle());
        add_bolt(t, "c", "a", 0, 2, gale_shuffle());
        gale_topology_subscribe(t, "c", "b", NULL, gale_shuffle());
    } else if (strcmp(shape, "fan") == 0) {
        add_bolt(t, "a", "s", 0, 10, gale_all());
    } else if (strcmp(shape, "join") == 0) {
        add_spout(t, "t", &sources[1]);
        add_bolt(t, "a", "s", 1, 3, gale_fields("number"));
        gale_topology_subscribe(t, "a", "t", NULL, gale_fields("number"));
        add_bolt(t, "b", "a", 0, 1, gale_global());
    } else if (strcmp(shape, "cycle") == 0) {
        add_bolt(t, "a", "s", -1, 2, gale_shuffle());
        add_bolt(t, "b", "a", 1, 2, gale_shuffle());
        gale_topology_subscribe(t, "a", "b", NULL, gale_shuffle());
    } else {
        static const char *const names[] = { "s", "p", "d", "b", "c" };
        add_bolt(t, "p", "s", 2, 1, gale_shuffle());
        add_bolt(t, "d", "p", 1, 1, gale_shuffle());
        add_bolt(t, "b", "d", 1, 1, gale_shuffle());
        add_bolt(t, "c", "b", 0, 1, gale_shuffle());
        for (int i = 0; executors > 1 && i < 5; i++) gale_topology_set(t, names[i], "gale.executor", gale_i64(i % 2));
    }
}

static long resident_bytes(void) {
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
    if (file) fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

static gale_run_stats read_balanced(const gale_runtime *runtime, const char *cell) {
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(runtime, &stats);
    uint64_t answered = stats.acked + stats.failed + stats.timed_out + stats.stopped;
    if (stats.trees != answered + stats.open) give_up(cell, "the figures do not balance", (long long)stats.trees);
    return stats;
}

/* Watches for `seconds`; every one of them must bring acks. */
static void watch(gale_runtime *runtime, const char *cell, int seconds) {
    long base = 0;
    uint64_t acked = 0;
    for (int i = 0; i < seconds; i++) {
        int64_t until = gx_os_monotonic() + GALE_SECOND;
        while (gx_os_monotonic() < until) {
            (void)gale_runtime_wait(runtime, 50 * GALE_MILLISECOND, NULL);
            read_balanced(runtime, cell);
        }
        gale_run_stats stats = read_balanced(runtime, cell);
        if (stats.acked == acked) give_up(cell, "nothing was acked in second", i);
        acked = stats.acked;
        if (i == WARM_UP) base = resident_bytes();
        if (i > WARM_UP && resident_bytes() - base > FLAT_BYTES)
            give_up(cell, "memory grew by", resident_bytes() - base);
    }
}

static void run(const char *shape, int pending, uint32_t executors, int seconds) {
    char cell[80];
    snprintf(cell, sizeof cell, "%s, pending %d, %u executors", shape, pending, executors);
    memset(sources, 0, sizeof sources);
    gale_topology *t = gale_topology_new("soak");
    build(t, shape, executors);
    if (pending) gale_topology_set(t, NULL, "topology.max.spout.pending", gale_i64(pending));
    gale_error error = GALE_ERROR_INIT;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = executors;
    gale_runtime *runtime;
    if (gale_runtime_new(t, &options, &runtime, &error) < 0 || gale_runtime_start(runtime, &error) < 0)
        give_up(cell, error.text, error.code);
    watch(runtime, cell, seconds);
    gale_runtime_drain(runtime);
    if (gale_runtime_wait(runtime, 60 * GALE_SECOND, &error) < 0) give_up(cell, error.text, error.code);
    gale_run_stats end = read_balanced(runtime, cell);
    if (gale_runtime_free(runtime, 10 * GALE_SECOND, &error) < 0) give_up(cell, error.text, error.code);
    gale_topology_free(t);
    uint64_t emitted = sources[0].emitted + sources[1].emitted, acked = sources[0].acked + sources[1].acked;
    if (acked != emitted) give_up(cell, "emitted and not acked", (long long)(emitted - acked));
    printf("%-34s %6.2f M trees/s\n", cell, (double)end.acked / ((double)end.elapsed / 1e9) / 1e6);
    fflush(stdout);
}

int main(int argc, char **argv) {
    static const char *const shapes[] = { "chain", "diamond", "fan", "join", "cycle", "weave" };
    static const int pendings[] = { 1, 100, 0 };
    static const uint32_t executors[] = { 1, 2, 8 };
    int seconds = argc > 1 ? atoi(argv[1]) : 5;
    for (int s = 0; s < 6; s++)
        for (int p = 0; p < 3; p++)
            for (int e = 0; e < 3; e++) {
                if (argc > 2 && strcmp(argv[2], shapes[s]) != 0) continue;
                if (argc > 3 && atoi(argv[3]) != pendings[p]) continue;
                if (argc > 4 && (uint32_t)atoi(argv[4]) != executors[e]) continue;
                run(shapes[s], pendings[p], executors[e], seconds);
            }
    return 0;
}
