/* A sink that sends with checkpoints (gale_epochs), in durable runs that end at any step, with a system that is away or loses
 * its answers: every number comes once. */
#include "harness/numbers.h"

#include <gale/connect.h>

enum { NUMBERS = 1000, TASKS = 2, MARKERS = 1000 };

static struct {
    numbers in;
    /* Outside. */
    uint32_t rows[NUMBERS];
    struct {
        uint64_t run, number;
    } markers[TASKS][MARKERS];
    uint64_t away, lost; /* so many calls from now on */
    uint32_t away_odds;  /* one call in so many finds it away; 0: none */
    uint64_t hangs;      /* a call takes until so many checkpoints have lasted; 0: none does */
    uint64_t back_at;    /* checkpoints that had lasted when it was there again */
    int refuses;         /* what a call says; 0: it commits */
    uint64_t commits;
} s;

static int setup(void **state) {
    (void)state;
    memset(&s, 0, sizeof s);
    numbers_init(&s.in, NUMBERS);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    numbers_fini(&s.in);
    return 0;
}

/* --- The sink --- */

typedef struct sink {
    uint32_t task;
    gale_epochs *epochs;
} sink;

static uint64_t checkpoints(void) {
    pthread_mutex_lock(&s.in.disk.mutex);
    uint64_t commits = s.in.disk.commits;
    pthread_mutex_unlock(&s.in.disk.mutex);
    return commits;
}

/* Of each run one. */
static uint64_t *marker_of(uint32_t task, uint64_t run) {
    for (int i = 0; i < MARKERS; i++) {
        if (s.markers[task][i].run == 0) s.markers[task][i].run = run;
        if (s.markers[task][i].run == run) return &s.markers[task][i].number;
    }
    abort();
}

static int commit(void *user, gale_epoch *epoch, gale_error *error) {
    uint32_t task = *(uint32_t *)user;
    const gale_value *row;
    size_t count;
    while (s.hangs && checkpoints() < s.hangs) usleep(1000);
    bool away = s.away > 0 || (s.away_odds && gx_random_below(&s.in.random, s.away_odds) == 0);
    if (s.away && --s.away == 0) s.back_at = checkpoints();
    if (away) return gale_error_set(error, GALE_AGAIN, "the system is away");
    if (s.refuses) return gale_error_set(error, s.refuses, "a row is refused");
    uint64_t *marker = marker_of(task, gale_epoch_run(epoch));
    if (*marker >= gale_epoch_number(epoch)) return 0;
    while (gale_epoch_next(epoch, &row, &count) > 0) s.rows[atoi(row[0].as.string)]++;
    *marker = gale_epoch_number(epoch);
    if (gale_epoch_forgets(epoch)) *marker_of(task, gale_epoch_forgets(epoch)) = 0;
    s.commits++;
    return s.lost && s.lost-- ? gale_error_set(error, GALE_AGAIN, "its answer was lost") : 0;
}

static int prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    sink *made = test_calloc(1, sizeof *made);
    uint32_t *task = malloc(sizeof *task);
    gale_epochs_options options = GALE_EPOCHS_OPTIONS_INIT;
    (void)user;
    made->task = *task = context->task_index;
    options.memory = 2000;
    options.commit = commit;
    options.drop = free;
    options.user = task;
    assert_int_equal(gale_epochs_new(context, out, &options, &made->epochs, NULL), 0);
    *ret_self = made;
    return 0;
}

static int execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)out;
    gale_value row = gale_tuple_value(tuple, 0);
    return gale_tuple_is_tick(tuple) ? 0 : gale_epochs_take(((sink *)self)->epochs, &row, 1);
}

static void cleanup(void *self) {
    gale_epochs_free(((sink *)self)->epochs);
    test_free(self);
}

static int save(void *self, gale_saver *to) {
    return gale_epochs_save(((sink *)self)->epochs, to);
}

static int restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return gale_epochs_restore(((sink *)self)->epochs, from);
}

static void committed(void *self, uint64_t checkpoint) {
    gale_epochs_committed(((sink *)self)->epochs, checkpoint);
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
    gale_topology *topology = gale_topology_new("epochs");
    numbers_add_spout(&s.in, topology);
    gale_topology_add_bolt(topology, "sink", (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops }, TASKS);
    gale_topology_subscribe(topology, "sink", "lines", NULL, gale_shuffle());
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(20));
    return topology;
}

/* True when it came to its end. One that goes on from its end ends at once, while what it owes finds the system away. */
static bool run(uint64_t steps, int64_t interval) {
    gale_error error = GALE_ERROR_INIT;
    int rc;
    bool closed = numbers_run(&s.in, build(), steps, interval, &rc, &error);
    bool too_early = rc == GALE_IO && strstr(error.text, "the system is away");
    if (rc < 0 && !too_early) fail_msg("%s", error.text);
    assert_int_equal(s.in.failed_commits, 0);
    return closed && !too_early;
}

/* With threads of its own: two executors, the committer and the keeper. It is suspended when so many checkpoints have lasted; 0: it runs to its
 * end. Returns what waiting for it says. */
