/* What is said of trees that are not answered: where their tuples are, and who keeps them there. */
#include "runtime/rig.h"

#include "harness/counting_allocator.h"
#include "runtime/locate.h"
#include "runtime/runtime.h"
#include "runtime/step.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { T = 8 };

static rig_spout spout, late;
static rig_bolt a, c, d;

typedef int on_function(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out);

static int sink(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    bolt->seen++;
    return gale_ack(out, gale_tuple_handle(tuple));
}

/* spout -> a -> c -> d, where `on` is what c does. */
static void build(rig *r, uint64_t to_emit, on_function *on) {
    memset(&spout, 0, sizeof spout);
    memset(&a, 0, sizeof a);
    memset(&c, 0, sizeof c);
    memset(&d, 0, sizeof d);
    spout.to_emit = to_emit;
    a.on = rig_pass;
    c.on = on;
    d.on = sink;
    rig_init(r);
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "a", rig_simple(&a), 1);
    gale_topology_add_bolt(r->topology, "c", rig_manual(&c), 1);
    gale_topology_add_bolt(r->topology, "d", rig_manual(&d), 1);
    gale_topology_subscribe(r->topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "c", "a", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "d", "c", NULL, gale_shuffle());
    gale_topology_set(r->topology, NULL, "topology.message.timeout.secs", gale_i64(T));
}

/* Each bolt on an executor of its own, as far as there are. */
static void spread(rig *r, uint32_t executors) {
    const char *names[] = { "spout", "a", "c", "d" };
    for (uint32_t i = 0; i < 4; i++) gale_topology_set(r->topology, names[i], "gale.executor", gale_i64(i % executors));
}

static void expect_failures(const rig *r, uint64_t count, const char *component, const char *text) {
    assert_int_equal(spout.fails, count);
    assert_int_equal(spout.last_failure.reason, GALE_REASON_TIMEOUT);
    assert_string_equal(spout.last_component, component);
    if (!strstr(spout.last_text, text)) fail_msg("'%s' is not in '%s'", text, spout.last_text);
    assert_int_equal(gale_runtime_failures(r->runtime, component, GALE_REASON_TIMEOUT), count);
}

/* --- Asking --- */

static gx_executor *executor(const rig *r, uint32_t index) {
    return r->runtime->shared.executors[index];
}

static int hold(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    return gale_tuple_hold(out, gale_tuple_handle(tuple), &bolt->held[bolt->held_count++]);
}

/* Steps the executor of the spout alone until it asks; nobody's bell has rung before that. */
static void step_until_it_asks(rig *r, uint32_t asker) {
    for (int i = 0; i < 1000 && !executor(r, asker)->query; i++) {
        gale_manual_clock_advance(r->clock, 100 * GALE_MILLISECOND);
        for (uint32_t k = 0; k < 2; k++) gx_store_relaxed(&executor(r, k)->bell.state, GX_BELL_AWAKE);
        gx_step(executor(r, asker));
    }
    assert_non_null(executor(r, asker)->query);
}

static void who_is_asked_is_woken_and_to_answer_is_work(void **state) {
    (void)state;
    for (uint32_t asker = 0; asker < 2; asker++) {
        rig r;
        build(&r, 3, hold);
        gale_topology_set(r.topology, NULL, "gale.executor", gale_i64(1 - asker));
        gale_topology_set(r.topology, "spout", "gale.executor", gale_i64(asker));
        rig_make(&r, 2);
        rig_settle(&r);
        step_until_it_asks(&r, asker);
        gx_executor *other = executor(&r, 1 - asker);
        assert_int_equal(gx_load_relaxed(&other->bell.state), GX_BELL_RUNG);
        assert_true(gx_locate_is_news(other));
        assert_int_equal(gx_locate_run(other), 1);
        assert_false(gx_locate_is_news(other));
        assert_int_equal(gx_locate_run(other), 0);
        rig_advance(&r, GALE_SECOND, 10 * GALE_MILLISECOND);
        expect_failures(&r, 3, "c", "held by 'c'");
        rig_fini(&r);
    }
}

