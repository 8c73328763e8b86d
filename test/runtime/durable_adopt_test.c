/* Runs that end at any step and go on with another topology than the one that made the checkpoint: components that have
 * another name, that are gone, that are new, that are fed otherwise. */
#include "base/atomic.h"
#include "base/random.h"
#include "harness/cm.h"
#include "harness/memory_store.h"

#include <gale/gale.h>
#include <stdio.h>

enum { NUMBERS = 3000, HELD_MAX = 64, NAME = 16, WORDS = 8 };

/* The components of the topology, in the order of a tuple's way. */
enum { SOURCE, PASS, HOLD, COUNT, TOTAL, SIDE, PARTS };

static const char *const own_names[PARTS] = { "source", "pass", "hold", "count", "total", "side" };

/* Different runs of each kind; fewer where each takes twenty times as long. */
#ifdef __SANITIZE_THREAD__
enum { SEEDS = 2 };
#else
enum { SEEDS = 10 };
#endif

/* What a run is made of, and what outlives it. */
static struct {
    memory_store disk;
    gale_store store;
    gale_manual_clock *clock;
    gx_random random;
    char names[PARTS][NAME], lasting[PARTS][NAME]; /* now, and in the last checkpoint that lasts */
    bool without[PARTS];
    bool by_shuffle;  /* what the total is fed by */
    bool by_parity;   /* the count is grouped by another field */
    bool more_fields; /* pass emits another stream than before */
    bool two_streams; /* pass has another stream before the one that it had */
    bool silent;      /* the total does not go on with what it saved */
    bool reversed;    /* the words' order */
    uint32_t total_tasks, executors, renamed;
    const char *adopt[WORDS];
    uint32_t adopt_count;
    gx_atomic32 counted[NUMBERS], totals[NUMBERS], seen[NUMBERS]; /* by count, total and side */
    char log[20000];
} s;

/* --- Components --- */

typedef struct source {
    uint64_t next, queued, queue[NUMBERS];
} source;

#define MAKE(what)                                                                                                     \
    static int what##_make(void *user, const gale_context *context, gale_collector *out, void **ret_self) {            \
        (void)user, (void)context, (void)out;                                                                          \
        *ret_self = calloc(1, sizeof(what));                                                                           \
        return *ret_self ? 0 : GALE_NO_MEMORY;                                                                         \
    }

MAKE(source)

static int source_next(void *self, gale_collector *out, gale_wait *wait) {
    source *n = self;
    (void)wait;
    if (!n->queued && n->next >= NUMBERS) return GALE_NEXT_DONE;
    uint64_t id = n->queued ? n->queue[n->queued - 1] : n->next;
    gale_value v[2] = { gale_i64((int64_t)id), gale_i64((int64_t)(id % 2)) };
    if (gale_emit_tracked(out, 0, v, 2, id) < 0) return GALE_NEXT_NOTHING;
    if (n->queued)
        n->queued--;
    else
        n->next++;
    return GALE_NEXT_EMITTED;
}

static void source_fail(void *self, uint64_t id, const gale_failure *failure) {
    source *n = self;
    if (failure->reason != GALE_REASON_STOPPED) n->queue[n->queued++] = id;
}

static int save_numbers(gale_saver *to, const uint64_t *numbers, uint64_t count) {
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < count; i++) {
        gale_value v = gale_i64((int64_t)numbers[i]);
        rc = gale_save(to, &v, 1);
    }
    return rc;
}

static uint64_t take_numbers(gale_saved *from, uint64_t *numbers) {
    const gale_value *v;
    size_t count;
    uint64_t taken = 0;
    while (gale_saved_next(from, &v, &count) == 1) numbers[taken++] = (uint64_t)v[0].as.i64;
    return taken;
}

static int source_save(void *self, gale_saver *to) {
    source *n = self;
    int rc = save_numbers(to, &n->next, 1);
    return rc < 0 ? rc : save_numbers(to, n->queue, n->queued);
}

static int source_restore(void *self, gale_saved *from, gale_collector *out) {
    source *n = self;
    uint64_t all[NUMBERS + 1];
    (void)out;
    n->queued = take_numbers(from, all) - 1;
    n->next = all[0];
    memcpy(n->queue, all + 1, n->queued * sizeof *all);
    return 0;
}

