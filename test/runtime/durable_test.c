/* Runs that end at any step, without a word, and go on from what the store has: each number is counted once. */
#include "base/atomic.h"
#include "base/random.h"
#include "harness/cm.h"
#include "harness/memory_store.h"

#include <gale/gale.h>

enum { NUMBERS = 3000, HELD_MAX = 64 };

/* What a run is made of, and what it left in the end. Outside of all components: it outlives a run. */
typedef struct scene {
    uint64_t numbers;
    uint32_t pass_tasks, count_tasks, hold_tasks, executors;
    int ackers;   /* topology.acker.executors; -1: not set */
    bool divides; /* the counters are another number in each run: what each has sent is not told apart */
    bool hurries; /* a step takes so long that queues are not dry when all is stopped */
    bool always;  /* checkpoints without a pause */
    bool threads;
    bool fails;       /* the pass bolt fails some */
    bool parts;       /* a tick of the hold bolt lets go what it holds in parts */
    uint64_t resumed; /* such ticks that came again in another run */
    bool forgets;     /* the hold bolt does not say what it holds */
    bool stubborn;    /* the counters do not go on with what they saved */
    gx_atomic32 open; /* counters that are */
    uint32_t holds;   /* how many the hold bolt keeps back */
    memory_store disk;
    gale_store store;
    gale_manual_clock *clock;
    gx_atomic32 counted[NUMBERS]; /* by `finish` of the counters */
    uint64_t emitted;             /* of all runs together */
    uint64_t committed;           /* the last that the spout was told of */
} scene;

static scene s;

/* --- The spout: a position, and what failed --- */

typedef struct spout {
    uint64_t next, queued;
    uint64_t queue[NUMBERS];
} spout;

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context, (void)out;
    *ret_self = calloc(1, sizeof(spout));
    return *ret_self ? 0 : GALE_NO_MEMORY;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *n = self;
    (void)wait;
    if (!n->queued && n->next >= s.numbers) return GALE_NEXT_DONE;
    uint64_t id = n->queued ? n->queue[n->queued - 1] : n->next;
    gale_value value = gale_i64((int64_t)id);
    if (gale_emit_tracked(out, 0, &value, 1, id) < 0) return GALE_NEXT_NOTHING;
    if (n->queued)
        n->queued--;
    else
        n->next++;
    s.emitted++;
    return GALE_NEXT_EMITTED;
}

static void spout_fail(void *self, uint64_t id, const gale_failure *failure) {
    spout *n = self;
    if (failure->reason != GALE_REASON_STOPPED) n->queue[n->queued++] = id;
}

static int spout_save(void *self, gale_saver *to) {
    spout *n = self;
    gale_value next = gale_i64((int64_t)n->next);
    gale_save(to, &next, 1);
    for (uint64_t i = 0; i < n->queued; i++) {
        gale_value id = gale_i64((int64_t)n->queue[i]);
        gale_save(to, &id, 1);
    }
    return 0;
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *n = self;
    const gale_value *v;
    size_t count;
    (void)out;
    if (gale_saved_next(from, &v, &count) != 1) return GALE_DAMAGED;
    n->next = (uint64_t)v[0].as.i64;
    while (gale_saved_next(from, &v, &count) == 1) n->queue[n->queued++] = (uint64_t)v[0].as.i64;
    return 0;
}

static void spout_committed(void *self, uint64_t checkpoint) {
    (void)self;
    assert_true(checkpoint > s.committed);
    s.committed = checkpoint;
}

static const gale_durable_ops spout_durable = { .size = sizeof spout_durable,
                                                .version = 1,
                                                .save = spout_save,
                                                .restore = spout_restore,
                                                .committed = spout_committed };
static const gale_spout_ops spout_ops = { .size = sizeof spout_ops,
                                          .name = "numbers",
                                          .open = spout_open,
                                          .next = spout_next,
                                          .fail = spout_fail,
                                          .close = free,
                                          .durable = &spout_durable };

/* --- Bolts --- */

static int pass_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)out;
    *ret_self = (void *)(uintptr_t)context;
    return 0;
}

