/* Two sinks that send with checkpoints (gale_epochs), in one run: what one of them owes, and is asked for without an answer, keeps the other from nothing. */
#include "harness/counting_allocator.h"
#include "harness/numbers.h"

#include <gale/connect.h>

enum { NUMBERS = 1000, SLOW = 0, FAST = 1, ATTEMPTS = 8 };

typedef struct outside {
    uint32_t rows[NUMBERS];
    uint64_t run, number; /* the marker */
    uint64_t commits, count;
} outside;

static struct {
    numbers in;
    pthread_mutex_t mutex; /* of what is outside */
    outside of[2];
    uint64_t away;     /* so many calls of the slow one, from now on */
    bool waits, hangs; /* so does the slow one: until the other has all; until that is false */
    uint64_t ahead;    /* commits of the fast one when the slow one first answered */
} s;

static int setup(void **state) {
    (void)state;
    memset(&s, 0, sizeof s);
    pthread_mutex_init(&s.mutex, NULL);
    numbers_init(&s.in, NUMBERS);
    s.in.random = gx_random_new(1, 0);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    numbers_fini(&s.in);
    pthread_mutex_destroy(&s.mutex);
    return 0;
}

/* --- The sinks --- */

static bool is_held(void) {
    pthread_mutex_lock(&s.mutex);
    bool held = s.hangs || (s.waits && s.of[FAST].count < NUMBERS);
    pthread_mutex_unlock(&s.mutex);
    return held;
}

static void let_it_answer(void) {
    pthread_mutex_lock(&s.mutex);
    s.hangs = false;
    pthread_mutex_unlock(&s.mutex);
}

static int send(outside *to, gale_epoch *epoch) {
    const gale_value *row;
    size_t count;
    pthread_mutex_lock(&s.mutex);
    bool is_new = to->run != gale_epoch_run(epoch) || to->number < gale_epoch_number(epoch);
    for (; is_new && gale_epoch_next(epoch, &row, &count) > 0; to->count++) to->rows[atoi(row[0].as.string)]++;
    to->run = gale_epoch_run(epoch);
    to->number = gale_epoch_number(epoch);
    to->commits += is_new;
    pthread_mutex_unlock(&s.mutex);
    return 0;
}

/* Not for ever, so that the test fails. */
static int commit_slow(void *user, gale_epoch *epoch, gale_error *error) {
    (void)user;
    for (int i = 0; i < 20000 && is_held(); i++) usleep(1000);
    if (is_held()) return gale_error_set(error, GALE_COMPONENT, "the other one waits for this one");
    if (s.away && --s.away) return gale_error_set(error, GALE_AGAIN, "the system is away");
    if (s.of[SLOW].commits == 0) s.ahead = s.of[FAST].commits;
    return send(&s.of[SLOW], epoch);
}

static int commit_fast(void *user, gale_epoch *epoch, gale_error *error) {
    (void)user;
    (void)error;
    return send(&s.of[FAST], epoch);
}

/* The slow one has room for all, so that nobody waits behind it. */
static int prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_epochs_options options = GALE_EPOCHS_OPTIONS_INIT;
    bool slow = strcmp(context->component, "slow") == 0;
    (void)user;
    options.memory = slow ? 4 << 20 : 2000;
    options.commit = slow ? commit_slow : commit_fast;
    gale_epochs *epochs;
    assert_int_equal(gale_epochs_new(context, out, &options, &epochs, NULL), 0);
    *ret_self = epochs;
    return 0;
}

static int execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    gale_value row = gale_tuple_value(tuple, 0);
    return gale_tuple_is_tick(tuple) ? 0 : gale_epochs_take(self, &row, 1);
}

static void cleanup(void *self) {
    gale_epochs_free(self);
}

static int save(void *self, gale_saver *to) {
    return gale_epochs_save(self, to);
}

static int restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return gale_epochs_restore(self, from);
}

static void committed(void *self, uint64_t checkpoint) {
    gale_epochs_committed(self, checkpoint);
}

static const gale_durable_ops durable = {
    .size = sizeof durable, .version = 1, .save = save, .restore = restore, .committed = committed
};

static const gale_bolt_ops ops = { .size = sizeof ops,
                                   .name = "epochs",
                                   .kind = GALE_BOLT_SIMPLE,
                                   .prepare = prepare,
                                   .execute = execute,
                                   .cleanup = cleanup,
                                   .durable = &durable };

/* --- Runs --- */

static gale_topology *build(void) {
    static const char *const names[] = { "slow", "fast" };
    gale_topology *topology = gale_topology_new("two");
    numbers_add_spout(&s.in, topology);
    for (int i = 0; i < 2; i++) {
        gale_topology_add_bolt(topology, names[i], (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops }, 1);
        gale_topology_subscribe(topology, names[i], "lines", NULL, gale_shuffle());
    }
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(20));
    return topology;
}