static const gale_durable_ops source_durable = {
    .size = sizeof source_durable, .version = 1, .save = source_save, .restore = source_restore
};
static const gale_spout_ops source_ops = { .size = sizeof source_ops,
                                           .name = "source",
                                           .open = source_make,
                                           .next = source_next,
                                           .fail = source_fail,
                                           .close = free,
                                           .durable = &source_durable };

static int pass(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    if (gale_tuple_is_tick(tuple)) return 0;
    gale_value v[3] = { gale_tuple_value(tuple, 0), gale_tuple_value(tuple, 1), gale_null() };
    return gale_emit(out, s.two_streams, v, s.more_fields ? 3 : 2) < 0 ? GALE_NO_MEMORY : 0;
}

static const gale_bolt_ops pass_ops = {
    .size = sizeof pass_ops, .name = "pass", .kind = GALE_BOLT_SIMPLE, .execute = pass, .durable = &gale_stateless
};

typedef struct holder {
    uint64_t held[HELD_MAX], count;
} holder;

MAKE(holder)

static int let_go(holder *h, gale_collector *out) {
    gale_handle first = h->held[0];
    const gale_tuple *tuple = gale_held(out, first);
    assert_non_null(tuple);
    gale_value v[2] = { gale_tuple_value(tuple, 0), gale_tuple_value(tuple, 1) };
    assert_true(gale_emit_anchored(out, 0, v, 2, &first, 1) >= 0);
    memmove(h->held, h->held + 1, --h->count * sizeof *h->held);
    return gale_ack(out, first);
}

static int hold(void *self, const gale_tuple *tuple, gale_collector *out) {
    holder *h = self;
    if (gale_tuple_is_tick(tuple)) return h->count ? let_go(h, out) : 0;
    assert_int_equal(gale_tuple_hold(out, gale_tuple_handle(tuple), &h->held[h->count]), 0);
    return ++h->count > 20 ? let_go(h, out) : 0;
}

static int hold_save(void *self, gale_saver *to) {
    holder *h = self;
    return save_numbers(to, h->held, h->count);
}

/* What it held of a stream that is there no more is not there either. */
static int hold_restore(void *self, gale_saved *from, gale_collector *out) {
    holder *h = self;
    uint64_t all[HELD_MAX], count = take_numbers(from, all);
    for (uint64_t i = 0; i < count; i++)
        if (gale_held(out, all[i])) h->held[h->count++] = all[i];
    return 0;
}

static const gale_durable_ops hold_durable = {
    .size = sizeof hold_durable, .version = 1, .save = hold_save, .restore = hold_restore
};
static const gale_bolt_ops hold_ops = { .size = sizeof hold_ops,
                                        .name = "hold",
                                        .kind = GALE_BOLT_MANUAL,
                                        .prepare = holder_make,
                                        .execute = hold,
                                        .cleanup = free,
                                        .durable = &hold_durable };

/* Counts in keyed state. */
typedef struct keeper {
    gale_state *counts;
} keeper;

static int keeper_make(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context;
    keeper *k = *ret_self = calloc(1, sizeof *k);
    return k ? gale_state_open(out, NULL, &k->counts) : GALE_NO_MEMORY;
}

static int keep(void *self, const gale_tuple *tuple, gale_collector *out) {
    keeper *k = self;
    if (gale_tuple_is_tick(tuple)) return 0;
    gale_value v[2] = { gale_tuple_value(tuple, 0), gale_tuple_value(tuple, 1) };
    assert_int_equal(gale_state_add(k->counts, &v[0], 1, NULL), 0);
    return gale_emit(out, 0, v, 2) < 0 ? GALE_NO_MEMORY : 0;
}

static int tell_key(void *user, const gale_value *key, const gale_value *value) {
    (void)user;
    gx_add_relaxed(&s.counted[key->as.i64], (uint32_t)value->as.i64);
    return 0;
}

static int keeper_finish(void *self, gale_collector *out) {
    (void)out;
    return gale_state_each(((keeper *)self)->counts, tell_key, NULL);
}

static const gale_bolt_ops count_ops = { .size = sizeof count_ops,
                                         .name = "count",
                                         .kind = GALE_BOLT_SIMPLE,
                                         .prepare = keeper_make,
                                         .execute = keep,
                                         .finish = keeper_finish,
                                         .cleanup = free,
                                         .durable = &gale_keyed };

