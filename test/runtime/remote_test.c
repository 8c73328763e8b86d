/* Emits and answers from the application's own threads. */
#include "harness/counting_allocator.h"
#include "runtime/rig.h"

#include <gale/remote.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/* --- A spout and a bolt that hand out remotes --- */

typedef struct shared_state {
    gale_remote *spout, *bolt;
    atomic_ullong acks, fails;
    gale_handle handles[200000]; /* what the bolt holds, in order */
    atomic_ullong handed;
    atomic_int opened;
} shared_state;

static shared_state state_;

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)context;
    *ret_self = user;
    int rc = gale_remote_open(out, &((shared_state *)user)->spout);
    if (rc == 0) atomic_fetch_add(&((shared_state *)user)->opened, 1);
    return rc;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)out;
    wait->until = INT64_MAX;
    return GALE_NEXT_UNTIL;
}

static void spout_ack(void *self, uint64_t id) {
    (void)id;
    atomic_fetch_add(&((shared_state *)self)->acks, 1);
}

static void spout_fail(void *self, uint64_t id, const gale_failure *failure) {
    (void)id, (void)failure;
    atomic_fetch_add(&((shared_state *)self)->fails, 1);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)context;
    *ret_self = user;
    int rc = gale_remote_open(out, &((shared_state *)user)->bolt);
    if (rc == 0) atomic_fetch_add(&((shared_state *)user)->opened, 1);
    return rc;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    shared_state *s = self;
    unsigned long long at = atomic_load(&s->handed);
    int rc = gale_tuple_hold(out, gale_tuple_handle(tuple), &s->handles[at % 200000]);
    if (rc == 0) atomic_store(&s->handed, at + 1);
    return rc;
}

static rig_bolt last;

static void build(rig *r) {
    static const gale_spout_ops spout_ops = { .size = sizeof spout_ops,
                                              .name = "remote",
                                              .open = spout_open,
                                              .next = spout_next,
                                              .ack = spout_ack,
                                              .fail = spout_fail };
    static const gale_bolt_ops bolt_ops = { .size = sizeof bolt_ops,
                                            .name = "remote",
                                            .kind = GALE_BOLT_MANUAL,
                                            .prepare = bolt_prepare,
                                            .execute = bolt_execute };
    static const gale_output outputs[] = { { NULL, "number, key" } };
    memset(&state_, 0, sizeof state_);
    memset(&last, 0, sizeof last);
    last.on = rig_take;
    rig_init(r);
    gale_spout spout = {
        .size = sizeof spout, .ops = &spout_ops, .user = &state_, .outputs = outputs, .output_count = 1
    };
    gale_bolt bolt = { .size = sizeof bolt, .ops = &bolt_ops, .user = &state_, .outputs = outputs, .output_count = 1 };
    gale_topology_add_spout(r->topology, "spout", spout, 1);
    gale_topology_add_bolt(r->topology, "holder", bolt, 1);
    gale_topology_add_bolt(r->topology, "last", rig_simple(&last), 1);
    gale_topology_subscribe(r->topology, "holder", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "last", "holder", NULL, gale_shuffle());
    gale_topology_set(r->topology, NULL, "topology.max.spout.pending", gale_i64(1000));
}

static int emit_tracked(uint64_t id) {
    gale_value values[] = { gale_i64((int64_t)id), gale_string("text that is copied", 19) };
    return gale_remote_emit_tracked(state_.spout, 0, values, 2, id);
}

static void close_remotes(void) {
    gale_remote_close(state_.spout);
    gale_remote_close(state_.bolt);
}

/* --- On the caller's thread --- */