static gale_runtime *start(void) {
    gale_error error = GALE_ERROR_INIT;
    gale_topology *topology = build();
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 2;
    options.until_drained = true;
    options.store = &s.in.store;
    options.checkpoint_interval = GALE_MILLISECOND;
    gale_runtime *runtime = NULL;
    if (gale_runtime_new(topology, &options, &runtime, &error) < 0) fail_msg("%s", error.text);
    gale_topology_free(topology);
    if (gale_runtime_start(runtime, &error) < 0) fail_msg("%s", error.text);
    return runtime;
}

static void run_to_the_end(void) {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime = start();
    if (gale_runtime_wait(runtime, -1, &error) < 0) fail_msg("%s", error.text);
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
}

static void assert_each_came_once(void) {
    for (int of = 0; of < 2; of++)
        for (int i = 0; i < NUMBERS; i++)
            if (s.of[of].rows[i] != 1) fail_msg("number %d came %u times to %d", i, s.of[of].rows[i], of);
}

static void a_system_that_does_not_answer_keeps_the_other_from_nothing(void **state) {
    (void)state;
    s.waits = true;
    run_to_the_end();
    assert_each_came_once();
}

static void a_system_that_is_away_keeps_the_other_from_nothing(void **state) {
    gale_error error = GALE_ERROR_INIT;
    int rc;
    (void)state;
    s.away = ATTEMPTS;
    assert_true(numbers_run(&s.in, build(), 10000000, 5 * GALE_MILLISECOND, &rc, &error));
    if (rc < 0) fail_msg("%s", error.text);
    assert_int_equal(s.in.failed_commits, 0);
    assert_each_came_once();
    assert_true(s.ahead > ATTEMPTS); /* it was asked more often than the slow one */
}

static void a_run_that_is_suspended_says_who_does_not_answer_and_the_next_one_sends_it(void **state) {
    gale_error error = GALE_ERROR_INIT;
    (void)state;
    s.hangs = true;
    gale_runtime *runtime = start();
    uint64_t number;
    while (gale_runtime_checkpoint(runtime, -1, &number) == 0 && number < 5) {
    }
    gale_runtime_suspend(runtime);
    assert_int_equal(gale_runtime_wait(runtime, -1, &error), 0);
    assert_int_equal(gale_runtime_free(runtime, 10 * GALE_MILLISECOND, &error), GALE_TIMED_OUT);
    assert_non_null(strstr(error.text, "'slow' is still asked to commit, and does not answer"));
    let_it_answer();
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    run_to_the_end();
    assert_each_came_once();
}

/* Of a process that its memory fails, at the n-th time that a commit asks for some. True: it came to its end. */
static bool run_without_memory(size_t nth, gale_error *error) {
    counting_allocator counting = { .fail_at = 0 };
    gale_allocator allocator = counting_handle(&counting);
    gale_clock clock = gale_manual_clock_handle(s.in.clock);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.clock = &clock;
    options.allocator = &allocator;
    options.executors = 2;
    options.until_drained = true;
    options.store = &s.in.store;
    options.checkpoint_interval = 5 * GALE_MILLISECOND;
    gale_topology *topology = build();
    gale_runtime *runtime = NULL;
    if (gale_runtime_new(topology, &options, &runtime, error) < 0) fail_msg("%s", error->text);
    gale_topology_free(topology);
    int rc = 0;
    size_t left = nth;
    bool closed = false;
    while (rc >= 0 && !closed) {
        closed = gale_runtime_step(runtime) == GALE_STOPPED;
        gale_manual_clock_advance(s.in.clock, 100000);
        size_t before = counting.calls;
        counting.fail_at = left ? before + left : 0;
        rc = gale_runtime_commit(runtime, error);
        left -= left < counting.calls - before ? left : counting.calls - before;
        counting.fail_at = 0;
    }
    if (rc < 0) assert_int_equal(rc, GALE_NO_MEMORY);
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    assert_int_equal(counting.blocks, 0);
    s.in.store.abandon(s.in.store.self);
    return rc >= 0;
}

/* A keeper and its list, of each of the two. */
static void without_memory_for_what_is_promised_the_checkpoint_fails_and_nothing_is_lost(void **state) {
    (void)state;
    for (size_t nth = 1; nth <= 4; nth++) {
        gale_error error = GALE_ERROR_INIT;
        assert_false(run_without_memory(nth, &error));
        assert_non_null(strstr(error.text, "no memory for what a checkpoint promises"));
        assert_non_null(strstr(error.text, "could not be made to last; the run can go on from the one before"));
        assert_true(run_without_memory(0, &error));
        assert_each_came_once();
        teardown(NULL);
        setup(NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_system_that_does_not_answer_keeps_the_other_from_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_system_that_is_away_keeps_the_other_from_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_that_is_suspended_says_who_does_not_answer_and_the_next_one_sends_it,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_for_what_is_promised_the_checkpoint_fails_and_nothing_is_lost,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