/* Counts in a structure of its own. */
typedef struct total {
    uint64_t counts[NUMBERS];
} total;

MAKE(total)

static int add_one(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    if (!gale_tuple_is_tick(tuple)) ((total *)self)->counts[gale_tuple_value(tuple, 0).as.i64]++;
    return 0;
}

static int total_finish(void *self, gale_collector *out) {
    (void)out;
    for (int i = 0; i < NUMBERS; i++) gx_add_relaxed(&s.totals[i], (uint32_t)((total *)self)->counts[i]);
    return 0;
}

static int total_save(void *self, gale_saver *to) {
    int rc = 0;
    for (int i = 0; rc == 0 && i < NUMBERS; i++) {
        gale_value v[2] = { gale_i64(i), gale_i64((int64_t)((total *)self)->counts[i]) };
        if (v[1].as.i64) rc = gale_save(to, v, 2);
    }
    return rc;
}

static int total_restore(void *self, gale_saved *from, gale_collector *out) {
    const gale_value *v;
    size_t count;
    (void)out;
    while (gale_saved_next(from, &v, &count) == 1)
        if (gale_saved_is_mine(from) || gale_saved_is_own(from, v, 1))
            ((total *)self)->counts[v[0].as.i64] += (uint64_t)v[1].as.i64;
    return 0;
}

static const gale_durable_ops total_durable = { .size = sizeof total_durable,
                                                .version = 1,
                                                .flags = GALE_DURABLE_PARTS,
                                                .save = total_save,
                                                .restore = total_restore };
static const gale_bolt_ops total_ops = { .size = sizeof total_ops,
                                         .name = "total",
                                         .kind = GALE_BOLT_SIMPLE,
                                         .prepare = total_make,
                                         .execute = add_one,
                                         .finish = total_finish,
                                         .cleanup = free,
                                         .durable = &total_durable };
static const gale_bolt_ops silent_ops = { .size = sizeof silent_ops,
                                          .name = "total",
                                          .kind = GALE_BOLT_SIMPLE,
                                          .prepare = total_make,
                                          .execute = add_one,
                                          .finish = total_finish,
                                          .cleanup = free };

static int look(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self, (void)out;
    if (!gale_tuple_is_tick(tuple)) gx_add_relaxed(&s.seen[gale_tuple_value(tuple, 0).as.i64], 1);
    return 0;
}

static const gale_bolt_ops side_ops = {
    .size = sizeof side_ops, .name = "side", .kind = GALE_BOLT_SIMPLE, .execute = look, .durable = &gale_stateless
};

/* --- A topology --- */

static void add_bolt(gale_topology *topology, int which, const gale_bolt_ops *ops, uint32_t tasks,
                     const gale_output *outputs, uint32_t count) {
    gale_bolt bolt = { .size = sizeof bolt, .ops = ops, .outputs = outputs, .output_count = count };
    if (!s.without[which]) gale_topology_add_bolt(topology, s.names[which], bolt, tasks);
}

static void feed(gale_topology *topology, int to, int from, gale_grouping grouping) {
    const char *stream = from == PASS && s.two_streams ? "second" : NULL;
    if (!s.without[to] && !s.without[from])
        gale_topology_subscribe(topology, s.names[to], s.names[from], stream, grouping);
}

