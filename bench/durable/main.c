/* What checkpoints cost: words are counted by key, with and without a store, in turns.
 *
 *   gale_bench_durable FOLDER [KEYS [DIRTY [SECONDS [TURNS [EXECUTORS]]]]]
 *
 * So many different words; of them so many change in a second (0: all are equally likely); a checkpoint a second. Each turn is a
 * run without a store and one with it, of so many seconds after all keys were counted once. FOLDER/state is made anew.
 * Rows of "what<TAB>number<TAB>unit"; medians of the turns, and of the holds and commits of all checkpoints. */
#include <gale/gale.h>
#include <gale_store.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES_MAX = 10000, TURNS_MAX = 100, BURST = 64 };

typedef struct settings {
    const char *folder;
    uint64_t keys, dirty;
    double seconds;
    int turns;
    uint32_t executors;
} settings;

static settings s = { NULL, 1000000, 10000, 8, 5, 1 };

static void die(const char *what, const char *why) {
    fprintf(stderr, "gale_bench_durable: %s: %s\n", what, why);
    exit(1);
}

/* --- The spout: every key once, then those of the second --- */

typedef struct words {
    uint64_t next;
    uint64_t random;
    uint64_t first; /* of the keys that change in this second */
    int64_t until;
    const gale_context *context;
} words;

static int words_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)out;
    words *w = calloc(1, sizeof *w);
    if (!w) return GALE_NO_MEMORY;
    w->context = context;
    w->random = gale_context_random(context);
    *ret_self = w;
    return 0;
}

static uint64_t draw(words *w) {
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    if (w->next < s.keys) return w->next;
    return s.dirty ? (w->first + w->random % s.dirty) % s.keys : w->random % s.keys;
}

static int words_next(void *self, gale_collector *out, gale_wait *wait) {
    words *w = self;
    char text[24];
    (void)wait;
    int64_t now = gale_context_now(w->context);
    if (now >= w->until) {
        w->until = now + GALE_SECOND;
        w->first = w->random % s.keys;
    }
    for (int i = 0; i < BURST; i++) {
        int size = snprintf(text, sizeof text, "word%" PRIu64, draw(w));
        gale_value value = gale_string(text, (size_t)size);
        if (gale_emit_tracked(out, 0, &value, 1, w->next) < 0) return GALE_NEXT_NOTHING;
        w->next++;
    }
    return GALE_NEXT_EMITTED;
}

static int words_save(void *self, gale_saver *to) {
    words *w = self;
    gale_value v[2] = { gale_i64((int64_t)w->next), gale_i64((int64_t)w->random) };
    return gale_save(to, v, 2);
}

static int words_restore(void *self, gale_saved *from, gale_collector *out) {
    words *w = self;
    const gale_value *v;
    size_t count;
    (void)out;
    if (gale_saved_next(from, &v, &count) != 1 || count != 2) return GALE_DAMAGED;
    w->next = (uint64_t)v[0].as.i64;
    w->random = (uint64_t)v[1].as.i64;
    return 0;
}

static const gale_durable_ops durable = {
    .size = sizeof durable, .version = 1, .save = words_save, .restore = words_restore
};
static const gale_spout_ops ops = {
    .size = sizeof ops, .name = "words", .open = words_open, .next = words_next, .close = free, .durable = &durable
};

/* --- Runs --- */

typedef struct samples {
    double list[SAMPLES_MAX];
    size_t count;
} samples;

static samples held, took;