static int pass(void *self, const gale_tuple *tuple, gale_collector *out) {
    const gale_context *context = self;
    if (gale_tuple_is_tick(tuple)) return 0;
    if (s.fails && gale_context_random(context) % 10 == 0) return GALE_COMPONENT;
    gale_value value = gale_tuple_value(tuple, 0);
    return gale_emit(out, 0, &value, 1) < 0 ? GALE_NO_MEMORY : 0;
}

static const gale_bolt_ops pass_ops = { .size = sizeof pass_ops,
                                        .name = "pass",
                                        .kind = GALE_BOLT_SIMPLE,
                                        .prepare = pass_prepare,
                                        .execute = pass,
                                        .durable = &gale_stateless };

typedef struct holder {
    gale_handle held[HELD_MAX];
    uint32_t count;
    uint32_t releases; /* that the tick in hand is to let go still */
    bool restored;     /* and was begun by another run */
} holder;

static int hold_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context, (void)out;
    *ret_self = calloc(1, sizeof(holder));
    return *ret_self ? 0 : GALE_NO_MEMORY;
}

/* The oldest goes on, in a tuple that is anchored to it. */
static int let_go(holder *h, gale_collector *out) {
    gale_handle first = h->held[0];
    const gale_tuple *tuple = gale_held(out, first);
    assert_non_null(tuple);
    gale_value value = gale_tuple_value(tuple, 0);
    assert_true(gale_emit_anchored(out, 0, &value, 1, &first, 1) >= 0);
    memmove(h->held, h->held + 1, --h->count * sizeof *h->held);
    return gale_ack(out, first);
}

static int let_go_in_parts(holder *h, gale_collector *out) {
    s.resumed += h->restored;
    h->restored = false;
    if (!h->releases) h->releases = h->count;
    if (!h->releases) return 0;
    int rc = let_go(h, out);
    return rc < 0 ? rc : --h->releases ? GALE_MORE : 0;
}

static int hold(void *self, const gale_tuple *tuple, gale_collector *out) {
    holder *h = self;
    if (gale_tuple_is_tick(tuple) && s.parts) return let_go_in_parts(h, out);
    if (gale_tuple_is_tick(tuple)) return h->count ? let_go(h, out) : 0;
    if (h->releases) fail_msg("a tuple came before the tick that was not done");
    assert_int_equal(gale_tuple_hold(out, gale_tuple_handle(tuple), &h->held[h->count]), 0);
    h->count++;
    return h->count > s.holds ? let_go(h, out) : 0;
}

static int hold_save(void *self, gale_saver *to) {
    holder *h = self;
    gale_value releases = gale_i64(h->releases);
    gale_save(to, &releases, 1);
    for (uint32_t i = 0; i < h->count; i++) {
        gale_value handle = gale_i64((int64_t)h->held[i]);
        gale_save(to, &handle, 1);
    }
    return 0;
}

static int hold_restore(void *self, gale_saved *from, gale_collector *out) {
    holder *h = self;
    const gale_value *v;
    size_t count;
    if (gale_saved_next(from, &v, &count) == 1) h->releases = (uint32_t)v[0].as.i64;
    h->restored = h->releases > 0;
    while (gale_saved_next(from, &v, &count) == 1) {
        h->held[h->count++] = (gale_handle)v[0].as.i64;
        assert_non_null(gale_held(out, h->held[h->count - 1]));
    }
    return 0;
}

static const gale_durable_ops hold_durable = {
    .size = sizeof hold_durable, .version = 1, .save = hold_save, .restore = hold_restore
};
static const gale_bolt_ops hold_ops = { .size = sizeof hold_ops,
                                        .name = "hold",
                                        .kind = GALE_BOLT_MANUAL,
                                        .prepare = hold_prepare,
                                        .execute = hold,
                                        .cleanup = free,
                                        .durable = &hold_durable };
static const gale_bolt_ops forget_ops = { .size = sizeof forget_ops,
                                          .name = "hold",
                                          .kind = GALE_BOLT_MANUAL,
                                          .prepare = hold_prepare,
                                          .execute = hold,
                                          .cleanup = free };

enum { TASKS_MAX = 32 };

typedef struct counter {
    uint32_t counts[NUMBERS];
    int64_t order;             /* of what it was given, for the bolt behind it */
    int64_t orders[TASKS_MAX]; /* the last that came, by the task that sent it */
} counter;