static gale_topology *build(void) {
    static const gale_output pairs[] = { { NULL, "number, parity" } };
    static const gale_output more[] = { { NULL, "number, parity, more" } };
    static const gale_output two[] = { { "first", "x" }, { "second", "number, parity" } };
    gale_topology *topology = gale_topology_new("adopted");
    gale_error error = GALE_ERROR_INIT;
    gale_spout from = { .size = sizeof from, .ops = &source_ops, .outputs = pairs, .output_count = 1 };
    gale_topology_add_spout(topology, s.names[SOURCE], from, 1);
    add_bolt(topology, PASS, &pass_ops, 2, s.two_streams ? two : s.more_fields ? more : pairs, s.two_streams ? 2 : 1);
    add_bolt(topology, HOLD, &hold_ops, 1, pairs, 1);
    add_bolt(topology, COUNT, &count_ops, 2, pairs, 1);
    add_bolt(topology, TOTAL, s.silent ? &silent_ops : &total_ops, s.total_tasks, NULL, 0);
    add_bolt(topology, SIDE, &side_ops, 1, NULL, 0);
    feed(topology, PASS, SOURCE, gale_shuffle());
    feed(topology, HOLD, s.without[PASS] ? SOURCE : PASS, gale_shuffle());
    feed(topology, COUNT, s.without[HOLD] ? PASS : HOLD, gale_fields(s.by_parity ? "parity" : "number"));
    feed(topology, TOTAL, s.without[COUNT] ? HOLD : COUNT, s.by_shuffle ? gale_shuffle() : gale_fields("number"));
    feed(topology, SIDE, s.without[PASS] ? SOURCE : PASS, gale_shuffle());
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(30));
    gale_topology_set(topology, NULL, "topology.message.timeout.secs", gale_i64(1000000));
    gale_topology_set(topology, NULL, "topology.tick.tuple.freq.secs", gale_f64(0.01));
    if (!s.without[COUNT]) gale_topology_set(topology, s.names[COUNT], "gale.executor", gale_i64(s.executors - 1));
    if (gale_topology_check(topology, &error) < 0) fail_msg("%s", error.text);
    return topology;
}

static void note(void *user, int32_t level, const char *component, const char *text) {
    (void)user;
    size_t used = strlen(s.log);
    snprintf(s.log + used, sizeof s.log - used, "%d %s: %s\n", (int)level, component ? component : "", text);
}

static int try_start(gale_runtime **ret_runtime, gale_error *error) {
    gale_topology *topology = build();
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_clock clock = gale_manual_clock_handle(s.clock);
    gale_logger logger = { .size = sizeof logger, .write = note, .level = GALE_LOG_INFO };
    s.log[0] = 0;
    options.clock = &clock;
    options.logger = &logger;
    options.executors = s.executors;
    options.seed = 7;
    options.until_drained = true;
    options.store = &s.store;
    options.checkpoint_interval = 5 * GALE_MILLISECOND;
    options.adopt = s.adopt;
    options.adopt_count = s.adopt_count;
    int rc = gale_runtime_new(topology, &options, ret_runtime, error);
    gale_topology_free(topology);
    return rc;
}

/* Steps that are slow, so that queues are not dry when all is stopped. True when the run is over. */
static bool run(gale_runtime *runtime, uint64_t steps) {
    for (uint64_t i = 0; i < steps; i++) {
        if (gale_runtime_step(runtime) == GALE_STOPPED) return true;
        gale_manual_clock_advance(s.clock, 6 * GALE_MILLISECOND);
        if (gx_random_below(&s.random, 4) == 0) assert_true(gale_runtime_commit(runtime, NULL) >= 0);
    }
    return false;
}

/* Ends as by a kill. `ret_made` is told how many checkpoints there were. */
static void end(gale_runtime *runtime, uint64_t *ret_made) {
    gale_checkpoint_stats stats = { .size = 0 };
    gale_runtime_checkpoint_stats(runtime, &stats);
    *ret_made = stats.count;
    if (stats.count) memcpy(s.lasting, s.names, sizeof s.lasting);
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    s.store.abandon(s.store.self);
}

static void forget(void) {
    memset(s.counted, 0, sizeof s.counted);
    memset(s.totals, 0, sizeof s.totals);
}

static bool live(uint64_t steps, uint64_t *ret_made) {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime = NULL;
    if (try_start(&runtime, &error) < 0) fail_msg("%s", error.text);
    gale_checkpoint_stats stats = { .size = 0 };
    gale_runtime_checkpoint_stats(runtime, &stats);
    if (!stats.complete) forget();
    bool over = run(runtime, steps);
    if (over && gale_runtime_wait(runtime, 0, &error) < 0) fail_msg("%s", error.text);
    end(runtime, ret_made);
    return over;
}

static void live_until_checkpoints(uint64_t count) {
    uint64_t made = 0;
    for (int lives = 0; count; lives++) {
        assert_true(lives < 1000);
        assert_false(live(30 + gx_random_below(&s.random, 30), &made));
        count -= made < count ? made : count;
    }
}

static void live_to_the_end(void) {
    uint64_t made;
    s.adopt_count = 0;
    assert_true(live(10000000, &made));
}

