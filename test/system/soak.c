/* Topologies of every shape at full speed on real threads: no deadlock, nothing lost, memory flat, figures that balance.
 *
 * usage: soak SECONDS [SHAPE [PENDING [EXECUTORS [ACKERS]]]]     SECONDS a cell; - for any
 *
 * Shapes:  chain, diamond, fan (out 10), join (two spouts), cycle (gain below one), weave (S, P, D, B, C with P emitting
 *          two and the tasks on executors 0, 1, 0, 1, 0). "named": six cells, one a shape, for long runs and sanitizers.
 * Pending: 1, 100, 0 (no bound). Executors: 1, 2, 8.
 * Ackers:  none (the spouts' own ledgers), 2 (acker tasks). Without a word about them a cell has one or the other, in
 *          turns, so that all cells take half the time and each shape has both. */
#include "base/os/time.h"

#include <gale/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLAT_BYTES = 1 << 20, WARM_UP = 10, ACKERS = 2 };

#ifdef __SANITIZE_THREAD__
enum { MEMORY_IS_OURS = false }; /* the sanitizer's own memory grows with what it has seen */
#else
enum { MEMORY_IS_OURS = true };
#endif

typedef struct soak_cell {
    const char *shape;
    int pending;
    uint32_t executors;
    int ackers; /* 0: none */
    char name[80];
    uint64_t reserved; /* bytes that the engine had taken from the allocator, at the most */
} soak_cell;

typedef struct source {
    uint64_t emitted, acked, failed; /* the spout's thread writes; read after the end */
} source;

static source sources[2];

static void give_up(const soak_cell *cell, const char *what, long long figure) {
    fprintf(stderr, "%s: %s: %lld\n", cell->name, what, figure);
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

static long resident_bytes(const soak_cell *cell) {
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2) give_up(cell, "/proc/self/statm cannot be read", 0);
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

/* Nothing here rejects; what is stopped is stopped by the end. */
static gale_run_stats read_balanced(const gale_runtime *runtime, soak_cell *cell) {
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(runtime, &stats);
    uint64_t answered = stats.acked + stats.failed + stats.timed_out + stats.stopped;
    if (stats.trees != answered + stats.open) give_up(cell, "the figures do not balance", (long long)stats.trees);
    if (stats.memory_reserved > cell->reserved) cell->reserved = stats.memory_reserved;
    return stats;
}

enum { PATIENCE = 30 }; /* seconds without an ack, on a machine that is busy with others, before it is a deadlock */

static uint64_t watch_second(gale_runtime *runtime, soak_cell *cell) {
    int64_t until = gx_os_monotonic() + GALE_SECOND;
    while (gx_os_monotonic() < until) {
        (void)gale_runtime_wait(runtime, 50 * GALE_MILLISECOND, NULL);
        read_balanced(runtime, cell);
    }
    return read_balanced(runtime, cell).acked;
}

/* Watches for `seconds`, in which something must always be acked. */
static void watch(gale_runtime *runtime, soak_cell *cell, int seconds) {
    long base = 0;
    uint64_t acked = 0;
    int idle = 0;
    for (int i = 0; i < seconds; i++) {
        uint64_t before = acked;
        acked = watch_second(runtime, cell);
        idle = acked == before ? idle + 1 : 0;
        if (idle == PATIENCE) give_up(cell, "nothing was acked until second", i);
        if (idle && i + 1 == seconds) seconds++; /* what stands still at the end is watched until it moves */
        if (i + 1 == WARM_UP) base = resident_bytes(cell);
        if (i + 1 > WARM_UP && MEMORY_IS_OURS && resident_bytes(cell) - base > FLAT_BYTES)
            give_up(cell, "memory grew by", resident_bytes(cell) - base);
    }
}

static void run(soak_cell *cell, int seconds) {
    char ledger[24] = "ledgers";
    if (cell->ackers) snprintf(ledger, sizeof ledger, "%d ackers", cell->ackers);
    snprintf(cell->name, sizeof cell->name, "%s, pending %d, %u executors, %s", cell->shape, cell->pending,
             cell->executors, ledger);
    memset(sources, 0, sizeof sources);
    gale_topology *t = gale_topology_new("soak");
    build(t, cell->shape, cell->executors);
    if (cell->pending) gale_topology_set(t, NULL, "topology.max.spout.pending", gale_i64(cell->pending));
    if (cell->ackers) gale_topology_set(t, NULL, "topology.acker.executors", gale_i64(cell->ackers));
    gale_error error = GALE_ERROR_INIT;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = cell->executors;
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
    printf("%-46s %6.2f M trees/s %8.3f MB\n", cell->name, (double)end.acked / ((double)end.elapsed / 1e9) / 1e6,
           (double)cell->reserved / 1e6);
    fflush(stdout);
}

/* --- Which cells -------------------------------------------------------------------------------------------------- */

typedef struct soak_wish {
    const char *shape, *pending, *executors, *ackers; /* "-": any; `ackers` NULL: in turns */
} soak_wish;

static bool is_any(const char *word) {
    return strcmp(word, "-") == 0;
}

static bool is_number(const char *word, int number) {
    return is_any(word) || atoi(word) == number;
}

static bool is_named(const soak_cell *cell) {
    static const char *const names[] = { "chain 0 2", "diamond 100 8", "fan 100 2",
                                         "join 0 8",  "cycle 1 2",     "weave 100 2" };
    char name[40];
    snprintf(name, sizeof name, "%s %d %u", cell->shape, cell->pending, cell->executors);
    for (int i = 0; i < 6; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* `number`: of the cell, for those that take turns. */
static bool is_wanted(const soak_wish *wish, const soak_cell *cell, int number) {
    bool acked_by_tasks = cell->ackers > 0;
    if (strcmp(wish->shape, "named") == 0 ? !is_named(cell) : !is_any(wish->shape) && strcmp(wish->shape, cell->shape))
        return false;
    if (!is_number(wish->pending, cell->pending) || !is_number(wish->executors, (int)cell->executors)) return false;
    if (!wish->ackers) return acked_by_tasks == (number % 2 != 0);
    return is_any(wish->ackers) || acked_by_tasks == (strcmp(wish->ackers, "none") != 0);
}

int main(int argc, char **argv) {
    static const char *const shapes[] = { "chain", "diamond", "fan", "join", "cycle", "weave" };
    static const int pendings[] = { 1, 100, 0 };
    static const uint32_t executors[] = { 1, 2, 8 };
    soak_wish wish = { argc > 2 ? argv[2] : "-", argc > 3 ? argv[3] : "-", argc > 4 ? argv[4] : "-",
                       argc > 5 ? argv[5] : NULL };
    int seconds = argc > 1 ? atoi(argv[1]) : 5, ran = 0;
    for (int i = 0; i < 6 * 3 * 3 * 2; i++) {
        int number = i / 2;
        soak_cell cell = {
            shapes[number / 9], pendings[number / 3 % 3], executors[number % 3], i % 2 ? ACKERS : 0, "", 0
        };
        if (!is_wanted(&wish, &cell, number)) continue;
        run(&cell, seconds);
        ran++;
    }
    if (!ran) fprintf(stderr, "there is no such cell\n");
    return !ran;
}
