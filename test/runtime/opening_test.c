/* Components that say "not now" when they are opened: the run begins without them, asks again, and loses nothing. */
#include "runtime/rig.h"

#include "harness/memory_store.h"

#include <gale/state.h>
#include <gale/watch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static rig_spout spout;
static rig_bolt taker;
static char log_[RIG_LOG_MAX];

static void fresh(uint64_t tuples) {
    memset(&spout, 0, sizeof spout);
    memset(&taker, 0, sizeof taker);
    memset(log_, 0, sizeof log_);
    spout.to_emit = tuples;
    taker.on = rig_take;
    taker.log = log_;
    taker.name = 'T';
}

/* A spout, and a bolt that takes what it emits. */
static void build(rig *r, uint64_t tuples) {
    fresh(tuples);
    rig_init(r);
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "taker", rig_simple(&taker), 1);
    gale_topology_subscribe(r->topology, "taker", "spout", NULL, gale_shuffle());
}

static void a_bolt_that_is_not_open_loses_nothing(void **state) {
    (void)state;
    rig r;
    build(&r, 1000);
    taker.prepare_returns = GALE_AGAIN;
    rig_make(&r, 2);
    rig_advance(&r, 250 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(rig_stats(&r)->phase, GALE_PHASE_RUNNING);
    assert_int_equal(taker.seen, 0);
    assert_true(spout.emitted > 0);
    taker.prepare_returns = 0;
    rig_advance(&r, GALE_SECOND, GALE_MILLISECOND);
    assert_int_equal(taker.seen, 1000);
    assert_int_equal(spout.acks, 1000);
    rig_drain(&r);
    rig_fini(&r);
}

static void flow_control_holds_who_feeds_it(void **state) {
    (void)state;
    rig r;
    build(&r, UINT64_MAX);
    taker.prepare_returns = GALE_AGAIN;
    rig_make(&r, 1);
    rig_advance(&r, 50 * GALE_MILLISECOND, GALE_MILLISECOND);
    uint64_t emitted = spout.emitted;
    assert_true(rig_task(&r, "taker", 0).congested);
    rig_advance(&r, 20 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(spout.emitted, emitted);
    assert_int_equal(rig_task(&r, "taker", 0).shed, 0);
    gale_runtime_stop(r.runtime);
    rig_fini(&r);
}

static void a_spout_that_is_not_open_keeps_no_other_waiting(void **state) {
    (void)state;
    static rig_spout late;
    rig r;
    build(&r, 10);
    memset(&late, 0, sizeof late);
    late.to_emit = 10;
    late.open_returns = GALE_AGAIN;
    gale_topology_add_spout(r.topology, "late", rig_spout_of(&late), 1);
    gale_topology_subscribe(r.topology, "taker", "late", NULL, gale_shuffle());
    rig_make(&r, 1);
    rig_advance(&r, 10 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(spout.acks, 10);
    assert_string_equal(late.log, "o");
    late.open_returns = 0;
    rig_advance(&r, GALE_SECOND, GALE_MILLISECOND);
    assert_string_equal(late.log, "ooa");
    assert_int_equal(late.acks, 10);
    rig_drain(&r);
    assert_string_equal(late.log, "ooadc");
    rig_fini(&r);
}

static void one_that_opens_while_inactive_is_activated_with_the_others(void **state) {
    (void)state;
    rig r;
    build(&r, 3);
    spout.open_returns = GALE_AGAIN;
    rig_make(&r, 1);
    rig_settle(&r);
    gale_runtime_deactivate(r.runtime);
    rig_settle(&r);
    spout.open_returns = 0;
    rig_advance(&r, GALE_SECOND, GALE_MILLISECOND);
    assert_string_equal(spout.log, "oo");
    gale_runtime_activate(r.runtime);
    rig_settle(&r);
    assert_string_equal(spout.log, "ooa");
    rig_drain(&r);
    rig_fini(&r);
}

/* How often it was asked, by its log. */
static size_t asked(void) {
    return strlen(log_) / 2;
}

static void pauses_double_up_to_half_a_minute(void **state) {
    (void)state;
    static const int64_t most[] = { 125, 375, 875, 1875, 3875, 7875, 15875, 31875, 63875 }; /* ms, with the jitter */
    rig r;
    build(&r, 1);
    taker.prepare_returns = GALE_AGAIN;
    rig_make(&r, 1);
    rig_settle(&r);
    int64_t passed = 0;
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        assert_in_range(asked(), 1, i + 1); /* never sooner than three quarters of it */
        rig_advance(&r, (most[i] - passed) * GALE_MILLISECOND, 25 * GALE_MILLISECOND);
        passed = most[i];
        assert_true(asked() >= i / 2 + 1);
    }
    size_t before = asked();
    assert_in_range(before, 8, 12);
    rig_advance(&r, 75 * GALE_SECOND, 25 * GALE_MILLISECOND); /* 22.5 to 37.5 s each */
    assert_in_range(asked() - before, 2, 4);
    gale_runtime_stop(r.runtime);
    rig_fini(&r);
}

static void the_caller_is_told_when_it_is_asked_again(void **state) {
    (void)state;
    rig r;
    build(&r, 0);
    taker.prepare_returns = GALE_AGAIN;
    rig_make(&r, 1);
    rig_settle(&r);
    int64_t due = gale_runtime_next_due(r.runtime), now = gale_manual_clock_advance(r.clock, 0);
    assert_in_range(due - now, 75 * GALE_MILLISECOND, 125 * GALE_MILLISECOND);
    taker.prepare_returns = 0;
    gale_manual_clock_advance(r.clock, due - now);
    rig_settle(&r);
    assert_string_equal(log_, "TpTp");
    assert_int_equal(gale_runtime_next_due(r.runtime), INT64_MAX);
    rig_drain(&r);
    rig_fini(&r);
}

static void what_is_required_stops_the_start(void **state) {
    (void)state;
    rig r;
    gale_error error = GALE_ERROR_INIT;
    build(&r, 1);
    gale_topology_set(r.topology, "taker", "gale.required", gale_bool(true));
    taker.prepare_returns = GALE_AGAIN;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    assert_int_equal(gale_runtime_new(r.topology, &options, &r.runtime, &error), 0);
    assert_int_equal(gale_runtime_start(r.runtime, &error), GALE_AGAIN);
    assert_non_null(strstr(error.text, "bolt 'taker' (task 2) could not be prepared"));
    rig_fini(&r);
}

static void an_error_after_that_ends_the_run(void **state) {
    (void)state;
    rig r;
    gale_error error = GALE_ERROR_INIT;
    build(&r, 1);
    taker.prepare_returns = GALE_AGAIN;
    rig_make(&r, 1);
    rig_settle(&r);
    taker.prepare_returns = GALE_DAMAGED;
    rig_advance(&r, GALE_SECOND, 10 * GALE_MILLISECOND);
    assert_int_equal(rig_stats(&r)->phase, GALE_PHASE_CLOSED);
    assert_int_equal(gale_runtime_wait(r.runtime, 0, &error), GALE_DAMAGED);
    assert_string_equal(log_, "TpTp"); /* and is not cleaned up: it never was prepared */
    rig_fini(&r);
}

static void ticks_come_once_it_is_open(void **state) {
    (void)state;
    rig r;
    build(&r, 0);
    gale_topology_set(r.topology, "taker", "topology.tick.tuple.freq.secs", gale_f64(0.01));
    taker.prepare_returns = GALE_AGAIN;
    rig_make(&r, 1);
    rig_advance(&r, 70 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(taker.ticks, 0);
    taker.prepare_returns = 0;
    rig_advance(&r, 100 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_in_range(taker.ticks, 4, 10);
    rig_drain(&r);
    rig_fini(&r);
}

/* --- Drains and stops --- */

static void a_drain_waits_for_a_bolt_that_has_something_to_do(void **state) {
    (void)state;
    rig r;
    build(&r, 5);
    taker.prepare_returns = GALE_AGAIN;
    rig_make(&r, 1);
    rig_settle(&r);
    gale_runtime_drain(r.runtime);
    rig_advance(&r, 50 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(rig_stats(&r)->phase, GALE_PHASE_DRAINING);
    taker.prepare_returns = 0;
    rig_advance(&r, GALE_SECOND, GALE_MILLISECOND);
    assert_int_equal(rig_stats(&r)->phase, GALE_PHASE_CLOSED);
    assert_int_equal(spout.acks, 5);
    assert_string_equal(log_, "TpTpTfTc");
    rig_fini(&r);
}

static char said[2048];

static void take_line(void *user, int32_t level, const char *component, const char *text) {
    (void)user, (void)level;
    size_t size = strlen(said);
    snprintf(said + size, sizeof said - size, "%s: %s\n", component ? component : "-", text);
}

static void a_drain_that_waits_says_who_is_not_open(void **state) {
    (void)state;
    static gale_logger logger = { sizeof logger, GALE_LOG_WARN, take_line, NULL };
    rig r;
    build(&r, 5);
    taker.prepare_returns = GALE_AGAIN;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.logger = &logger;
    said[0] = 0;
    rig_make_with(&r, options);
    rig_settle(&r);
    gale_runtime_drain(r.runtime);
    rig_advance(&r, GALE_SECOND, 10 * GALE_MILLISECOND);
    assert_non_null(strstr(said, "'taker' (task 2) is not open: it cannot be opened now; 5 trees are open"));
    gale_runtime_stop(r.runtime);
    rig_fini(&r);
}

static void a_drain_waits_for_no_spout(void **state) {
    (void)state;
    rig r;
    build(&r, 5);
    spout.open_returns = GALE_AGAIN;
    rig_make(&r, 1);
    rig_settle(&r);
    rig_drain(&r);
    assert_string_equal(spout.log, "o");
    assert_string_equal(log_, "TpTfTc");
    rig_fini(&r);
}

static void until_drained_waits_for_a_spout(void **state) {
    (void)state;
    rig r;
    build(&r, 5);
    spout.open_returns = GALE_AGAIN;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.until_drained = true;
    rig_make_with(&r, options);
    rig_advance(&r, 50 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(rig_stats(&r)->phase, GALE_PHASE_RUNNING);
    spout.open_returns = 0;
    rig_advance(&r, GALE_SECOND, GALE_MILLISECOND);
    assert_int_equal(rig_stats(&r)->phase, GALE_PHASE_CLOSED);
    assert_int_equal(spout.acks, 5);
    rig_fini(&r);
}

/* --- In words --- */

static int prepares; /* of `door` */

static int door_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const int *fails = user;
    (void)context;
    *ret_self = user;
    prepares++;
    if (prepares > *fails) return 0;
    gale_report(out, prepares < 3 ? "nobody listens on 127.0.0.1:9" : "the server says that it is busy");
    return GALE_AGAIN;
}

/* Its tuples say how it is: even ones well, odd ones not. */
static int door_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    int64_t number = gale_tuple_value(tuple, 0).as.i64;
    char text[64];
    (void)self;
    snprintf(text, sizeof text, "number %d", (int)number);
    gale_health(out, number % 2 ? text : NULL);
    return 0;
}

static const gale_bolt_ops door_ops = {
    .size = sizeof door_ops, .name = "door", .kind = GALE_BOLT_SIMPLE, .prepare = door_prepare, .execute = door_execute
};

static void build_door(rig *r, uint64_t tuples, int *fails) {
    build(r, tuples);
    prepares = 0;
    gale_topology_add_bolt(r->topology, "door",
                           (gale_bolt){ .size = sizeof(gale_bolt), .ops = &door_ops, .user = fails }, 1);
    gale_topology_subscribe(r->topology, "door", "spout", NULL, gale_shuffle());
}

static void it_is_not_well_in_its_own_words_and_well_again(void **state) {
    (void)state;
    rig r;
    int fails = 3;
    build_door(&r, 0, &fails);
    rig_make(&r, 1);
    rig_settle(&r);
    gale_unwell unwell[2] = { { .size = sizeof *unwell } };
    assert_int_equal(gale_runtime_unwell(r.runtime, unwell, 2), 1);
    assert_string_equal(unwell[0].component, "door");
    assert_int_equal(unwell[0].task, rig_task_number(&r, "door", 0));
    assert_false(unwell[0].open);
    assert_string_equal(unwell[0].text, "nobody listens on 127.0.0.1:9");
    int64_t since = unwell[0].since;
    rig_advance(&r, 500 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(prepares, 3);
    assert_int_equal(gale_runtime_unwell(r.runtime, unwell, 2), 1);
    assert_string_equal(unwell[0].text, "the server says that it is busy");
    assert_int_equal(unwell[0].since, since);
    rig_advance(&r, GALE_SECOND, GALE_MILLISECOND);
    assert_int_equal(prepares, 4);
    assert_int_equal(gale_runtime_unwell(r.runtime, NULL, 0), 0);
    rig_drain(&r);
    rig_fini(&r);
}

static void a_component_says_how_it_is(void **state) {
    (void)state;
    rig r;
    int fails = 0;
    build_door(&r, 4, &fails);
    rig_make(&r, 1);
    rig_settle(&r);
    gale_unwell unwell = { .size = sizeof unwell };
    assert_int_equal(gale_runtime_unwell(r.runtime, &unwell, 1), 1); /* 3 was the last */
    assert_true(unwell.open);
    assert_string_equal(unwell.text, "number 3");
    rig_drain(&r);
    rig_fini(&r);
}

static void one_that_does_not_speak_is_said_not_to_be_opened(void **state) {
    (void)state;
    rig r;
    build(&r, 0);
    taker.prepare_returns = GALE_AGAIN;
    rig_make(&r, 1);
    rig_settle(&r);
    gale_unwell unwell = { .size = sizeof unwell };
    assert_int_equal(gale_runtime_unwell(r.runtime, &unwell, 1), 1);
    assert_string_equal(unwell.text, "it cannot be opened now");
    gale_runtime_stop(r.runtime);
    rig_fini(&r);
}

static void misuse_of_the_question_is_refused(void **state) {
    (void)state;
    rig r;
    build(&r, 0);
    rig_make(&r, 1);
    gale_unwell unwell = { .size = 0 };
    assert_int_equal(gale_runtime_unwell(NULL, &unwell, 1), GALE_INVALID);
    assert_int_equal(gale_runtime_unwell(r.runtime, NULL, 1), GALE_INVALID);
    assert_int_equal(gale_runtime_unwell(r.runtime, &unwell, 1), GALE_INVALID);
    unwell.size = sizeof unwell + 1;
    assert_int_equal(gale_runtime_unwell(r.runtime, &unwell, 1), GALE_INVALID);
    rig_fini(&r);
}

/* --- What it made before --- */

typedef struct maker {
    int fails;
    int pipe[2];
    gale_state *kept;
} maker;

static int told(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)user, (void)out, (void)watch, (void)events;
    return 0;
}

static int maker_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    maker *m = user;
    (void)context;
    gale_watch watch;
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.fd = m->pipe[0];
    options.events = GALE_WATCH_READ;
    options.call = told;
    gale_state_options of = GALE_STATE_OPTIONS_INIT;
    assert_int_equal(gale_watch_new(out, &options, &watch), 0);
    assert_int_equal(gale_state_open(out, &of, &m->kept), 0);
    *ret_self = m;
    return m->fails-- > 0 ? GALE_AGAIN : 0;
}

static const gale_bolt_ops maker_ops = { .size = sizeof maker_ops,
                                         .name = "maker",
                                         .kind = GALE_BOLT_SIMPLE,
                                         .prepare = maker_prepare,
                                         .execute = door_execute };

static void its_watches_and_states_go_and_are_made_anew(void **state) {
    (void)state;
    rig r;
    maker m = { .fails = 2 };
    assert_int_equal(pipe(m.pipe), 0);
    build(&r, 0);
    gale_topology_add_bolt(r.topology, "maker", (gale_bolt){ .size = sizeof(gale_bolt), .ops = &maker_ops, .user = &m },
                           1);
    gale_topology_subscribe(r.topology, "maker", "spout", NULL, gale_shuffle());
    rig_make(&r, 1);
    rig_advance(&r, 2 * GALE_SECOND, 10 * GALE_MILLISECOND);
    assert_int_equal(m.fails, -1);
    rig_drain(&r);
    rig_fini(&r);
    close(m.pipe[0]);
    close(m.pipe[1]);
}

/* --- On threads, and durable --- */

static void on_threads_the_start_does_not_wait_for_it(void **state) {
    (void)state;
    rig r;
    int fails = 3;
    gale_error error = GALE_ERROR_INIT;
    build_door(&r, 100, &fails);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 2;
    options.until_drained = true;
    assert_int_equal(gale_runtime_new(r.topology, &options, &r.runtime, &error), 0);
    assert_int_equal(gale_runtime_start(r.runtime, &error), 0);
    assert_int_equal(gale_runtime_wait(r.runtime, -1, &error), 0);
    assert_int_equal(prepares, 4);
    assert_int_equal(spout.acks, 100);
    rig_fini(&r);
}

static memory_store disk;
static gale_store store;

static void make_durable(rig *r) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    memory_store_init(&disk);
    store = memory_store_open(&disk);
    options.store = &store;
    options.checkpoint_interval = GALE_MILLISECOND;
    rig_make_with(r, options);
}

static void end_durable(rig *r) {
    rig_fini(r);
    store.close(store.self);
    memory_store_fini(&disk);
}

static void a_durable_run_begins_when_all_are_open(void **state) {
    (void)state;
    rig r;
    build(&r, 5);
    taker.prepare_returns = GALE_AGAIN;
    make_durable(&r);
    rig_advance(&r, 50 * GALE_MILLISECOND, GALE_MILLISECOND);
    assert_int_equal(rig_stats(&r)->phase, GALE_PHASE_OPENING);
    assert_string_equal(spout.log, "o");
    assert_int_equal(disk.commits, 0);
    taker.prepare_returns = 0;
    for (int i = 0; i < 1000 && spout.acks < 5; i++) {
        rig_advance(&r, GALE_MILLISECOND, GALE_MILLISECOND);
        gale_runtime_commit(r.runtime, NULL);
    }
    assert_int_equal(spout.acks, 5);
    assert_true(disk.commits > 0);
    gale_runtime_stop(r.runtime);
    end_durable(&r);
}

static void a_durable_run_that_never_began_is_drained_at_once(void **state) {
    (void)state;
    rig r;
    build(&r, 5);
    taker.prepare_returns = GALE_AGAIN;
    make_durable(&r);
    rig_settle(&r);
    gale_runtime_drain(r.runtime);
    rig_settle(&r);
    assert_int_equal(rig_stats(&r)->phase, GALE_PHASE_CLOSED);
    assert_string_equal(spout.log, "oc");
    assert_int_equal(disk.commits, 0);
    end_durable(&r);
}

static void a_durable_run_on_threads_waits_and_can_be_suspended(void **state) {
    (void)state;
    rig r;
    gale_error error = GALE_ERROR_INIT;
    build(&r, 5);
    taker.prepare_returns = GALE_AGAIN;
    memory_store_init(&disk);
    store = memory_store_open(&disk);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.store = &store;
    options.executors = 2;
    assert_int_equal(gale_runtime_new(r.topology, &options, &r.runtime, &error), 0);
    assert_int_equal(gale_runtime_start(r.runtime, &error), 0);
    assert_int_equal(rig_stats(&r)->phase, GALE_PHASE_OPENING);
    gale_runtime_suspend(r.runtime);
    assert_int_equal(gale_runtime_wait(r.runtime, -1, &error), 0);
    end_durable(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bolt_that_is_not_open_loses_nothing),
        cmocka_unit_test(flow_control_holds_who_feeds_it),
        cmocka_unit_test(a_spout_that_is_not_open_keeps_no_other_waiting),
        cmocka_unit_test(one_that_opens_while_inactive_is_activated_with_the_others),
        cmocka_unit_test(pauses_double_up_to_half_a_minute),
        cmocka_unit_test(the_caller_is_told_when_it_is_asked_again),
        cmocka_unit_test(what_is_required_stops_the_start),
        cmocka_unit_test(an_error_after_that_ends_the_run),
        cmocka_unit_test(ticks_come_once_it_is_open),
        cmocka_unit_test(a_drain_waits_for_a_bolt_that_has_something_to_do),
        cmocka_unit_test(a_drain_that_waits_says_who_is_not_open),
        cmocka_unit_test(a_drain_waits_for_no_spout),
        cmocka_unit_test(until_drained_waits_for_a_spout),
        cmocka_unit_test(it_is_not_well_in_its_own_words_and_well_again),
        cmocka_unit_test(a_component_says_how_it_is),
        cmocka_unit_test(one_that_does_not_speak_is_said_not_to_be_opened),
        cmocka_unit_test(misuse_of_the_question_is_refused),
        cmocka_unit_test(its_watches_and_states_go_and_are_made_anew),
        cmocka_unit_test(on_threads_the_start_does_not_wait_for_it),
        cmocka_unit_test(a_durable_run_begins_when_all_are_open),
        cmocka_unit_test(a_durable_run_that_never_began_is_drained_at_once),
        cmocka_unit_test(a_durable_run_on_threads_waits_and_can_be_suspended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