static void a_remote_emits_for_its_spout_and_answers_for_its_bolt(void **state) {
    (void)state;
    rig r;
    build(&r);
    rig_make(&r, 2);
    rig_settle(&r);
    for (uint64_t i = 0; i < 10; i++) assert_int_equal(emit_tracked(i), 0);
    rig_settle(&r);
    assert_int_equal(state_.handed, 10);
    gale_value values[] = { gale_i64(1), gale_i64(2) };
    assert_int_equal(gale_remote_emit(state_.bolt, 0, values, 2, state_.handles, 5), 0);
    for (int i = 0; i < 9; i++) assert_int_equal(gale_remote_ack(state_.bolt, state_.handles[i]), 0);
    assert_int_equal(gale_remote_fail(state_.bolt, state_.handles[9], GALE_REASON_USER, "no"), 0);
    rig_settle(&r);
    assert_int_equal(last.seen, 1);
    assert_int_equal(state_.acks, 9);
    assert_int_equal(state_.fails, 1);
    rig_fini(&r);
    close_remotes();
}

static int64_t seen_number;
static char seen_text[32];

static int note_values(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_value text = gale_tuple_value(tuple, 1);
    seen_number = gale_tuple_value(tuple, 0).as.i64;
    assert_int_equal(text.type, GALE_TYPE_STRING);
    assert_true(text.size < sizeof seen_text);
    memcpy(seen_text, text.as.string, text.size);
    return rig_take(bolt, tuple, out);
}

static void values_arrive_as_they_were_when_they_were_emitted(void **state) {
    (void)state;
    rig r;
    build(&r);
    last.on = note_values;
    memset(seen_text, 0, sizeof seen_text);
    rig_make(&r, 2);
    rig_settle(&r);
    char text[] = "what was said";
    gale_value values[] = { gale_i64(77), gale_string(text, strlen(text)) };
    assert_int_equal(gale_remote_emit(state_.bolt, 0, values, 2, NULL, 0), 0);
    memset(text, 'x', strlen(text));
    values[0] = gale_i64(0);
    rig_settle(&r);
    assert_int_equal(last.seen, 1);
    assert_int_equal(seen_number, 77);
    assert_string_equal(seen_text, "what was said");
    rig_fini(&r);
    close_remotes();
}

static void commands_that_wait_for_a_spout_leave_nothing_to_do_until_it_may_emit(void **state) {
    (void)state;
    rig r;
    build(&r);
    rig_make(&r, 1);
    rig_settle(&r);
    gale_runtime_deactivate(r.runtime);
    rig_settle(&r);
    for (uint64_t i = 0; i < 3; i++) { /* the first is taken in, and the others lie behind it */
        assert_int_equal(emit_tracked(i), 0);
        int64_t steps = 0;
        while (gale_runtime_step(r.runtime) > 0) assert_true(++steps < 100);
    }
    assert_int_equal(state_.handed, 0);
    gale_runtime_activate(r.runtime);
    rig_settle(&r);
    assert_int_equal(state_.handed, 3);
    rig_fini(&r);
    close_remotes();
}

static void an_emit_of_a_remote_that_finds_no_memory_is_not_lost(void **state) {
    (void)state;
    rig r;
    counting_allocator memory = { 0 };
    gale_allocator allocator = counting_handle(&memory);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    build(&r);
    gale_topology_set(r.topology, "holder", "gale.executor", gale_i64(1)); /* where nothing was emitted yet */
    options.executors = 2;
    options.allocator = &allocator;
    rig_make_with(&r, options);
    rig_settle(&r);
    assert_int_equal(emit_tracked(0), 0);
    rig_settle(&r);
    assert_int_equal(state_.handed, 1);
    gale_value values[] = { gale_i64(1), gale_i64(2) };
    memory.fail_at = memory.calls + 1;
    memory.fail_after = true;
    assert_int_equal(gale_remote_emit(state_.bolt, 0, values, 2, state_.handles, 1), 0);
    assert_int_equal(gale_remote_ack(state_.bolt, state_.handles[0]), 0);
    rig_settle(&r);
    assert_int_equal(state_.acks, last.seen); /* what is acked was executed to its end, */
    memory.fail_at = 0;
    rig_advance(&r, 60 * GALE_SECOND, GALE_SECOND);
    assert_int_equal(state_.acks + state_.fails, 1); /* and what could not be emitted fails, at the latest now */
    rig_fini(&r);
    close_remotes();
    assert_int_equal(memory.blocks, 0);
}