static int run_on_threads(uint64_t suspended_at, gale_error *error) {
    gale_topology *topology = build();
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 2;
    options.until_drained = true;
    options.store = &s.in.store;
    options.checkpoint_interval = GALE_MILLISECOND;
    gale_runtime *runtime = NULL;
    if (gale_runtime_new(topology, &options, &runtime, error) < 0) fail_msg("%s", error->text);
    gale_topology_free(topology);
    if (gale_runtime_start(runtime, error) < 0) fail_msg("%s", error->text);
    while (suspended_at && checkpoints() < suspended_at) usleep(1000);
    if (suspended_at) gale_runtime_suspend(runtime);
    int rc = gale_runtime_wait(runtime, -1, error);
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    return rc;
}

static void run_on_threads_to_the_end(void) {
    gale_error error = GALE_ERROR_INIT;
    if (run_on_threads(0, &error) < 0) fail_msg("%s", error.text);
}

static void assert_each_came_once(void) {
    for (int i = 0; i < NUMBERS; i++)
        if (s.rows[i] != 1) fail_msg("number %d came %u times", i, s.rows[i]);
}

static void a_run_sends_all_that_it_was_given_also_with_its_last_checkpoint(void **state) {
    (void)state;
    s.in.random = gx_random_new(1, 0);
    assert_true(run(1000000, 5 * GALE_MILLISECOND));
    assert_each_came_once();
}

static void a_full_bound_is_a_checkpoint_long_before_its_time(void **state) {
    (void)state;
    s.in.random = gx_random_new(1, 0);
    assert_true(run(1000000, 1000 * GALE_SECOND));
    assert_each_came_once();
    assert_true(s.commits > 4);
}

static void a_system_that_is_away_and_loses_answers_gets_each_once(void **state) {
    (void)state;
    s.in.random = gx_random_new(2, 0);
    s.away = 2;
    s.lost = 2;
    assert_true(run(1000000, 20 * GALE_MILLISECOND));
    assert_each_came_once();
}

#if defined(__SANITIZE_THREAD__)
enum { SEEDS = 20 }; /* of one thread: there is little to find */
#else
enum { SEEDS = 200 };
#endif

static void runs_that_die_at_any_step_send_each_once(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        s.in.random = gx_random_new(seed, 1);
        s.lost = 0;
        s.away_odds = seed % 4 ? 1 + (uint32_t)(seed % 4) : 0;
        while (!run(1 + gx_random_below(&s.in.random, 400), 5 * GALE_MILLISECOND)) {
        }
        assert_each_came_once();
        teardown(NULL);
        setup(NULL);
    }
}

static void checkpoints_go_on_while_the_system_is_away(void **state) {
    (void)state;
    s.in.random = gx_random_new(3, 0);
    s.away = 12;
    assert_true(run(10000000, 5 * GALE_MILLISECOND));
    assert_each_came_once();
    assert_true(s.back_at > 100); /* pauses of more than 10 s in all */
}

static void on_threads_while_the_system_comes_and_goes_each_comes_once(void **state) {
    (void)state;
    s.away = 3;
    s.lost = 1;
    run_on_threads_to_the_end();
    assert_each_came_once();
}

static void a_system_that_does_not_answer_holds_no_checkpoint_up(void **state) {
    (void)state;
    s.hangs = 20;
    run_on_threads_to_the_end();
    assert_each_came_once();
}

static void a_run_is_suspended_while_the_system_is_away_and_the_next_one_sends_the_rest(void **state) {
    gale_error error = GALE_ERROR_INIT;
    (void)state;
    s.away = UINT64_MAX;
    assert_int_equal(run_on_threads(10, &error), 0);
    assert_int_equal(s.commits, 0);
    s.away = 0;
    run_on_threads_to_the_end();
    assert_each_came_once();
}

/* The next run goes on from it, and asks again. */
static void what_the_system_refuses_ends_the_run_in_words(void **state) {
    gale_error error = GALE_ERROR_INIT;
    (void)state;
    s.refuses = GALE_COMPONENT;
    assert_int_equal(run_on_threads(0, &error), GALE_COMPONENT);
    assert_non_null(strstr(error.text, "a row is refused"));
    assert_non_null(strstr(error.text, "'sink' could not commit its part of a checkpoint"));
    assert_non_null(strstr(error.text, "promises could not be kept; the run can go on from it"));
    s.refuses = 0;
    run_on_threads_to_the_end();
    assert_each_came_once();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_sends_all_that_it_was_given_also_with_its_last_checkpoint, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_full_bound_is_a_checkpoint_long_before_its_time, setup, teardown),
        cmocka_unit_test_setup_teardown(a_system_that_is_away_and_loses_answers_gets_each_once, setup, teardown),
        cmocka_unit_test_setup_teardown(checkpoints_go_on_while_the_system_is_away, setup, teardown),
        cmocka_unit_test_setup_teardown(a_system_that_does_not_answer_holds_no_checkpoint_up, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_is_suspended_while_the_system_is_away_and_the_next_one_sends_the_rest,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_system_refuses_ends_the_run_in_words, setup, teardown),
        cmocka_unit_test_setup_teardown(on_threads_while_the_system_comes_and_goes_each_comes_once, setup, teardown),
        cmocka_unit_test_setup_teardown(runs_that_die_at_any_step_send_each_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