static int count_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)user, (void)context, (void)out;
    *ret_self = calloc(1, sizeof(counter));
    gx_add_relaxed(&s.open, 1);
    return *ret_self ? 0 : GALE_NO_MEMORY;
}

static void count_cleanup(void *self) {
    gx_add_relaxed(&s.open, (uint32_t)-1);
    free(self);
}

static int count(void *self, const gale_tuple *tuple, gale_collector *out) {
    counter *c = self;
    if (gale_tuple_is_tick(tuple)) return 0;
    c->counts[gale_tuple_value(tuple, 0).as.i64]++;
    gale_value order = gale_i64(++c->order);
    assert_true(gale_emit(out, 1, &order, 1) >= 0);
    return 0;
}

/* Once only, as an output that is written at the end is. */
static int count_finish(void *self, gale_collector *out) {
    counter *c = self;
    for (uint64_t i = 0; i < s.numbers; i++) {
        gale_value v[2] = { gale_i64((int64_t)i), gale_i64(c->counts[i]) };
        if (c->counts[i]) assert_true(gale_emit(out, 0, v, 2) >= 0);
    }
    return 0;
}

static int add_up(void *self, const gale_tuple *tuple, gale_collector *out) {
    counter *c = self;
    (void)out;
    if (gale_tuple_is_tick(tuple)) return 0;
    if (gale_tuple_size(tuple) == 1) {
        int64_t *last = &c->orders[gale_tuple_task(tuple) % TASKS_MAX], now = gale_tuple_value(tuple, 0).as.i64;
        if (!s.divides && now != *last + 1) fail_msg("%d came behind %d", (int)now, (int)*last);
        *last = now;
        return 0;
    }
    c->counts[gale_tuple_value(tuple, 0).as.i64] += (uint32_t)gale_tuple_value(tuple, 1).as.i64;
    return 0;
}

static int tell_all(void *self, gale_collector *out) {
    counter *c = self;
    (void)out;
    for (uint64_t i = 0; i < s.numbers; i++) gx_add_relaxed(&s.counted[i], c->counts[i]);
    return 0;
}

static int count_save(void *self, gale_saver *to) {
    counter *c = self;
    for (uint64_t i = 0; i < s.numbers; i++) {
        gale_value v[2] = { gale_i64((int64_t)i), gale_i64(c->counts[i]) };
        if (c->counts[i]) gale_save(to, v, 2);
    }
    for (int64_t task = 0; task <= TASKS_MAX; task++) {
        gale_value v[3] = { gale_i64(task), gale_i64(task < TASKS_MAX ? c->orders[task] : c->order), gale_null() };
        gale_save(to, v, 3);
    }
    return 0;
}

static int count_restore(void *self, gale_saved *from, gale_collector *out) {
    counter *c = self;
    const gale_value *v;
    size_t values;
    (void)out;
    if (s.stubborn) return GALE_COMPONENT;
    while (gale_saved_next(from, &v, &values) == 1)
        if (values == 3)
            *(v[0].as.i64 < TASKS_MAX ? &c->orders[v[0].as.i64] : &c->order) = v[1].as.i64;
        else if (gale_saved_is_own(from, v, 1))
            c->counts[v[0].as.i64] += (uint32_t)v[1].as.i64;
    return 0;
}

static const gale_durable_ops count_durable = { .size = sizeof count_durable,
                                                .version = 1,
                                                .flags = GALE_DURABLE_PARTS,
                                                .save = count_save,
                                                .restore = count_restore };
static const gale_bolt_ops count_ops = { .size = sizeof count_ops,
                                         .name = "count",
                                         .kind = GALE_BOLT_SIMPLE,
                                         .prepare = count_prepare,
                                         .execute = count,
                                         .finish = count_finish,
                                         .cleanup = count_cleanup,
                                         .durable = &count_durable };

static const gale_bolt_ops result_ops = { .size = sizeof result_ops,
                                          .name = "result",
                                          .kind = GALE_BOLT_SIMPLE,
                                          .prepare = count_prepare,
                                          .execute = add_up,
                                          .finish = tell_all,
                                          .cleanup = count_cleanup,
                                          .durable = &count_durable };

/* --- A run --- */