static void note(samples *to, double value) {
    if (to->count < SAMPLES_MAX) to->list[to->count++] = value;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(samples *of, double part) {
    if (!of->count) return 0;
    qsort(of->list, of->count, sizeof *of->list, compare);
    size_t at = (size_t)(part * (double)of->count);
    return of->list[at < of->count ? at : of->count - 1];
}

static gale_topology *build(void) {
    static const gale_output outputs[] = { { NULL, "word" } };
    gale_topology *topology = gale_topology_new("bench");
    gale_spout source = { .size = sizeof source, .ops = &ops, .outputs = outputs, .output_count = 1 };
    gale_bolt count;
    gale_error error = GALE_ERROR_INIT;
    if (gale_count_bolt(GALE_COUNT_EMIT_FINISH, &count, &error) < 0) die("count", error.text);
    gale_topology_add_spout(topology, "words", source, s.executors);
    gale_topology_add_bolt(topology, "count", count, s.executors);
    gale_topology_subscribe(topology, "count", "words", NULL, gale_fields("word"));
    if (gale_topology_check(topology, &error) < 0) die("topology", error.text);
    return topology;
}

static uint64_t acked(const gale_runtime *runtime) {
    gale_run_stats stats = { .size = 0 };
    gale_runtime_stats(runtime, &stats);
    return stats.acked;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void look(const gale_runtime *runtime, uint64_t *seen) {
    gale_checkpoint_stats stats = { .size = 0 };
    if (!gale_runtime_checkpoint_stats(runtime, &stats) || stats.number == *seen) return;
    *seen = stats.number;
    note(&held, (double)stats.held / 1e6);
    note(&took, (double)stats.took / 1e6);
}

/* Waits until so many more have lasted; the number of the last one. */
static uint64_t pass_checkpoints(const gale_runtime *runtime, uint64_t count) {
    gale_checkpoint_stats stats = { .size = 0 };
    gale_runtime_checkpoint_stats(runtime, &stats);
    uint64_t until = stats.number + count;
    while (gale_runtime_checkpoint_stats(runtime, &stats) && stats.number < until) usleep(10000);
    return stats.number;
}

/* Words a second, once every key is there. */
static double run(const gale_store *store) {
    gale_topology *topology = build();
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime;
    uint64_t seen = 0;
    options.executors = s.executors;
    options.store = store;
    options.checkpoint_interval = GALE_SECOND;
    options.state_memory = UINT64_C(1) << 30;
    if (gale_runtime_new(topology, &options, &runtime, &error) < 0) die("runtime", error.text);
    if (gale_runtime_start(runtime, &error) < 0) die("start", error.text);
    while (acked(runtime) < 2 * s.keys * s.executors) usleep(10000);
    if (store) seen = pass_checkpoints(runtime, 3); /* that of all keys is not what is measured */
    uint64_t before = acked(runtime);
    double began = now();
    while (now() - began < s.seconds) {
        usleep(20000);
        look(runtime, &seen);
    }
    double rate = (double)(acked(runtime) - before) / (now() - began);
    if (gale_runtime_free(runtime, -1, &error) < 0) die("free", error.text);
    gale_topology_free(topology);
    return rate;
}

static double run_durable(int turn) {
    char folder[4096];
    gale_store store;
    gale_error error = GALE_ERROR_INIT;
    snprintf(folder, sizeof folder, "%s/state%d", s.folder, turn);
    gale_store_options options = GALE_STORE_OPTIONS_INIT;
    options.folder = folder;
    options.topology = "bench";
    options.create = true;
    if (gale_store_open(&options, &store, &error) < 0) die(folder, error.text);
    double rate = run(&store);
    store.close(store.self);
    return rate;
}

int main(int argc, char **argv) {
    if (argc < 2) die("usage", "FOLDER [KEYS [DIRTY [SECONDS [TURNS [EXECUTORS]]]]]");
    s.folder = argv[1];
    if (argc > 2) s.keys = strtoull(argv[2], NULL, 10);
    if (argc > 3) s.dirty = strtoull(argv[3], NULL, 10);
    if (argc > 4) s.seconds = strtod(argv[4], NULL);
    if (argc > 5) s.turns = atoi(argv[5]);
    if (argc > 6) s.executors = (uint32_t)strtoul(argv[6], NULL, 10);
    if (!s.keys || s.turns < 1 || s.turns > TURNS_MAX || !s.executors) die("usage", "a number is out of range");
    mkdir(s.folder, 0700);
    static samples plain, stored, ratio;
    for (int i = 0; i < s.turns; i++) {
        double without = run(NULL), with = run_durable(i);
        note(&plain, without / 1e6);
        note(&stored, with / 1e6);
        note(&ratio, 100 * with / without);
        fprintf(stderr, "turn %d: %.2f and %.2f million words a second, %.1f %%\n", i + 1, without / 1e6, with / 1e6,
                100 * with / without);
    }
    printf("without a store\t%.2f\tmillion words a second\n", percentile(&plain, 0.5));
    printf("durable\t%.2f\tmillion words a second\n", percentile(&stored, 0.5));
    printf("durable, of that without\t%.1f\t%%\n", percentile(&ratio, 0.5));
    printf("spouts held, median\t%.2f\tms\nspouts held, p99\t%.2f\tms\n", percentile(&held, 0.5),
           percentile(&held, 0.99));
    printf("commit, median\t%.0f\tms\ncommit, p99\t%.0f\tms\n", percentile(&took, 0.5), percentile(&took, 0.99));
    printf("checkpoints\t%zu\t\n", held.count);
    return 0;
}
