/* Whole runs of numbers through a disk buffer, to a bolt that may fail, on two executors. */
#include "connect/spool/sink.h"
#include "connect/spool/spool.h"
#include "connect/spool/spout.h"
#include "harness/cm.h"

#include <gale/gale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { COUNT = 500, ROOM = 80 };

typedef struct run {
    char home[ROOM];
    gale_topology *topology;
    int64_t emitted, acks;          /* of the source */
    int64_t taken[4 * COUNT], kept; /* in order */
    int64_t fails_at, fails;        /* this number fails so often */
    int64_t rejects;                /* and this one is rejected, unless it is 0 */
    int code;
} run;

static int source_next(void *self, gale_collector *out, gale_wait *wait) {
    run *r = self;
    (void)wait;
    if (r->emitted == COUNT) return GALE_NEXT_DONE;
    const gale_value number = gale_i64(++r->emitted);
    int rc = gale_emit_tracked(out, 0, &number, 1, (uint64_t)r->emitted);
    return rc < 0 ? rc : GALE_NEXT_EMITTED;
}

static void source_ack(void *self, uint64_t id) {
    (void)id;
    ((run *)self)->acks++;
}

static gale_spout source_of(run *r) {
    static const gale_spout_ops ops = { .size = sizeof ops, .name = "source", .next = source_next, .ack = source_ack };
    static const gale_output output = { NULL, "number" };
    return (gale_spout){ .size = sizeof(gale_spout), .ops = &ops, .user = r, .outputs = &output, .output_count = 1 };
}

static int target_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    run *r = self;
    int64_t number = gale_tuple_value(tuple, 0).as.i64;
    gale_handle handle = gale_tuple_handle(tuple);
    if (number == r->rejects) return gale_reject(out, handle, "never");
    if (number == r->fails_at && r->fails && r->fails--) return gale_fail(out, handle, GALE_REASON_FAILED, "not now");
    r->taken[r->kept++] = number;
    return gale_ack(out, handle);
}

static gale_bolt target_of(run *r) {
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "target", .kind = GALE_BOLT_MANUAL, .execute = target_execute
    };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .user = r };
}

static void begin(run *r) {
    *r = (run){ .code = 0 };
    snprintf(r->home, sizeof r->home, "/tmp/gale-spool-XXXXXX");
    assert_non_null(mkdtemp(r->home));
}

static void end(const run *r) {
    char command[ROOM + 20];
    snprintf(command, sizeof command, "rm -rf %s", r->home);
    assert_int_equal(system(command), 0);
}

static void build(run *r, uint32_t attempts) {
    gale_bolt sink;
    gale_spout spout;
    const gx_spool_sink_options in = { .path = r->home, .disk = 1 << 20 };
    const gx_spool_spout_options out = { .path = r->home, .fields = "number", .attempts = attempts };
    assert_int_equal(gx_spool_sink(&in, &sink, NULL), 0);
    assert_int_equal(gx_spool_spout(&out, &spout, NULL), 0);
    r->topology = gale_topology_new("spool");
    gale_topology_set(r->topology, NULL, "topology.message.timeout.secs", gale_i64(3600));
    gale_topology_add_spout(r->topology, "source", source_of(r), 1);
    gale_topology_add_spout(r->topology, "drain", spout, 1);
    gale_topology_add_bolt(r->topology, "buffer", sink, 1);
    gale_topology_add_bolt(r->topology, "target", target_of(r), 1);
    gale_topology_subscribe(r->topology, "buffer", "source", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "target", "drain", NULL, gale_shuffle());
}

/* Until it is drained: by itself. */
static void run_all(run *r, uint32_t attempts) {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_runtime *runtime;
    build(r, attempts);
    options.executors = 2;
    options.until_drained = true;
    assert_int_equal(gale_runtime_new(r->topology, &options, &runtime, &error), 0);
    assert_int_equal(gale_runtime_start(runtime, &error), 0);
    r->code = gale_runtime_wait(runtime, 120 * GALE_SECOND, &error);
    assert_int_equal(gale_runtime_free(runtime, -1, NULL), 0);
    gale_topology_free(r->topology);
}

static void a_run_ends_by_itself_when_all_is_through(void **state) {
    (void)state;
    for (int i = 0; i < 5; i++) {
        run r;
        begin(&r);
        run_all(&r, 0);
        assert_int_equal(r.code, 0);
        assert_int_equal(r.acks, COUNT);
        assert_int_equal(r.kept, COUNT);
        for (int64_t n = 0; n < COUNT; n++) assert_int_equal(r.taken[n], n + 1);
        end(&r);
    }
}

static void what_fails_comes_again_until_it_is_taken(void **state) {
    (void)state;
    run r;
    begin(&r);
    r.fails_at = 7;
    r.fails = 5; /* more often than sources try by themselves */
    run_all(&r, 0);
    int64_t sevens = 0;
    for (int64_t n = 0; n < r.kept; n++) sevens += r.taken[n] == 7;
    assert_int_equal(r.code, 0);
    assert_int_equal(r.kept, COUNT);
    assert_int_equal(sevens, 1);
    assert_int_equal(r.fails, 0);
    end(&r);
}

static void what_has_its_last_attempt_is_given_up(void **state) {
    (void)state;
    run r;
    begin(&r);
    r.fails_at = 7;
    r.fails = 100;
    run_all(&r, 2);
    assert_int_equal(r.kept, COUNT - 1);
    assert_int_equal(r.fails, 98);
    end(&r);
}

static void what_is_rejected_leaves_and_is_not_in_the_next_run(void **state) {
    (void)state;
    run r;
    begin(&r);
    r.rejects = 9;
    run_all(&r, 0);
    assert_int_equal(r.kept, COUNT - 1);
    r.rejects = r.kept = 0;
    run_all(&r, 0); /* the source is at its end */
    assert_int_equal(r.kept, 0);
    end(&r);
}

/* It was woken all the same, slept again before the sink looked, and so on for seconds. */
static void a_spout_that_sleeps_holds_up_what_it_has_not_read_and_nothing_else(void **state) {
    (void)state;
    gx_spool *spool = test_calloc(1, sizeof *spool);
    uint64_t safe;
    bool asleep;
    assert_true(gx_monitor_init(&spool->log.monitor));
    spool->log.safe = 5;
    assert_false(gx_spool_sleep(spool, 4));
    assert_true(gx_spool_sleep(spool, 5));
    assert_int_equal(gx_spool_safe(spool, &safe, &asleep, NULL), 0);
    assert_int_equal(safe, 5);
    assert_false(asleep);
    spool->log.safe = 6;
    assert_int_equal(gx_spool_safe(spool, &safe, &asleep, NULL), 0);
    assert_true(asleep);
    gx_monitor_fini(&spool->log.monitor);
    test_free(spool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_ends_by_itself_when_all_is_through),
        cmocka_unit_test(what_fails_comes_again_until_it_is_taken),
        cmocka_unit_test(what_has_its_last_attempt_is_given_up),
        cmocka_unit_test(what_is_rejected_leaves_and_is_not_in_the_next_run),
        cmocka_unit_test(a_spout_that_sleeps_holds_up_what_it_has_not_read_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