static void without_memory_to_ask_a_tree_times_out_and_says_so(void **state) {
    (void)state;
    rig r;
    counting_allocator counting = { 0 };
    gale_allocator handle = counting_handle(&counting);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.allocator = &handle;
    options.executors = 1;
    build(&r, 6, hold);
    gale_topology_set(r.topology, NULL, "topology.max.spout.pending", gale_i64(3));
    rig_make_with(&r, options);
    rig_advance(&r, 11 * GALE_SECOND, 100 * GALE_MILLISECOND);
    expect_failures(&r, 3, "c", "held by 'c'"); /* with memory, and three more are pending */
    counting.fail_at = counting.calls + 1;
    counting.fail_after = true;
    rig_advance(&r, 11 * GALE_SECOND, 100 * GALE_MILLISECOND);
    counting.fail_at = 0;
    assert_int_equal(spout.fails, 6);
    assert_int_equal(spout.last_failure.reason, GALE_REASON_TIMEOUT);
    assert_string_equal(spout.last_text, "no memory to ask where it was");
    assert_int_equal(rig_stats(&r)->open, 0);
    rig_fini(&r);
    assert_int_equal(counting.blocks, 0);
}

/* --- Places --- */

static void a_held_tuple_is_found_with_the_bolt_that_holds_it(void **state) {
    rig r;
    build(&r, 3, hold);
    spread(&r, rig_executors(state));
    rig_make(&r, rig_executors(state));
    rig_advance(&r, 11 * GALE_SECOND, 100 * GALE_MILLISECOND);
    expect_failures(&r, 3, "c", "held by 'c'");
    assert_int_equal(spout.last_failure.task, rig_task_number(&r, "c", 0));
    assert_true(spout.answered_at[0] > T * GALE_SECOND);
    assert_true(spout.answered_at[0] <= T * GALE_SECOND * 5 / 4);
    rig_fini(&r);
}

static int forget(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    (void)tuple, (void)out;
    bolt->seen++;
    return 0;
}

static void a_forgotten_tuple_is_found_with_the_bolt_that_forgot_it(void **state) {
    rig r;
    build(&r, 3, forget);
    spread(&r, rig_executors(state));
    rig_make(&r, rig_executors(state));
    rig_advance(&r, 11 * GALE_SECOND, 100 * GALE_MILLISECOND);
    expect_failures(&r, 3, "c", "forgotten by 'c'");
    rig_fini(&r);
}

/* Three seconds a call: nine tuples take longer than the timeout. */
static int dawdle(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_manual_clock_advance(bolt->user, 3 * GALE_SECOND);
    return gale_ack(out, gale_tuple_handle(tuple));
}

static void a_tuple_that_waits_is_found_in_the_queue_of_its_task(void **state) {
    rig r;
    build(&r, 9, dawdle);
    spread(&r, rig_executors(state));
    c.user = r.clock;
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    assert_in_range(spout.fails, 4, 7);
    assert_string_equal(spout.last_component, "c");
    assert_non_null(strstr(spout.last_text, "waits for 'c'"));
    assert_int_equal(spout.acks + spout.fails, 9);
    rig_fini(&r);
}

/* Emits more than the mark of flow control, so that c is congested and `a` may not run. */
static int flood(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    static char text[100000];
    (void)bolt;
    memset(text, 'x', sizeof text);
    for (int i = 0; i < 5; i++) {
        gale_value values[] = { gale_tuple_value(tuple, 0), gale_string(text, sizeof text) };
        int rc = gale_emit(out, 0, values, 2);
        if (rc < 0) return rc;
    }
    return 0;
}

static void a_parked_tuple_is_found_with_the_task_that_is_congested(void **state) {
    rig r;
    build(&r, 6, dawdle);
    a.on = flood;
    c.user = r.clock;
    spread(&r, rig_executors(state));
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    assert_int_equal(gale_runtime_failures(r.runtime, "a", GALE_REASON_TIMEOUT) +
                         gale_runtime_failures(r.runtime, "c", GALE_REASON_TIMEOUT),
                     spout.fails);
    assert_true(gale_runtime_failures(r.runtime, "a", GALE_REASON_TIMEOUT) > 0);
    rig_fini(&r);
}