static int setup(void **state) {
    (void)state;
    memset(&s, 0, sizeof s);
    memory_store_init(&s.disk);
    s.store = memory_store_open(&s.disk);
    s.clock = gale_manual_clock_new(0);
    s.random = gx_random_new(1, 0);
    s.executors = 2;
    s.total_tasks = 2;
    for (int i = 0; i < PARTS; i++) snprintf(s.names[i], NAME, "%s", own_names[i]);
    memcpy(s.lasting, s.names, sizeof s.lasting);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    s.store.close(s.store.self);
    memory_store_fini(&s.disk);
    gale_manual_clock_free(s.clock);
    return 0;
}

static void expect(const gx_atomic32 *counts, uint32_t least, uint32_t most, const char *who) {
    for (int i = 0; i < NUMBERS; i++) {
        uint32_t count = gx_load_relaxed((gx_atomic32 *)(uintptr_t)&counts[i]);
        if (count < least || count > most) fail_msg("number %d was counted %u times by '%s'", i, count, who);
    }
}

static void expect_exact(void) {
    expect(s.counted, 1, 1, "count");
    expect(s.totals, 1, 1, "total");
}

static void adopt(const char *word) {
    s.adopt[s.adopt_count++] = word;
}

static void expect_refused(int code, const char *text) {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime = NULL;
    int rc = try_start(&runtime, &error);
    if (rc >= 0) fail_msg("it goes on, and was to say: %s", text);
    if (!strstr(error.text, text)) fail_msg("%s", error.text);
    assert_int_equal(rc, code);
}

/* --- Names --- */

static char words[WORDS][2 * NAME + 4];

/* Some get another name, or the name of another one. */
static void rename_some(void) {
    s.adopt_count = 0;
    for (int i = 0; i < PARTS; i++)
        if (gx_random_below(&s.random, 2)) snprintf(s.names[i], NAME, "%s%u", &"n="[i % 2], s.renamed++);
    if (gx_random_below(&s.random, 3) == 0) {
        memcpy(s.names[HOLD], s.lasting[COUNT], NAME);
        memcpy(s.names[COUNT], s.lasting[TOTAL], NAME);
        memcpy(s.names[TOTAL], s.lasting[HOLD], NAME);
    }
    for (int i = 0; i < PARTS; i++) {
        if (strcmp(s.names[i], s.lasting[i]) == 0) continue;
        snprintf(words[i], sizeof words[i], "%s=%s", s.lasting[i], s.names[i]);
        adopt(words[i]);
    }
}

static void what_is_renamed_at_each_start_has_all_that_it_had(void **state) {
    (void)state;
    int lives = 0;
    for (uint64_t seed = 1; seed <= SEEDS + SEEDS / 2; seed++) {
        teardown(NULL);
        setup(NULL);
        s.random = gx_random_new(seed, 0);
        s.executors = 1 + (uint32_t)(seed % 3);
        uint64_t made, all = 0;
        for (bool over = false; !over; lives++) {
            if (lives > 5000) fail_msg("it does not come to an end");
            if (all) rename_some();
            over = live(1 + gx_random_below(&s.random, 70), &made);
            all += made;
        }
        expect_exact();
    }
    assert_true(lives > 10 * SEEDS);
}

static void a_name_that_is_gone_is_refused_with_the_word_that_takes_it(void **state) {
    (void)state;
    live_until_checkpoints(3);
    uint64_t commits = s.disk.commits;
    strcpy(s.names[COUNT], "tally");
    expect_refused(GALE_STATE,
                   "the topology has no 'count' any more, which the checkpoint has; if it is called 'tally' "
                   "now, --state-adopt count=tally gives that everything; --state-adopt alone goes on");
    strcpy(s.names[HOLD], "keep");
    expect_refused(GALE_STATE, "--state-adopt goes on without it, --state-adopt count=NEW if it is called NEW now");
    strcpy(s.names[HOLD], "hold");
    assert_int_equal(s.disk.commits, commits);
    strcpy(s.names[COUNT], "count"); /* and nothing has been done to it */
    live_to_the_end();
    expect_exact();
}