static void misuse_of_a_remote_is_counted_or_told(void **state) {
    (void)state;
    rig r;
    build(&r);
    rig_make(&r, 1);
    rig_settle(&r);
    assert_int_equal(gale_remote_ack(state_.bolt, 12345), 0); /* nobody holds it: counted */
    gale_value one = gale_i64(1);
    assert_int_equal(gale_remote_emit_tracked(state_.spout, 0, &one, 1, 7), 0); /* too few fields: told */
    assert_int_equal(gale_remote_emit_tracked(state_.bolt, 0, &one, 1, 7), GALE_STATE);
    assert_int_equal(gale_remote_fail(state_.bolt, 12345, GALE_REASON_FAILED, NULL), 0);
    rig_settle(&r);
    assert_int_equal(rig_task(&r, "holder", 0).misused, 2);
    assert_int_equal(state_.fails, 1);
    rig_fini(&r);
    close_remotes();
}

static void a_remote_cannot_fail_a_tuple_for_what_is_no_reason(void **state) {
    (void)state;
    static const int32_t no_reasons[] = { -1, INT32_MIN, GALE_REASON_STOPPED, GALE_REASON_COUNT, GALE_REASON_USER - 1 };
    rig r;
    build(&r);
    rig_make(&r, 2);
    rig_settle(&r);
    assert_int_equal(emit_tracked(0), 0);
    rig_settle(&r);
    for (size_t i = 0; i < sizeof no_reasons / sizeof no_reasons[0]; i++)
        assert_int_equal(gale_remote_fail(state_.bolt, state_.handles[0], no_reasons[i], "no"), GALE_INVALID);
    rig_settle(&r);
    assert_int_equal(state_.fails, 0);
    assert_int_equal(gale_remote_ack(state_.bolt, state_.handles[0]), 0); /* nothing had happened to it */
    rig_settle(&r);
    assert_int_equal(state_.acks, 1);
    rig_fini(&r);
    close_remotes();
}

static void a_full_inbox_says_again_and_loses_nothing(void **state) {
    (void)state;
    rig r;
    build(&r);
    rig_make(&r, 1);
    rig_settle(&r);
    uint64_t taken = 0;
    while (emit_tracked(taken) == 0) taken++;
    assert_int_equal(emit_tracked(taken), GALE_AGAIN);
    assert_true(taken > 1000);
    rig_settle(&r);
    assert_int_equal(state_.handed, 1000); /* max pending: the rest waits */
    gale_runtime_stop(r.runtime);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    assert_int_equal(state_.fails, taken);
    assert_int_equal(emit_tracked(0), GALE_STOPPED);
    rig_fini(&r);
    assert_int_equal(emit_tracked(0), GALE_STOPPED); /* it outlives the runtime */
    assert_int_equal(gale_remote_ack(state_.bolt, state_.handles[0]), GALE_STOPPED);
    close_remotes();
}

static void a_draining_runtime_emits_what_it_took_and_takes_no_more(void **state) {
    (void)state;
    rig r;
    build(&r);
    rig_make(&r, 1);
    rig_settle(&r);
    for (uint64_t i = 0; i < 10; i++) assert_int_equal(emit_tracked(i), 0);
    gale_runtime_drain(r.runtime);
    for (int i = 0; i < 20; i++) gale_runtime_step(r.runtime);
    assert_int_equal(emit_tracked(10), GALE_STOPPED);
    assert_int_equal(state_.handed, 10);
    for (int i = 0; i < 10; i++) assert_int_equal(gale_remote_ack(state_.bolt, state_.handles[i]), 0);
    while (gale_runtime_step(r.runtime) != GALE_STOPPED) {
    }
    assert_int_equal(state_.acks, 10);
    rig_fini(&r);
    close_remotes();
}

/* --- On four threads --- */

enum { THREADS = 4 };

static atomic_ullong accepted, answered_late;
static atomic_int over;

static void *emitter(void *user) {
    uint64_t id = (uint64_t)(uintptr_t)user << 32;
    while (!atomic_load(&over)) {
        int rc = emit_tracked(id++);
        if (rc == 0)
            atomic_fetch_add(&accepted, 1);
        else if (rc == GALE_STOPPED)
            break;
        else
            sched_yield();
    }
    return NULL;
}