/* --- Answers that come meanwhile --- */

static int answer_at_tick(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (!gale_tuple_is_tick(tuple)) return hold(bolt, tuple, out);
    return bolt->held_count ? gale_ack(out, bolt->held[--bolt->held_count]) : 0;
}

/* The sweep that finds the tree too old comes at the time of the tick at which it is acked. */
static void an_ack_that_comes_while_it_is_asked_wins(void **state) {
    rig r;
    build(&r, 1, answer_at_tick);
    gale_topology_set(r.topology, "c", "topology.tick.tuple.freq.secs", gale_i64(9));
    gale_topology_set(r.topology, "spout", "gale.executor", gale_i64(0));
    gale_topology_set(r.topology, "c", "gale.executor", gale_i64((int64_t)rig_executors(state) - 1));
    rig_make(&r, rig_executors(state));
    rig_advance(&r, 20 * GALE_SECOND, GALE_SECOND);
    assert_int_equal(spout.acks, 1);
    assert_int_equal(spout.fails, 0);
    rig_fini(&r);
}

/* --- Progress --- */

static int five_children(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    for (int i = 0; i < 5; i++) {
        int rc = rig_pass(bolt, tuple, out);
        if (rc < 0) return rc;
    }
    return 0;
}

/* Each of the five waits for a tick, six seconds after the one before. */
static void build_slow_five(rig *r, const char *mode) {
    build(r, 1, answer_at_tick);
    a.on = five_children;
    gale_topology_set(r->topology, "c", "topology.tick.tuple.freq.secs", gale_i64(6));
    gale_topology_set(r->topology, NULL, "topology.message.timeout.mode", gale_text(mode));
}