static gale_topology *build(void) {
    static const gale_output outputs[] = { { NULL, "number" } };
    gale_topology *topology = gale_topology_new("durable");
    gale_error error = GALE_ERROR_INIT;
    gale_spout source = { .size = sizeof source, .ops = &spout_ops, .outputs = outputs, .output_count = 1 };
    gale_bolt passing = { .size = sizeof passing, .ops = &pass_ops, .outputs = outputs, .output_count = 1 };
    gale_bolt holding = {
        .size = sizeof holding, .ops = s.forgets ? &forget_ops : &hold_ops, .outputs = outputs, .output_count = 1
    };
    static const gale_output totals[] = { { NULL, "number, count" }, { "order", "order" } };
    gale_bolt counting = { .size = sizeof counting, .ops = &count_ops, .outputs = totals, .output_count = 2 };
    gale_bolt result = { .size = sizeof result, .ops = &result_ops };
    gale_topology_add_spout(topology, "numbers", source, 1);
    gale_topology_add_bolt(topology, "pass", passing, s.pass_tasks);
    gale_topology_add_bolt(topology, "hold", holding, s.hold_tasks);
    gale_topology_add_bolt(topology, "count", counting, s.count_tasks);
    gale_topology_add_bolt(topology, "result", result, 1);
    gale_topology_subscribe(topology, "result", "count", NULL, gale_global());
    gale_topology_subscribe(topology, "result", "count", "order", gale_global());
    gale_topology_subscribe(topology, "pass", "numbers", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "hold", "pass", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "count", "hold", NULL, gale_fields("number"));
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(200));
    gale_topology_set(topology, NULL, "topology.tick.tuple.freq.secs", gale_f64(0.01));
    /* Behind those that send to it, in each round of steps. */
    if (s.hurries) gale_topology_set(topology, "result", "gale.executor", gale_i64(s.executors - 1));
    if (s.ackers >= 0) gale_topology_set(topology, NULL, "topology.acker.executors", gale_i64(s.ackers));
    assert_int_equal(gale_topology_check(topology, &error), 0);
    return topology;
}

/* A runtime, or what it was refused with. */
static int try_start(gale_runtime **ret_runtime, gale_error *error) {
    gale_topology *topology = build();
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_clock clock = gale_manual_clock_handle(s.clock);
    if (!s.threads) options.clock = &clock;
    options.executors = s.executors;
    options.seed = 7;
    options.until_drained = true;
    options.store = &s.store;
    options.checkpoint_interval = s.always ? 1 : (s.threads ? 1 : 5) * GALE_MILLISECOND;
    int rc = gale_runtime_new(topology, &options, ret_runtime, error);
    gale_topology_free(topology);
    return rc;
}

static gale_runtime *start(void) {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime = NULL;
    if (try_start(&runtime, &error) < 0) fail_msg("%s", error.text);
    return runtime;
}

/* At most so many steps; sometimes what was cut is committed. True when the run is over. */
static bool run(gale_runtime *runtime, uint64_t steps, gx_random *random) {
    for (uint64_t i = 0; i < steps; i++) {
        int64_t done = gale_runtime_step(runtime);
        if (done == GALE_STOPPED) return true;
        gale_manual_clock_advance(s.clock, s.hurries ? 6 * GALE_MILLISECOND : 100000);
        if (gx_random_below(random, 4) == 0) assert_true(gale_runtime_commit(runtime, NULL) >= 0);
    }
    return false;
}

static void assert_each_counted_once(void) {
    for (uint64_t i = 0; i < s.numbers; i++)
        if (s.counted[i] != 1) fail_msg("number %d was counted %u times", (int)i, s.counted[i]);
}

static void forget_counts(void) {
    for (uint64_t i = 0; i < NUMBERS; i++) gx_store_relaxed(&s.counted[i], 0);
}