static void *answerer(void *user) {
    unsigned long long at = (uintptr_t)user;
    for (int stopped = 0; !stopped && !atomic_load(&over);) {
        if (at >= atomic_load(&state_.handed)) {
            stopped = gale_remote_ack(state_.bolt, 1) == GALE_STOPPED; /* a handle of nobody */
            sched_yield();
            continue;
        }
        gale_handle handle = state_.handles[at % 200000];
        int rc = at % 7 ? gale_remote_ack(state_.bolt, handle) : gale_remote_fail(state_.bolt, handle, 0, "seven");
        if (rc == 0)
            at += 2;
        else if (rc == GALE_STOPPED)
            stopped = 1;
        else
            sched_yield();
    }
    atomic_fetch_add(&answered_late, 1);
    return NULL;
}

/* Two emit, two answer (odd and even), while the runtime is deactivated, activated, and ended by `end`. */
static void from_four_threads(void (*end)(gale_runtime *)) {
    rig r;
    build(&r);
    gale_clock clock = gale_clock_monotonic();
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 2;
    options.clock = &clock;
    options.spins = 50;
    rig_make_with(&r, options);
    gale_error error = GALE_ERROR_INIT;
    if (gale_runtime_start(r.runtime, &error) < 0) fail_msg("%s", error.text);
    atomic_store(&accepted, 0);
    atomic_store(&over, 0);
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, i < 2 ? emitter : answerer, (void *)(i < 2 ? i + 1 : i - 2));
    while (atomic_load(&state_.acks) < 20000) sched_yield();
    gale_runtime_deactivate(r.runtime);
    gale_runtime_activate(r.runtime);
    while (atomic_load(&state_.acks) < 30000) sched_yield();
    end(r.runtime);
    if (gale_runtime_wait(r.runtime, 60 * GALE_SECOND, &error) < 0) fail_msg("%s", error.text);
    rig_fini(&r);
    atomic_store(&over, 1);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(state_.acks + state_.fails, accepted);
    assert_int_equal(emit_tracked(0), GALE_STOPPED);
    close_remotes();
}

static void four_threads_lose_nothing_when_the_runtime_drains(void **state) {
    (void)state;
    from_four_threads(gale_runtime_drain);
}

static void four_threads_lose_nothing_when_the_runtime_stops(void **state) {
    (void)state;
    from_four_threads(gale_runtime_stop);
}

/* --- While a run drains by itself --- */

static int spout_done(void *self, gale_collector *out, gale_wait *wait) {
    (void)self, (void)out, (void)wait;
    return GALE_NEXT_DONE;
}

/* Emits now and then, so that the run is at rest in between. */
static void *emit_now_and_then(void *user) {
    uint64_t id = 0;
    (void)user;
    for (int rc = 0; rc != GALE_STOPPED;) {
        rc = emit_tracked(id);
        if (rc == 0) atomic_fetch_add(&accepted, 1);
        for (uint64_t i = id++ % 16 * 20; i; i--) sched_yield();
    }
    return NULL;
}