static void words_that_name_nothing_or_twice_are_refused_with_the_nearest(void **state) {
    (void)state;
    live_until_checkpoints(2);
    static const struct {
        const char *first, *second, *text;
    } cases[] = {
        { "cuont=tally", NULL,
          "--state-adopt cuont=tally: the checkpoint has no component 'cuont'; did you mean 'count'?" },
        { "count=taly", NULL, "--state-adopt count=taly: the topology has no component 'taly'; did you mean 'tally'?" },
        { "count=tally", "count=pass", "--state-adopt count=pass: 'count' is named by another one already" },
        { "count=tally", "hold=tally", "--state-adopt hold=tally: 'tally' is named by another one already" },
        { "count=pass", NULL,
          "--state-adopt count=pass: the checkpoint has a 'pass' as well; say what that one is now" },
        { "source=tally", NULL, "--state-adopt source=tally: 'source' was a spout, and 'tally' is a bolt" },
        { "tally", NULL, "--state-adopt 'tally': it is no OLD=NEW" },
        { NULL, NULL, "options.adopt[0] is NULL" },
    };
    strcpy(s.names[COUNT], "tally");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        s.adopt_count = 0;
        adopt(cases[i].first);
        if (cases[i].second) adopt(cases[i].second);
        expect_refused(GALE_INVALID, cases[i].text);
    }
}

static void a_command_that_adopts_can_be_given_again_before_and_after_its_first_checkpoint(void **state) {
    (void)state;
    uint64_t made = 0;
    live_until_checkpoints(3);
    strcpy(s.names[COUNT], "tally");
    adopt("count=tally");
    assert_false(live(1, &made));
    assert_int_equal(made, 0);
    live_until_checkpoints(2);
    live_until_checkpoints(2);
    live_to_the_end(); /* without it */
    expect_exact();
}

/* --- Less and more --- */

static void what_is_gone_is_refused_and_then_adopted_without_a_trace(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        teardown(NULL);
        setup(NULL);
        s.random = gx_random_new(seed, 0);
        live_until_checkpoints(3);
        s.without[SIDE] = true;
        expect_refused(GALE_STATE, "the topology has no 'side' any more");
        adopt("*");
        live_until_checkpoints(1);
        s.adopt_count = 0;
        live_until_checkpoints(1);
        s.without[SIDE] = false;
        live_to_the_end();
        expect_exact(); /* nobody took anything of it: what was on its way there is done */
    }
}

/* Nobody knows what it would have made of what was on its way: those trees begin again. */
static void what_was_in_the_middle_leaves_nothing_hanging(void **state) {
    (void)state;
    uint64_t again = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        teardown(NULL);
        setup(NULL);
        s.random = gx_random_new(seed, 0);
        live_until_checkpoints(3);
        s.without[seed % 2 ? PASS : HOLD] = true; /* one that passes on, one that holds */
        adopt("*");
        live_until_checkpoints(1);
        again += strstr(s.log, "open tuples of spouts begin again") != NULL;
        live_to_the_end();
        expect(s.counted, 1, 2, "count");
        expect(s.totals, 1, 2, "total");
    }
    assert_true(again > SEEDS / 2);
}

static bool has_key_of(const char *name) {
    char prefix[NAME + 2];
    size_t size = (size_t)snprintf(prefix, sizeof prefix, "k%s", name) + 1;
    for (size_t i = 0; i < s.disk.now.count; i++) {
        const memory_pair *pair = &s.disk.now.list[i];
        if (pair->key_size >= size && memcmp(pair->key, prefix, size) == 0) return true;
    }
    return false;
}

static void keyed_state_of_what_is_gone_goes_with_the_next_checkpoint(void **state) {
    (void)state;
    live_until_checkpoints(6);
    assert_true(has_key_of("count"));
    s.without[COUNT] = true;
    adopt("*");
    uint64_t made;
    assert_false(live(1, &made));
    assert_true(has_key_of("count"));
    live_until_checkpoints(1);
    assert_false(has_key_of("count"));
}

