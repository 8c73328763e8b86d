/* A sink with two phases in durable runs that end at any step, with a database that fails at each: every number is
 * committed once. */
#include "base/random.h"
#include "harness/cm.h"
#include "harness/memory_store.h"
#include "harness/two_phase_sink.h"

#include <gale/file.h>
#include <gale/gale.h>
#include <stdio.h>
#include <unistd.h>

enum { NUMBERS = 1000 };

static struct {
    memory_store disk;
    gale_store store;
    gale_manual_clock *clock;
    database db;
    char in[60];
    gx_random random;
} s;

static int setup(void **state) {
    (void)state;
    memset(&s, 0, sizeof s);
    memory_store_init(&s.disk);
    s.store = memory_store_open(&s.disk);
    s.clock = gale_manual_clock_new(0);
    database_init(&s.db);
    snprintf(s.in, sizeof s.in, "/tmp/gale_two_phase_XXXXXX");
    int fd = mkstemp(s.in);
    assert_true(fd >= 0);
    for (int i = 0; i < NUMBERS; i++) dprintf(fd, "%d\n", i);
    close(fd);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    unlink(s.in);
    database_fini(&s.db);
    s.store.close(s.store.self);
    memory_store_fini(&s.disk);
    gale_manual_clock_free(s.clock);
    return 0;
}

static int to_number(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self;
    if (gale_tuple_is_tick(tuple)) return 0;
    gale_value number = gale_i64(atoi(gale_tuple_value(tuple, 0).as.string));
    return gale_emit(out, 0, &number, 1) < 0 ? GALE_NO_MEMORY : 0;
}

static const gale_bolt_ops number_ops = { .size = sizeof number_ops,
                                          .name = "number",
                                          .kind = GALE_BOLT_SIMPLE,
                                          .execute = to_number,
                                          .durable = &gale_stateless };

static gale_topology *build(void) {
    static const gale_output outputs[] = { { NULL, "number" } };
    gale_topology *topology = gale_topology_new("two phases");
    gale_file_spout_options from = { .size = sizeof from, .path = s.in };
    gale_spout lines;
    gale_bolt number = { .size = sizeof number, .ops = &number_ops, .outputs = outputs, .output_count = 1 };
    assert_int_equal(gale_file_spout(&from, &lines, NULL), 0);
    gale_topology_add_spout(topology, "lines", lines, 1);
    gale_topology_add_bolt(topology, "number", number, 1);
    gale_topology_add_bolt(topology, "sink", two_phase_sink(&s.db), 2);
    gale_topology_subscribe(topology, "number", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "sink", "number", NULL, gale_fields("number"));
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(7));
    return topology;
}

/* So many steps, of a new process. True when it came to its end. */
static bool run(uint64_t steps) {
    gale_topology *topology = build();
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_clock clock = gale_manual_clock_handle(s.clock);
    gale_error error = GALE_ERROR_INIT;
    options.clock = &clock;
    options.executors = 2;
    options.seed = 7;
    options.until_drained = true;
    options.store = &s.store;
    options.checkpoint_interval = 5 * GALE_MILLISECOND;
    gale_runtime *runtime = NULL;
    if (gale_runtime_new(topology, &options, &runtime, &error) < 0) fail_msg("%s", error.text);
    gale_topology_free(topology);
    bool closed = false;
    for (uint64_t i = 0; i < steps && !closed; i++) {
        closed = gale_runtime_step(runtime) == GALE_STOPPED;
        gale_manual_clock_advance(s.clock, 100000);
        if (gx_random_below(&s.random, 4) == 0) (void)gale_runtime_commit(runtime, NULL);
    }
    uint64_t failed = s.db.failures;
    int rc = closed ? gale_runtime_wait(runtime, 0, &error) : 0;
    if (rc < 0 && !strstr(error.text, "the database could not")) fail_msg("%s", error.text);
    assert_true(rc == 0 || failed > 0);
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    s.store.abandon(s.store.self);
    return closed && rc == 0;
}

static void assert_each_committed_once(void) {
    for (int i = 0; i < NUMBERS; i++)
        if (s.db.rows[i] != 1) fail_msg("number %d was committed %u times", i, s.db.rows[i]);
    assert_int_equal(database_in_doubt(&s.db), 0);
}

static void without_faults_every_checkpoint_is_a_transaction(void **state) {
    (void)state;
    s.random = gx_random_new(1, 0);
    assert_true(run(1000000));
    assert_each_committed_once();
    assert_true(s.db.commits > 2);
    assert_int_equal(s.db.recovered + s.db.undone, 0);
}

static void whatever_step_fails_and_whenever_a_run_ends_each_number_is_committed_once(void **state) {
    (void)state;
    uint64_t recovered = 0, undone = 0, failures = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        teardown(NULL);
        setup(NULL);
        s.random = gx_random_new(seed, 0);
        int runs = 0;
        for (bool over = false; !over; runs++) {
            assert_in_range(runs, 0, 5000);
            database_fail(&s.db, (database_step)(gx_random_below(&s.random, DATABASE_STEPS)),
                          gx_random_below(&s.random, 4));
            over = run(1 + gx_random_below(&s.random, 200));
        }
        assert_each_committed_once();
        recovered += s.db.recovered;
        undone += s.db.undone;
        failures += s.db.failures;
    }
    /* Each way has been gone. */
    assert_true(recovered > 10 && undone > 10 && failures > 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_faults_every_checkpoint_is_a_transaction, setup, teardown),
        cmocka_unit_test_setup_teardown(whatever_step_fails_and_whenever_a_run_ends_each_number_is_committed_once,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