static void run_until_drained_beside_an_emitter(void) {
    static const gale_spout_ops ops = { .size = sizeof ops,
                                        .name = "remote",
                                        .open = spout_open,
                                        .next = spout_done,
                                        .ack = spout_ack,
                                        .fail = spout_fail };
    static const gale_output outputs[] = { { NULL, "number, key" } };
    rig r;
    pthread_t thread;
    memset(&state_, 0, sizeof state_);
    last = (rig_bolt){ .on = rig_take };
    atomic_store(&accepted, 0);
    rig_init(&r);
    gale_spout spout = { .size = sizeof spout, .ops = &ops, .user = &state_, .outputs = outputs, .output_count = 1 };
    gale_topology_add_spout(r.topology, "spout", spout, 1);
    gale_topology_add_bolt(r.topology, "last", rig_simple(&last), 1);
    gale_topology_subscribe(r.topology, "last", "spout", NULL, gale_shuffle());
    gale_topology_set(r.topology, "spout", "gale.executor", gale_i64(1));
    gale_topology_set(r.topology, "last", "gale.executor", gale_i64(0));
    gale_clock clock = gale_clock_monotonic();
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 2;
    options.clock = &clock;
    options.until_drained = true;
    rig_make_with(&r, options);
    gale_error error = GALE_ERROR_INIT;
    if (gale_runtime_start(r.runtime, &error) < 0) fail_msg("%s", error.text);
    pthread_create(&thread, NULL, emit_now_and_then, NULL);
    if (gale_runtime_wait(r.runtime, 30 * GALE_SECOND, &error) < 0) fail_msg("%s", error.text);
    pthread_join(thread, NULL);
    rig_fini(&r);
    assert_int_equal(state_.acks, accepted);
    assert_int_equal(state_.fails, 0);
    assert_int_equal(last.seen, accepted);
    gale_remote_close(state_.spout);
}

static void a_run_until_drained_ends_though_a_remote_emits_meanwhile(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) run_until_drained_beside_an_emitter();
}

/* --- Submitted inactive --- */

static void an_inactive_runtime_opens_nothing_before_it_is_activated(void **state) {
    (void)state;
    rig r;
    build(&r);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 2;
    options.inactive = true;
    rig_make_with(&r, options);
    rig_settle(&r);
    assert_int_equal(state_.opened, 0);
    gale_runtime_activate(r.runtime);
    rig_settle(&r);
    assert_int_equal(state_.opened, 2);
    rig_fini(&r);
    close_remotes();
}

static void an_inactive_runtime_that_is_drained_ends_without_opening(void **state) {
    (void)state;
    rig r;
    build(&r);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.inactive = true;
    options.executors = 2;
    gale_clock clock = gale_clock_monotonic();
    options.clock = &clock;
    rig_make_with(&r, options);
    assert_int_equal(gale_runtime_start(r.runtime, NULL), 0);
    gale_runtime_drain(r.runtime);
    assert_int_equal(gale_runtime_wait(r.runtime, 10 * GALE_SECOND, NULL), 0);
    assert_int_equal(state_.opened, 0);
    rig_fini(&r);
}

/* --- What arrives --- */

enum { KEYS = 16, LONG = 5000 }; /* bytes: beyond what lies in a row */

typedef struct arrivals {
    atomic_uint tuples, wrong, seen_by_hook;
    uint32_t task_of[KEYS]; /* plus 1 */
} arrivals;

static arrivals arrived;

static size_t length_of(int64_t number) {
    return number % 3 == 0 ? LONG : number % 3 == 1 ? 200 : 3;
}

static bool is_whole(const gale_value *number, const gale_value *list) {
    gale_value text = gale_list_at(list, 1), again = gale_list_at(list, 0);
    bool right = again.as.i64 == number->as.i64 && text.size == length_of(number->as.i64);
    for (size_t i = 0; right && i < text.size; i++) right = text.as.string[i] == 'a' + number->as.i64 % KEYS;
    return right;
}

static int check_arrival(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_value number = gale_tuple_value(tuple, 0), list = gale_tuple_value(tuple, 1);
    (void)bolt, (void)out;
    atomic_fetch_add(&arrived.tuples, 1);
    if (!is_whole(&number, &list)) atomic_fetch_add(&arrived.wrong, 1);
    return 0;
}

static void hook_emit(void *user, const gale_context *context, uint32_t stream, const gale_value *values, size_t count,
                      uint32_t deliveries) {
    (void)user, (void)context, (void)stream, (void)deliveries;
    if (count == 2 && is_whole(&values[0], &values[1])) atomic_fetch_add(&arrived.seen_by_hook, 1);
}

static int choose_by_number(void *self, const gale_targets *targets, const gale_value *values, size_t count,
                            uint32_t *ret_indices) {
    (void)self;
    if (count != 2 || !is_whole(&values[0], &values[1])) atomic_fetch_add(&arrived.wrong, 1);
    ret_indices[0] = (uint32_t)values[0].as.i64 % targets->task_count;
    return 1;
}