/* Runs that end after a few steps, until one comes to the end. Returns how many there were. */
static int run_with_crashes(uint64_t seed, uint32_t most_steps) {
    gx_random random = gx_random_new(seed, 0);
    int runs = 0;
    for (bool over = false; !over; runs++) {
        if (runs > 5000) fail_msg("it does not come to an end");
        gale_runtime *runtime = start();
        gale_checkpoint_stats stats = { .size = 0 };
        gale_runtime_checkpoint_stats(runtime, &stats);
        if (!stats.complete) forget_counts(); /* else they were finished, and it lasts */
        over = run(runtime, 1 + gx_random_below(&random, most_steps), &random);
        gale_error error = GALE_ERROR_INIT;
        if (over) assert_int_equal(gale_runtime_wait(runtime, 0, &error), 0);
        gale_runtime_checkpoint_stats(runtime, &stats);
        if (over && stats.count) assert_int_equal(s.committed, stats.number); /* it is told before it closes */
        assert_int_equal(gale_runtime_free(runtime, -1, &error), 0);
        s.store.abandon(s.store.self);
    }
    return runs;
}

static int setup(void **state) {
    (void)state;
    s = (scene){ .numbers = 1000, .pass_tasks = 2, .count_tasks = 2, .hold_tasks = 1, .executors = 1, .ackers = -1 };
    memory_store_init(&s.disk);
    s.store = memory_store_open(&s.disk);
    s.clock = gale_manual_clock_new(0);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    s.store.close(s.store.self);
    memory_store_fini(&s.disk);
    gale_manual_clock_free(s.clock);
    return 0;
}

/* --- Tests --- */

static void a_run_that_is_not_interrupted_ends_with_a_checkpoint(void **state) {
    (void)state;
    assert_int_equal(run_with_crashes(1, 100000000), 1);
    assert_each_counted_once();
    assert_int_equal(s.emitted, s.numbers);
    assert_true(s.disk.commits > 0);
}

static void what_has_finished_is_not_run_again(void **state) {
    (void)state;
    run_with_crashes(1, 100000000);
    forget_counts();
    gale_runtime *runtime = start();
    gale_checkpoint_stats stats = { .size = 0 };
    assert_true(gale_runtime_checkpoint_stats(runtime, &stats));
    assert_true(stats.complete);
    uint64_t emitted = s.emitted;
    gx_random random = gx_random_new(1, 1);
    assert_true(run(runtime, 1000, &random));
    assert_int_equal(s.emitted, emitted);
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
}

static void a_run_that_ends_at_any_step_goes_on_and_counts_each_number_once(void **state) {
    (void)state;
    int runs = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        setup(NULL);
        s.executors = 1 + (uint32_t)(seed % 3);
        s.ackers = seed % 2 ? -1 : 2;
        s.fails = seed % 5 == 0;
        s.holds = (uint32_t)(seed % 4) * 20;
        s.hold_tasks = 1 + (uint32_t)(seed % 2);
        runs += run_with_crashes(seed, 400);
        assert_each_counted_once();
        if (seed < 30) teardown(NULL);
    }
    assert_true(runs > 100);
}

static void a_tick_that_was_not_done_comes_again_before_what_waited_behind_it(void **state) {
    (void)state;
    uint64_t resumed = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        setup(NULL);
        s.executors = 1 + (uint32_t)(seed % 2);
        s.holds = 30;
        s.parts = s.always = s.hurries = true;
        run_with_crashes(seed, 400);
        assert_each_counted_once();
        resumed += s.resumed;
        if (seed < 20) teardown(NULL);
    }
    assert_true(resumed > 10);
}

/* Steps until so many checkpoints last, and then ends as by a kill. */
static void run_until(uint64_t commits) {
    gale_runtime *runtime = start();
    for (int i = 0; s.disk.commits < commits; i++) {
        if (i > 100000) fail_msg("no checkpoint is made");
        assert_true(gale_runtime_step(runtime) >= 0);
        gale_manual_clock_advance(s.clock, 100000);
        assert_true(gale_runtime_commit(runtime, NULL) >= 0);
    }
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
}

static void what_a_bolt_holds_and_does_not_save_is_emitted_again(void **state) {
    (void)state;
    s.forgets = true;
    s.holds = 30;
    s.emitted = 0;
    assert_true(run_with_crashes(3, 300) > 3);
    for (uint64_t i = 0; i < s.numbers; i++)
        if (gx_load_relaxed(&s.counted[i]) < 1) fail_msg("number %d was lost", (int)i);
    assert_true(s.emitted > s.numbers);
}