static void a_new_one_of_an_old_name_begins_empty(void **state) {
    (void)state;
    live_until_checkpoints(6);
    strcpy(s.names[COUNT], "tally");
    adopt("count=tally");
    live_until_checkpoints(1);
    assert_true(has_key_of("count")); /* under the name that it has there */
    strcpy(s.names[COUNT], "count");  /* another one, and that one is gone */
    s.adopt_count = 0;
    adopt("*");
    live_until_checkpoints(3);
    assert_false(has_key_of("count"));
    live_to_the_end();
    expect(s.totals, 1, 2, "total");
    uint32_t counted = 0;
    for (int i = 0; i < NUMBERS; i++) counted += s.counted[i];
    assert_in_range(counted, NUMBERS / 10, NUMBERS - 1);
}

/* --- Streams and groupings --- */

static void a_stream_that_is_new_or_elsewhere_fits_by_itself(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        teardown(NULL);
        setup(NULL);
        s.random = gx_random_new(seed, 0);
        live_until_checkpoints(3);
        s.two_streams = true; /* "second" is not the default stream */
        expect_refused(GALE_STATE, "'pass' had a stream 'default' with the fields (number, parity) at the checkpoint");
        adopt("*");
        live_until_checkpoints(2);
        live_to_the_end();
        expect(s.counted, 1, 2, "count");
    }
}

static void other_fields_are_refused_and_then_adopted(void **state) {
    (void)state;
    live_until_checkpoints(3);
    s.more_fields = true;
    expect_refused(GALE_STATE, "'pass' had a stream 'default' with the fields (number, parity)");
    adopt("*");
    live_until_checkpoints(1);
    live_to_the_end();
    expect(s.counted, 1, 2, "count");
}

static void another_grouping_is_adopted_where_parts_can_follow(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        teardown(NULL);
        setup(NULL);
        s.random = gx_random_new(seed, 0);
        s.by_shuffle = seed % 2;
        live_until_checkpoints(5);
        s.by_shuffle = !s.by_shuffle;
        expect_refused(GALE_STATE, "'total' was fed by 'count' with ");
        adopt("*");
        live_until_checkpoints(2);
        live_to_the_end();
        expect_exact();
    }
}

static void keyed_state_does_not_follow_another_grouping(void **state) {
    (void)state;
    live_until_checkpoints(5);
    s.by_parity = true;
    adopt("*");
    expect_refused(GALE_STATE, "'count' has keyed state, and its inputs are grouped otherwise than at the checkpoint");
}

static void what_was_saved_is_not_dropped_in_silence(void **state) {
    (void)state;
    live_until_checkpoints(5);
    s.silent = true;
    expect_refused(GALE_STATE, "'total' has saved something, and does not say any more how it goes on with that");
    adopt("*");
    live_until_checkpoints(1);
    live_to_the_end();
    expect(s.counted, 1, 1, "count");
}

static void what_is_adopted_is_told(void **state) {
    (void)state;
    uint64_t made;
    live_until_checkpoints(3);
    strcpy(s.names[COUNT], "tally");
    s.without[SIDE] = true;
    adopt("count=tally");
    adopt("*");
    assert_false(live(1, &made));
    assert_non_null(strstr(s.log, "tally: has all that 'count' had in the checkpoint\n"));
    assert_non_null(strstr(s.log, "side: is there no more: what it kept is dropped"));
    live_until_checkpoints(1);
    s.without[SIDE] = false;
    s.adopt_count = 0;
    assert_false(live(1, &made));
    assert_non_null(strstr(s.log, "side: is new since the checkpoint, and begins empty\n"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(what_is_renamed_at_each_start_has_all_that_it_had),
        CASE(a_name_that_is_gone_is_refused_with_the_word_that_takes_it),
        CASE(words_that_name_nothing_or_twice_are_refused_with_the_nearest),
        CASE(a_command_that_adopts_can_be_given_again_before_and_after_its_first_checkpoint),
        CASE(what_is_gone_is_refused_and_then_adopted_without_a_trace),
        CASE(what_was_in_the_middle_leaves_nothing_hanging),
        CASE(keyed_state_of_what_is_gone_goes_with_the_next_checkpoint),
        CASE(a_new_one_of_an_old_name_begins_empty),
        CASE(a_stream_that_is_new_or_elsewhere_fits_by_itself),
        CASE(other_fields_are_refused_and_then_adopted),
        CASE(another_grouping_is_adopted_where_parts_can_follow),
        CASE(keyed_state_does_not_follow_another_grouping),
        CASE(what_was_saved_is_not_dropped_in_silence),
        CASE(what_is_adopted_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