static void with_progress_a_tree_may_take_longer_than_the_timeout(void **state) {
    rig r;
    build_slow_five(&r, "progress");
    spread(&r, rig_executors(state));
    rig_make(&r, rig_executors(state));
    rig_advance(&r, 40 * GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(spout.acks, 1);
    assert_int_equal(spout.fails, 0);
    rig_fini(&r);
}

static void in_fixed_mode_it_may_not(void **state) {
    rig r;
    build_slow_five(&r, "fixed");
    rig_make(&r, rig_executors(state));
    rig_advance(&r, 40 * GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(spout.fails, 1);
    assert_true(spout.answered_at[0] <= T * GALE_SECOND * 5 / 4);
    rig_fini(&r);
}

/* Acks at 6, 12 and 18 s; the next would come at 24. */
static void progress_ends_at_the_ceiling(void **state) {
    rig r;
    build_slow_five(&r, "progress");
    gale_topology_set(r.topology, NULL, "topology.message.timeout.ceiling.secs", gale_i64(20));
    spread(&r, rig_executors(state));
    rig_make(&r, rig_executors(state));
    rig_advance(&r, 40 * GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(spout.fails, 1);
    assert_true(spout.answered_at[0] > 20 * GALE_SECOND);
    assert_true(spout.answered_at[0] <= 22 * GALE_SECOND);
    rig_fini(&r);
}

static int answer_three(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (!gale_tuple_is_tick(tuple)) return hold(bolt, tuple, out);
    return bolt->held_count > 2 ? gale_ack(out, bolt->held[--bolt->held_count]) : 0;
}

static void without_progress_it_ends_between_T_and_a_quarter_more_after_the_last_ack(void **state) {
    rig r;
    build_slow_five(&r, "progress");
    c.on = answer_three; /* at 6, 12 and 18 s */
    spread(&r, rig_executors(state));
    rig_make(&r, rig_executors(state));
    rig_advance(&r, 40 * GALE_SECOND, 100 * GALE_MILLISECOND);
    assert_int_equal(spout.fails, 1);
    assert_true(spout.answered_at[0] > (18 + T) * GALE_SECOND);
    assert_true(spout.answered_at[0] <= (18 + 10) * GALE_SECOND + GALE_SECOND / 10);
    rig_fini(&r);
}

/* --- Open trees --- */

static int hold_some(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    return gale_tuple_value(tuple, 0).as.i64 % 2 ? hold(bolt, tuple, out) : forget(bolt, tuple, out);
}

static void open_trees_are_listed_oldest_first_with_their_places(void **state) {
    rig r;
    gale_open_tree trees[20] = { { .size = sizeof trees[0] } };
    build(&r, 3, hold_some);
    memset(&late, 0, sizeof late);
    late.to_emit = 2;
    late.next_fails = 1; /* and tries again a millisecond later */
    gale_topology_add_spout(r.topology, "late", rig_spout_of(&late), 1);
    gale_topology_subscribe(r.topology, "c", "late", NULL, gale_shuffle());
    spread(&r, rig_executors(state));
    rig_make(&r, rig_executors(state));
    rig_settle(&r);
    gale_manual_clock_advance(r.clock, GALE_SECOND);
    rig_settle(&r);
    int count = gale_runtime_open_trees(r.runtime, trees, 20, GALE_SECOND);
    assert_int_equal(count, 5);
    for (int i = 0; i < count; i++) {
        assert_string_equal(trees[i].spout, i < 3 ? "spout" : "late");
        assert_string_equal(trees[i].component, "c");
        assert_int_equal(trees[i].task, rig_task_number(&r, "c", 0));
        assert_int_equal(trees[i].place, trees[i].message_id % 2 ? GALE_PLACE_HELD : GALE_PLACE_FORGOTTEN);
        assert_int_equal(trees[i].age, i < 3 ? GALE_SECOND : 0);
        assert_non_null(strstr(trees[i].text, trees[i].message_id % 2 ? "held by 'c'" : "forgotten by 'c'"));
    }
    assert_int_equal(gale_runtime_open_trees(r.runtime, trees, 2, GALE_SECOND), 2);
    assert_int_equal(trees[1].age, GALE_SECOND);
    assert_int_equal(spout.fails + spout.acks, 0); /* to ask changes nothing */
    rig_fini(&r);
}

static void without_open_trees_the_list_is_empty(void **state) {
    rig r;
    gale_open_tree trees[2] = { { .size = sizeof trees[0] } };
    build(&r, 3, sink);
    rig_make(&r, rig_executors(state));
    assert_int_equal(gale_runtime_open_trees(r.runtime, trees, 2, 0), 0); /* not even opened */
    rig_settle(&r);
    assert_int_equal(gale_runtime_open_trees(r.runtime, trees, 2, GALE_SECOND), 0);
    assert_int_equal(gale_runtime_open_trees(r.runtime, trees, 0, GALE_SECOND), 0);
    trees[0].size = 0;
    assert_int_equal(gale_runtime_open_trees(r.runtime, trees, 2, GALE_SECOND), GALE_INVALID);
    rig_fini(&r);
}

/* --- A stuck executor, on threads --- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool inside, released;
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void set(bool *flag) {
    pthread_mutex_lock(&gate.lock);
    *flag = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

static void wait_for(const bool *flag) {
    pthread_mutex_lock(&gate.lock);
    while (!*flag) pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static int block(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    bolt->seen++;
    set(&gate.inside);
    wait_for(&gate.released);
    return gale_ack(out, gale_tuple_handle(tuple));
}

/* A topology of two tuples, whose bolt is in an endless call when it has started. */
static void build_gated(rig *r) {
    gate.inside = gate.released = false;
    build(r, 2, block);
}

static void start_gated(rig *r, uint32_t executors) {
    gale_clock clock = gale_clock_monotonic();
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_error error = GALE_ERROR_INIT;
    options.executors = executors;
    options.clock = &clock;
    options.until_drained = true;
    rig_make_with(r, options);
    if (gale_runtime_start(r->runtime, &error) < 0) fail_msg("%s", error.text);
    wait_for(&gate.inside);
}

static void a_tuple_in_an_endless_call_is_said_to_be_in_execution(void **state) {
    (void)state;
    rig r;
    build_gated(&r);
    gale_topology_set(r.topology, NULL, "gale.executor", gale_i64(0));
    gale_topology_set(r.topology, "c", "gale.executor", gale_i64(1));
    gale_topology_set(r.topology, NULL, "topology.message.timeout.secs", gale_f64(0.4));
    start_gated(&r, 2);
    gale_error error = GALE_ERROR_INIT;
    gale_open_tree trees[4] = { { .size = sizeof trees[0] } };
    int count;
    do { /* the second tuple may be on its way */
        count = gale_runtime_open_trees(r.runtime, trees, 4, GALE_SECOND / 100);
    } while (count == 2 && trees[0].place != GALE_PLACE_EXECUTING);
    if (count == 2) { /* else they have timed out already, on a slow machine */
        assert_string_equal(trees[0].component, "c");
        assert_non_null(strstr(trees[0].text, "in execution by 'c'"));
        assert_non_null(strstr(trees[1].text, "'c'"));
    }
    while (rig_stats(&r)->timed_out < 2) sched_yield();
    set(&gate.released);
    if (gale_runtime_wait(r.runtime, 120 * GALE_SECOND, &error) < 0) fail_msg("%s", error.text);
    assert_int_equal(spout.fails, 2);
    assert_string_equal(spout.last_component, "c");
    assert_non_null(strstr(spout.last_text, "'c'"));
    assert_int_equal(gale_runtime_failures(r.runtime, "c", GALE_REASON_TIMEOUT), 2);
    rig_fini(&r);
}

static void open_trees_of_an_executor_that_cannot_answer_are_not_said_to_be_none(void **state) {
    (void)state;
    rig r;
    build_gated(&r);
    start_gated(&r, 1);
    gale_error error = GALE_ERROR_INIT;
    gale_open_tree trees[4] = { { .size = sizeof trees[0] } };
    for (int i = 0; i < 3; i++) /* also when the question before is still there */
        assert_int_equal(gale_runtime_open_trees(r.runtime, trees, 4, GALE_MILLISECOND), GALE_AGAIN);
    set(&gate.released);
    if (gale_runtime_wait(r.runtime, 120 * GALE_SECOND, &error) < 0) fail_msg("%s", error.text);
    assert_int_equal(spout.acks, 2);
    rig_fini(&r);
}

/* A call as long as the asker waits: it hears c's executor list its trees, and not where they are. What that executor says
 * too late, and what the asker reads, are for the thread sanitizer. */
static int nap(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    const struct timespec millisecond = { 0, GALE_MILLISECOND };
    bolt->seen++;
    nanosleep(&millisecond, NULL);
    return gale_ack(out, gale_tuple_handle(tuple));
}

static void an_executor_that_answers_late_writes_nothing_that_is_being_read(void **state) {
    (void)state;
    rig r;
    gale_clock clock = gale_clock_monotonic();
    gale_runtime_options options = { .size = sizeof options, .executors = 2, .clock = &clock, .until_drained = true };
    gale_error error = GALE_ERROR_INIT;
    gale_open_tree trees[8] = { { .size = sizeof trees[0] } };
    build(&r, 300, nap);
    gale_topology_set(r.topology, NULL, "gale.executor", gale_i64(0));
    gale_topology_set(r.topology, "c", "gale.executor", gale_i64(1));
    gale_topology_set(r.topology, NULL, "topology.message.timeout.secs", gale_i64(60));
    rig_make_with(&r, options);
    if (gale_runtime_start(r.runtime, &error) < 0) fail_msg("%s", error.text);
    while (rig_stats(&r)->acked < 300) {
        int count = gale_runtime_open_trees(r.runtime, trees, 8, GALE_MILLISECOND);
        assert_true(count >= 0 || count == GALE_AGAIN);
    }
    if (gale_runtime_wait(r.runtime, 120 * GALE_SECOND, &error) < 0) fail_msg("%s", error.text);
    assert_int_equal(spout.acks, 300);
    rig_fini(&r);
}

static atomic_bool asked_enough;
static atomic_int refused; /* asserting is the test's own thread's */

static void *ask_without_end(void *user) {
    gale_open_tree trees[8] = { { .size = sizeof trees[0] } };
    gale_error error = GALE_ERROR_INIT;
    while (!atomic_load(&asked_enough)) {
        int count = gale_runtime_open_trees(user, trees, 8, GALE_MILLISECOND);
        if ((count < 0 && count != GALE_AGAIN) || gale_runtime_wait(user, 0, &error) == 0)
            atomic_fetch_add(&refused, 1);
    }
    return NULL;
}

/* Who asks as threads are being started must not take the runtime for one that its caller steps, and look into queues
 * that are in use. */
static void open_trees_may_be_asked_for_while_the_runtime_starts(void **state) {
    for (int i = 0; i < 20; i++) {
        rig r;
        pthread_t asker;
        gale_clock clock = gale_clock_monotonic();
        gale_runtime_options options = { .size = sizeof options, .executors = rig_executors(state), .clock = &clock };
        gale_error error = GALE_ERROR_INIT;
        atomic_store(&asked_enough, false);
        build(&r, UINT64_MAX, sink);
        gale_topology_set(r.topology, NULL, "topology.max.spout.pending", gale_i64(100));
        rig_make_with(&r, options);
        assert_int_equal(pthread_create(&asker, NULL, ask_without_end, r.runtime), 0);
        if (gale_runtime_start(r.runtime, &error) < 0) fail_msg("%s", error.text);
        while (rig_stats(&r)->acked < 100) sched_yield();
        atomic_store(&asked_enough, true);
        pthread_join(asker, NULL);
        assert_int_equal(refused, 0);
        rig_fini(&r);
    }
}

#define ON_1_2_8(f)                                                                                                    \
    { #f " on 1 executor", f, NULL, NULL, &one }, { #f " on 2 executors", f, NULL, NULL, &two }, {                     \
#f " on 8 executors", f, NULL, NULL, &eight                                                                    \
    }

int main(void) {
    static uint32_t one = 1, two = 2, eight = 8;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_to_ask_a_tree_times_out_and_says_so),
        cmocka_unit_test(who_is_asked_is_woken_and_to_answer_is_work),
        ON_1_2_8(a_held_tuple_is_found_with_the_bolt_that_holds_it),
        ON_1_2_8(a_forgotten_tuple_is_found_with_the_bolt_that_forgot_it),
        ON_1_2_8(a_tuple_that_waits_is_found_in_the_queue_of_its_task),
        cmocka_unit_test_prestate(a_parked_tuple_is_found_with_the_task_that_is_congested, &one),
        cmocka_unit_test_prestate(an_ack_that_comes_while_it_is_asked_wins, &one),
        cmocka_unit_test_prestate(an_ack_that_comes_while_it_is_asked_wins, &two),
        ON_1_2_8(with_progress_a_tree_may_take_longer_than_the_timeout),
        ON_1_2_8(in_fixed_mode_it_may_not),
        ON_1_2_8(progress_ends_at_the_ceiling),
        ON_1_2_8(without_progress_it_ends_between_T_and_a_quarter_more_after_the_last_ack),
        ON_1_2_8(open_trees_are_listed_oldest_first_with_their_places),
        ON_1_2_8(without_open_trees_the_list_is_empty),
        cmocka_unit_test_prestate(open_trees_of_an_executor_that_cannot_answer_are_not_said_to_be_none, &one),
        cmocka_unit_test(an_executor_that_answers_late_writes_nothing_that_is_being_read),
        cmocka_unit_test_prestate(open_trees_may_be_asked_for_while_the_runtime_starts, &one),
        cmocka_unit_test_prestate(open_trees_may_be_asked_for_while_the_runtime_starts, &two),
        cmocka_unit_test(a_tuple_in_an_endless_call_is_said_to_be_in_execution),
    };
    return rig_run_on_both_ledgers(tests);
}