static void another_number_of_executors_and_tasks_goes_on(void **state) {
    (void)state;
    gx_random random = gx_random_new(11, 0);
    s.holds = 20;
    s.divides = true;
    bool over = false;
    for (int runs = 0; !over; runs++) {
        if (runs > 5000) fail_msg("it does not come to an end");
        s.executors = 1 + gx_random_below(&random, 4);
        s.count_tasks = 1 + gx_random_below(&random, 7);
        s.pass_tasks = 1 + gx_random_below(&random, 4);
        gale_runtime *runtime = start();
        gale_checkpoint_stats stats = { .size = 0 };
        gale_runtime_checkpoint_stats(runtime, &stats);
        if (!stats.complete) forget_counts();
        over = run(runtime, 1 + gx_random_below(&random, 300), &random);
        assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
        s.store.abandon(s.store.self);
    }
    assert_each_counted_once();
}

static void what_cannot_be_divided_among_other_tasks_is_refused_with_both_numbers(void **state) {
    (void)state;
    s.holds = 20;
    run_until(3);
    s.hold_tasks = 2;
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime = NULL;
    assert_int_equal(try_start(&runtime, &error), GALE_STATE);
    assert_non_null(strstr(error.text, "'hold' had 1 tasks and has 2 now"));
    s.hold_tasks = 1;
    assert_int_equal(run_with_crashes(1, 100000000), 1);
    assert_each_counted_once();
}

static void a_task_that_cannot_go_on_is_closed_as_one_that_can(void **state) {
    (void)state;
    s.holds = 20;
    run_until(3);
    assert_int_equal(gx_load_relaxed(&s.open), 0);
    s.stubborn = true;
    gale_runtime *runtime = start();
    gale_error error = GALE_ERROR_INIT;
    for (int i = 0; gale_runtime_step(runtime) != GALE_STOPPED; i++) assert_true(i < 1000);
    assert_int_equal(gale_runtime_wait(runtime, 0, &error), GALE_COMPONENT);
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    assert_int_equal(gx_load_relaxed(&s.open), 0);
    s.stubborn = false;
    assert_int_equal(run_with_crashes(1, 100000000), 1);
    assert_each_counted_once();
}

static void what_the_store_refuses_stops_the_run_and_loses_nothing(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 60; n++) {
        teardown(NULL);
        setup(NULL);
        s.numbers = 300;
        s.disk.fail_at = n;
        gale_error error = GALE_ERROR_INIT;
        gale_runtime *runtime = NULL;
        int rc = try_start(&runtime, &error);
        for (int i = 0; rc >= 0 && gale_runtime_step(runtime) != GALE_STOPPED; i++) {
            if (i > 100000) fail_msg("it does not come to an end");
            gale_manual_clock_advance(s.clock, 100000);
            rc = gale_runtime_commit(runtime, &error);
        }
        bool failed = s.disk.calls >= n;
        assert_int_equal(rc < 0, failed);
        if (rc < 0) assert_non_null(strstr(error.text, "the store in memory was told to fail"));
        if (rc < 0 && runtime) {
            while (gale_runtime_step(runtime) != GALE_STOPPED) {
            }
            assert_int_equal(gale_runtime_wait(runtime, 0, &error), GALE_IO);
        }
        if (runtime) assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
        s.disk.fail_at = 0;
        s.store = memory_store_open(&s.disk);
        run_with_crashes(n, 300);
        assert_each_counted_once();
    }
}

/* Whatever stands in the store, nothing crashes: it is refused, or it fits. */
static void bytes_that_are_not_what_was_saved_are_refused_or_fit(void **state) {
    (void)state;
    s.holds = 20;
    run_until(4);
    uint64_t refused = 0, all = 0;
    for (size_t p = 0; p < s.disk.now.count; p++) {
        memory_pair *pair = &s.disk.now.list[p];
        for (size_t at = 0; at < pair->value_size; at += 1 + pair->value_size / 400) {
            gale_error error = GALE_ERROR_INIT;
            gale_runtime *runtime = NULL;
            pair->value[at] = (char)(pair->value[at] ^ (1 << at % 8));
            refused += try_start(&runtime, &error) < 0;
            all++;
            if (runtime) assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
            pair->value[at] = (char)(pair->value[at] ^ (1 << at % 8));
        }
    }
    assert_true(refused > all / 4);
    run_with_crashes(1, 400);
    assert_each_counted_once();
}

