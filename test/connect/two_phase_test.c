/* A sink with two phases in durable runs that end at any step, with a database that fails at each: every number is
 * committed once. */
#include "harness/numbers.h"
#include "harness/two_phase_sink.h"

enum { NUMBERS = 1000 };

static struct {
    numbers in;
    database db;
} s;

static int setup(void **state) {
    (void)state;
    memset(&s, 0, sizeof s);
    numbers_init(&s.in, NUMBERS);
    database_init(&s.db);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    database_fini(&s.db);
    numbers_fini(&s.in);
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
    gale_bolt number = { .size = sizeof number, .ops = &number_ops, .outputs = outputs, .output_count = 1 };
    numbers_add_spout(&s.in, topology);
    gale_topology_add_bolt(topology, "number", number, 1);
    gale_topology_add_bolt(topology, "sink", two_phase_sink(&s.db), 2);
    gale_topology_subscribe(topology, "number", "lines", NULL, gale_shuffle());
    gale_topology_subscribe(topology, "sink", "number", NULL, gale_fields("number"));
    gale_topology_set(topology, NULL, "topology.max.spout.pending", gale_i64(7));
    return topology;
}

/* True when it came to its end. */
static bool run(uint64_t steps) {
    gale_error error = GALE_ERROR_INIT;
    int rc;
    bool closed = numbers_run(&s.in, build(), steps, 5 * GALE_MILLISECOND, &rc, &error);
    if (rc < 0 && !strstr(error.text, "the database could not")) fail_msg("%s", error.text);
    assert_true(rc == 0 || s.db.failures > 0);
    return closed && rc == 0;
}

static void assert_each_committed_once(void) {
    for (int i = 0; i < NUMBERS; i++)
        if (s.db.rows[i] != 1) fail_msg("number %d was committed %u times", i, s.db.rows[i]);
    assert_int_equal(database_in_doubt(&s.db), 0);
}

static void without_faults_every_checkpoint_is_a_transaction(void **state) {
    (void)state;
    s.in.random = gx_random_new(1, 0);
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
        s.in.random = gx_random_new(seed, 0);
        int runs = 0;
        for (bool over = false; !over; runs++) {
            assert_in_range(runs, 0, 5000);
            database_fail(&s.db, (database_step)(gx_random_below(&s.in.random, DATABASE_STEPS)),
                          gx_random_below(&s.in.random, 4));
            over = run(1 + gx_random_below(&s.in.random, 200));
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