static void emit_number(gale_remote *remote, int64_t number) {
    static char text[LONG];
    memset(text, 'a' + (int)(number % KEYS), sizeof text);
    const gale_value items[] = { gale_i64(number), gale_string(text, length_of(number)) };
    const gale_value values[] = { gale_i64(number), gale_list(items, 2) };
    while (gale_remote_emit_tracked(remote, 0, values, 2, (uint64_t)number) == GALE_AGAIN) sched_yield();
}

/* By a key, to all, by a function; seen by a hook; kept for replay, with `attempts`. */
static void send_all_ways(int64_t attempts, bool watched) {
    enum { NUMBERS = 300 };
    static const gale_custom_ops chooser = { .size = sizeof chooser, .name = "by number", .choose = choose_by_number };
    rig r;
    rig_bolt bolts[3];
    memset(&arrived, 0, sizeof arrived);
    build(&r);
    const gale_grouping ways[] = { gale_fields("number"), gale_all(), gale_custom(&chooser, NULL, NULL) };
    static const char *const names[] = { "keyed", "every", "chosen" };
    for (size_t i = 0; i < 3; i++) {
        bolts[i] = (rig_bolt){ .on = check_arrival };
        gale_topology_add_bolt(r.topology, names[i], rig_simple(&bolts[i]), 3);
        gale_topology_subscribe(r.topology, names[i], "spout", NULL, ways[i]);
    }
    gale_topology_set(r.topology, NULL, "topology.replay.attempts", gale_i64(attempts));
    const gale_hook hook = { .size = sizeof hook, .emit = hook_emit };
    if (watched) gale_topology_add_hook(r.topology, "spout", hook);
    rig_make(&r, 2);
    rig_settle(&r);
    for (int64_t n = 0; n < NUMBERS; n++) {
        emit_number(state_.spout, n);
        if (n % 20 == 0) rig_settle(&r);
    }
    rig_settle(&r);
    assert_int_equal(atomic_load(&arrived.tuples), NUMBERS * (1 + 3 + 1));
    assert_int_equal(atomic_load(&arrived.wrong), 0);
    assert_int_equal(atomic_load(&arrived.seen_by_hook), watched ? NUMBERS : 0);
    gale_remote_close(state_.spout);
    gale_remote_close(state_.bolt);
    gale_runtime_stop(r.runtime);
    rig_fini(&r);
}

static void what_a_remote_emits_arrives_as_it_was_by_any_grouping(void **state) {
    (void)state;
    for (int64_t attempts = 1; attempts <= 3; attempts += 2) {
        send_all_ways(attempts, false);
        send_all_ways(attempts, true);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_remote_emits_for_its_spout_and_answers_for_its_bolt),
        cmocka_unit_test(values_arrive_as_they_were_when_they_were_emitted),
        cmocka_unit_test(commands_that_wait_for_a_spout_leave_nothing_to_do_until_it_may_emit),
        cmocka_unit_test(an_emit_of_a_remote_that_finds_no_memory_is_not_lost),
        cmocka_unit_test(misuse_of_a_remote_is_counted_or_told),
        cmocka_unit_test(a_remote_cannot_fail_a_tuple_for_what_is_no_reason),
        cmocka_unit_test(a_full_inbox_says_again_and_loses_nothing),
        cmocka_unit_test(a_draining_runtime_emits_what_it_took_and_takes_no_more),
        cmocka_unit_test(four_threads_lose_nothing_when_the_runtime_drains),
        cmocka_unit_test(four_threads_lose_nothing_when_the_runtime_stops),
        cmocka_unit_test(a_run_until_drained_ends_though_a_remote_emits_meanwhile),
        cmocka_unit_test(an_inactive_runtime_opens_nothing_before_it_is_activated),
        cmocka_unit_test(an_inactive_runtime_that_is_drained_ends_without_opening),
        cmocka_unit_test(what_a_remote_emits_arrives_as_it_was_by_any_grouping),
    };
    return rig_run_on_both_ledgers(tests);
}