/* Some are stopped at once, as by a kill; some after one more checkpoint. */
static void a_run_on_threads_that_ends_at_any_moment_goes_on_and_counts_each_number_once(void **state) {
    (void)state;
    gx_random random = gx_random_new(5, 0);
    s.threads = true;
    s.executors = 3;
    s.fails = true;
    s.holds = 20;
    s.numbers = NUMBERS;
    bool over = false;
    int runs = 0;
    for (; !over; runs++) {
        if (runs > 500) fail_msg("it does not come to an end");
        gale_runtime *runtime = start();
        gale_checkpoint_stats stats = { .size = 0 };
        gale_runtime_checkpoint_stats(runtime, &stats);
        if (!stats.complete) forget_counts();
        over = stats.complete;
        gale_error error = GALE_ERROR_INIT;
        assert_int_equal(gale_runtime_start(runtime, &error), 0);
        (void)gale_runtime_wait(runtime, (int64_t)gx_random_below(&random, 3000000 * (2 + (uint32_t)runs)), &error);
        if (gx_random_below(&random, 2)) gale_runtime_suspend(runtime);
        if (gx_random_below(&random, 2)) {
            uint64_t number;
            (void)gale_runtime_checkpoint(runtime, GALE_MILLISECOND, &number);
        } else {
            (void)gale_runtime_wait(runtime, 2 * GALE_MILLISECOND, &error);
        }
        assert_int_equal(gale_runtime_free(runtime, -1, &error), 0);
        s.store.abandon(s.store.self);
    }
    assert_true(runs > 2);
    assert_each_counted_once();
}

static void bolts_finish_once_however_often_checkpoints_are_made(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        teardown(NULL);
        setup(NULL);
        s.always = true;
        s.numbers = 40;
        s.executors = 1 + (uint32_t)(seed % 3);
        run_with_crashes(seed, 120);
        assert_each_counted_once();
    }
}

static void what_is_left_in_queues_comes_back_in_its_order(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        teardown(NULL);
        setup(NULL);
        s.hurries = true;
        s.numbers = NUMBERS;
        s.executors = 2 + (uint32_t)(seed % 2);
        s.ackers = seed % 3 ? -1 : 1;
        s.count_tasks = 3;
        run_with_crashes(seed, 60);
        assert_each_counted_once();
    }
}

static void a_checkpoint_that_is_asked_for_lasts_when_that_returns(void **state) {
    (void)state;
    uint64_t number = 0;
    s.threads = true;
    gale_runtime *runtime = start();
    assert_int_equal(gale_runtime_checkpoint(runtime, 0, &number), GALE_STATE);
    assert_int_equal(gale_runtime_start(runtime, NULL), 0);
    int rc = gale_runtime_checkpoint(runtime, 10 * GALE_SECOND, &number);
    assert_true(rc == GALE_OK || rc == GALE_STOPPED);
    if (rc == GALE_OK) assert_true(number > 0 && s.disk.commits > 0);
    assert_int_equal(gale_runtime_commit(runtime, NULL), GALE_STATE);
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_that_is_not_interrupted_ends_with_a_checkpoint, setup, teardown),
        cmocka_unit_test_setup_teardown(what_has_finished_is_not_run_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_that_ends_at_any_step_goes_on_and_counts_each_number_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_tick_that_was_not_done_comes_again_before_what_waited_behind_it, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_a_bolt_holds_and_does_not_save_is_emitted_again, setup, teardown),
        cmocka_unit_test_setup_teardown(another_number_of_executors_and_tasks_goes_on, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_divided_among_other_tasks_is_refused_with_both_numbers, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_task_that_cannot_go_on_is_closed_as_one_that_can, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_store_refuses_stops_the_run_and_loses_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_that_are_not_what_was_saved_are_refused_or_fit, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_on_threads_that_ends_at_any_moment_goes_on_and_counts_each_number_once,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(bolts_finish_once_however_often_checkpoints_are_made, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_left_in_queues_comes_back_in_its_order, setup, teardown),
        cmocka_unit_test_setup_teardown(a_checkpoint_that_is_asked_for_lasts_when_that_returns, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
