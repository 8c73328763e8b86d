/* Hooks and the event log: they see each event once, and change nothing. */
#include "runtime/rig.h"

#include "engine/emit.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct seen {
    uint64_t prepares, emits, deliveries, executes, errors, acks, fails, cleanups;
    char text[64];
    int *freed;
} seen;

static void on_prepare(void *user, const gale_context *task) {
    (void)task;
    ((seen *)user)->prepares++;
}

static void on_emit(void *user, const gale_context *task, uint32_t stream, const gale_value *values, size_t count,
                    uint32_t deliveries) {
    (void)task, (void)values;
    assert_int_equal(stream, 0);
    assert_int_equal(count, 2);
    ((seen *)user)->emits++;
    ((seen *)user)->deliveries += deliveries;
}

static void on_execute(void *user, const gale_context *task, const gale_tuple *tuple, int returned) {
    assert_true(gale_tuple_size(tuple) == 2);
    assert_non_null(task->component);
    ((seen *)user)->executes++;
    ((seen *)user)->errors += returned < 0;
}

static void on_ack(void *user, const gale_context *task, uint64_t id) {
    (void)task, (void)id;
    ((seen *)user)->acks++;
}

static void on_fail(void *user, const gale_context *task, uint64_t id, const gale_failure *failure) {
    (void)task, (void)id;
    strncpy(((seen *)user)->text, failure->text, sizeof((seen *)user)->text - 1);
    ((seen *)user)->fails++;
}

static void on_cleanup(void *user, const gale_context *task) {
    (void)task;
    ((seen *)user)->cleanups++;
}

static void on_free(void *user) {
    if (((seen *)user)->freed) ++*((seen *)user)->freed;
}

static gale_hook hook_of(seen *s) {
    return (gale_hook){ sizeof(gale_hook), s, on_free, on_prepare, on_emit, on_execute, on_ack, on_fail, on_cleanup };
}

static rig_spout spout;
static rig_bolt a, c;

static void build_with(rig *r, uint64_t to_emit, uint32_t tasks) {
    memset(&spout, 0, sizeof spout);
    memset(&a, 0, sizeof a);
    memset(&c, 0, sizeof c);
    spout.to_emit = to_emit;
    a.on = rig_twice;
    c.on = rig_take;
    rig_init(r);
    gale_topology_add_spout(r->topology, "spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r->topology, "a", rig_simple(&a), tasks);
    gale_topology_add_bolt(r->topology, "c", rig_simple(&c), 1);
    gale_topology_subscribe(r->topology, "a", "spout", NULL, gale_shuffle());
    gale_topology_subscribe(r->topology, "c", "a", NULL, gale_shuffle());
}

static void build(rig *r, uint64_t to_emit) {
    build_with(r, to_emit, 2);
}

static void a_hook_of_all_sees_each_event_of_every_task_once(void **state) {
    (void)state;
    rig r;
    int freed = 0;
    seen s = { .freed = &freed };
    build(&r, 100);
    assert_int_equal(gale_topology_add_hook(r.topology, NULL, hook_of(&s)), 0);
    rig_make(&r, 2);
    rig_settle(&r);
    rig_drain(&r);
    rig_fini(&r);
    assert_int_equal(s.prepares, 4);
    assert_int_equal(s.emits, 100 + 200);
    assert_int_equal(s.deliveries, 100 + 200);
    assert_int_equal(s.executes, 100 + 200);
    assert_int_equal(s.acks, 100 + 100 + 200); /* spout, a, c */
    assert_int_equal(s.fails + s.errors, 0);
    assert_int_equal(s.cleanups, 4);
    assert_int_equal(freed, 1);
}

static void a_hook_of_one_component_sees_that_one_only(void **state) {
    (void)state;
    rig r;
    seen s = { 0 }, spouts = { 0 };
    build(&r, 10);
    c.on = rig_refuse;
    gale_topology_add_hook(r.topology, "c", hook_of(&s));
    gale_topology_add_hook(r.topology, "spout", hook_of(&spouts));
    rig_make(&r, 2);
    rig_settle(&r);
    assert_int_equal(s.executes, 20);
    assert_int_equal(s.errors, 20);
    assert_int_equal(s.fails, 20);
    assert_int_equal(s.emits + s.acks, 0);
    assert_string_equal(s.text, "no, thanks");
    assert_int_equal(spouts.fails, 10);
    assert_string_equal(spouts.text, "no, thanks");
    rig_fini(&r);
}

static void a_hook_sees_components_whose_names_sort_before_the_ackers(void **state) {
    (void)state;
    rig r;
    seen s = { 0 };
    memset(&spout, 0, sizeof spout);
    memset(&a, 0, sizeof a);
    spout.to_emit = 100;
    a.on = rig_take;
    rig_init(&r);
    gale_topology_add_spout(r.topology, "Spout", rig_spout_of(&spout), 1);
    gale_topology_add_bolt(r.topology, "1st", rig_simple(&a), 2);
    gale_topology_subscribe(r.topology, "1st", "Spout", NULL, gale_shuffle());
    gale_topology_set(r.topology, NULL, "topology.acker.executors", gale_i64(3));
    assert_int_equal(gale_topology_add_hook(r.topology, NULL, hook_of(&s)), 0);
    rig_make(&r, 2);
    rig_settle(&r);
    assert_int_equal(s.prepares, 3); /* acker tasks have no hooks */
    assert_int_equal(s.executes, 100);
    assert_int_equal(s.acks, 200);
    assert_int_equal(rig_stats(&r)->executed, 100);
    rig_fini(&r);
}

static void a_hook_with_no_functions_is_legal(void **state) {
    (void)state;
    rig r;
    build(&r, 10);
    gale_topology_add_hook(r.topology, NULL, (gale_hook){ .size = sizeof(gale_hook) });
    rig_make(&r, 1);
    rig_settle(&r);
    assert_int_equal(spout.acks, 10);
    rig_fini(&r);
}

static void a_hook_for_a_component_that_is_not_there_is_an_error(void **state) {
    (void)state;
    rig r;
    seen s = { 0 };
    gale_error error = GALE_ERROR_INIT;
    build(&r, 1);
    gale_topology_add_hook(r.topology, "spoot", hook_of(&s));
    assert_int_equal(gale_topology_check(r.topology, &error), GALE_TOPOLOGY);
    assert_string_equal(error.text, "a hook is for component 'spoot', which does not exist; did you mean 'spout'?");
    rig_fini(&r);
}

/* --- topology.debug --- */

typedef struct journal {
    char text[20000];
    size_t size;
} journal;

static void write_down(void *user, int32_t level, const char *component, const char *text) {
    journal *j = user;
    if (level != GALE_LOG_INFO) return; /* what a bolt reported */
    int size = snprintf(j->text + j->size, sizeof j->text - j->size, "%s: %s\n", component, text);
    assert_in_range(size, 1, sizeof j->text - j->size - 1);
    j->size += (size_t)size;
}

static void run_with_journal(rig *r, journal *j, int32_t level) {
    static const gale_runtime_options empty = GALE_RUNTIME_OPTIONS_INIT;
    gale_logger logger = { sizeof logger, level, write_down, j };
    gale_runtime_options options = empty;
    options.executors = 1;
    options.logger = &logger;
    rig_make_with(r, options);
    rig_settle(r);
}

/* Are these lines in the journal, in this order? Of a tuple's number, which the engine draws, any will do. */
static void expect_in_order(const journal *j, const char *const *lines, size_t count) {
    const char *at = j->text;
    for (size_t i = 0; i < count; i++) {
        const char *found = strstr(at, lines[i]);
        if (!found) fail_msg("'%s' is not where it should be in:\n%s", lines[i], j->text);
        at = found + strlen(lines[i]);
    }
}

static void a_topology_that_is_debugged_logs_each_emit_execution_ack_and_failure(void **state) {
    (void)state;
    static const char *const lines[] = {
        "spout: task 3 emits on 'default' to 1 task: [0,0]\n",
        "a: task 1 emits on 'default' to 1 task: [0,0]\n",
        "a: task 1 executed tuple ",
        " from 'spout' (task 3, stream 'default'): [0,0]\n",
        "a: task 1 acks tuple ",
        "c: task 2 executed tuple ",
        " from 'a' (task 1, stream 'default'), a component reported an error: [0,0]\n",
        "c: task 2 fails tuple ",
        ", failed: no, thanks\n",
        "spout: task 3 is told that message 0 failed, failed: no, thanks\n",
    };
    static journal j;
    rig r;
    j.size = 0;
    build_with(&r, 1, 1);
    a.on = rig_pass;
    c.on = rig_refuse;
    gale_topology_set(r.topology, NULL, "topology.debug", gale_bool(true));
    run_with_journal(&r, &j, GALE_LOG_INFO);
    expect_in_order(&j, lines, sizeof lines / sizeof lines[0]);
    rig_fini(&r);
}

static void only_the_component_that_is_debugged_is_logged_and_hooks_go_on(void **state) {
    (void)state;
    static const char *const lines[] = { "c: task 2 executed tuple ", "c: task 2 acks tuple " };
    static journal j;
    rig r;
    seen s = { 0 };
    j.size = 0;
    build_with(&r, 5, 1);
    a.on = rig_pass;
    gale_topology_add_hook(r.topology, NULL, hook_of(&s));
    gale_topology_set(r.topology, "c", "topology.debug", gale_bool(true));
    run_with_journal(&r, &j, GALE_LOG_INFO);
    expect_in_order(&j, lines, 2);
    assert_null(strstr(j.text, "a: "));
    assert_null(strstr(j.text, "spout: "));
    assert_int_equal(s.executes, 10);
    assert_int_equal(spout.acks, 5);
    rig_fini(&r);
}

static void what_a_debugged_component_does_is_not_even_formatted_below_info(void **state) {
    (void)state;
    static journal j;
    rig r;
    j.size = 0;
    build_with(&r, 5, 1);
    gale_topology_set(r.topology, NULL, "topology.debug", gale_bool(true));
    run_with_journal(&r, &j, GALE_LOG_WARN);
    assert_int_equal(j.size, 0);
    rig_fini(&r);
}

static int emit_long(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out) {
    static char text[5000];
    (void)bolt, (void)tuple;
    memset(text, 'x', sizeof text);
    gale_value values[] = { gale_string(text, sizeof text), gale_list(NULL, 0) };
    int rc = gale_emit(out, 0, values, 2);
    return rc < 0 ? rc : 0;
}

static void a_long_tuple_is_cut_in_the_log_and_nowhere_else(void **state) {
    (void)state;
    static journal j;
    rig r;
    j.size = 0;
    build_with(&r, 1, 1);
    a.on = emit_long;
    gale_topology_set(r.topology, "a", "topology.debug", gale_bool(true));
    run_with_journal(&r, &j, GALE_LOG_INFO);
    const char *at = strstr(j.text, "to 1 task: [\"xxx");
    assert_non_null(at);
    assert_true(strcspn(at, "\n") < 1000);
    assert_int_equal(c.seen, 1);
    assert_int_equal(spout.acks, 1);
    rig_fini(&r);
}

/* --- The event log --- */

typedef struct logged {
    uint64_t count;
    uint64_t tracked;
    int64_t sum;
    const char *component;
} logged;

static void on_event(void *user, const gale_event *event) {
    logged *l = user;
    l->count++;
    l->tracked += event->tracked;
    l->sum += event->values[0].as.i64;
    l->component = event->component;
    assert_int_equal(event->count, 2);
    assert_string_equal(event->stream, "default");
    if (event->tracked) assert_int_equal(event->message_id, event->values[0].as.i64);
}

static void all_events_of_a_component_are_logged_once_and_nothing_changes(void **state) {
    (void)state;
    rig r;
    logged all = { 0 }, none = { 0 };
    build(&r, 100);
    rig_make(&r, 2);
    assert_int_equal(gale_runtime_log_events(r.runtime, "spout", 100, on_event, &all), 0);
    assert_int_equal(gale_runtime_log_events(r.runtime, "a", 100, on_event, &none), 0);
    assert_int_equal(gale_runtime_log_events(r.runtime, "a", 0, NULL, NULL), 0);
    rig_settle(&r);
    assert_int_equal(all.count, 100);
    assert_int_equal(all.tracked, 100);
    assert_int_equal(all.sum, 99 * 100 / 2);
    assert_string_equal(all.component, "spout");
    assert_int_equal(none.count, 0);
    assert_int_equal(spout.acks, 100);
    assert_int_equal(c.seen, 200);
    rig_fini(&r);
}

/* Do emits go the shortest way there is, by which nobody sees them? */
static bool is_unseen(const rig *r, const char *component) {
    const gx_task *task = r->runtime->shared.tasks[rig_task_number(r, component, 0)];
    bool brief = task->streams[0].bare;
    assert_int_equal(gx_emit_is_watched(task), !brief);
    return brief;
}

static void when_nothing_is_logged_any_more_emits_cost_what_they_did_before(void **state) {
    (void)state;
    rig r;
    logged all = { 0 };
    build(&r, UINT64_MAX);
    a.on = rig_pass;
    gale_topology_subscribe(r.topology, "c", "a", "side", gale_shuffle()); /* one value, and one task that takes it */
    gale_topology_set(r.topology, NULL, "topology.max.spout.pending", gale_i64(1));
    rig_make(&r, 1);
    for (int i = 0; i < 20; i++) gale_runtime_step(r.runtime);
    assert_true(is_unseen(&r, "spout"));
    assert_int_equal(gale_runtime_log_events(r.runtime, "spout", 100, on_event, &all), 0);
    assert_int_equal(gale_runtime_log_events(r.runtime, "a", 100, on_event, &all), 0);
    assert_int_equal(gale_runtime_log_events(r.runtime, "a", 0, NULL, NULL), 0);
    for (int i = 0; i < 20; i++) gale_runtime_step(r.runtime);
    assert_false(is_unseen(&r, "spout"));
    assert_true(is_unseen(&r, "a")); /* the spout is logged, and nobody else */
    assert_true(all.count > 0);
    assert_int_equal(gale_runtime_log_events(r.runtime, "spout", 0, NULL, NULL), 0);
    uint64_t logged_until_then = all.count;
    for (int i = 0; i < 20; i++) gale_runtime_step(r.runtime);
    assert_int_equal(all.count, logged_until_then);
    assert_true(is_unseen(&r, "spout"));
    rig_fini(&r);
}

static void a_sample_is_about_as_large_as_it_was_asked_for(void **state) {
    (void)state;
    rig r;
    logged some = { 0 };
    build(&r, 10000);
    rig_make(&r, 1);
    assert_int_equal(gale_runtime_log_events(r.runtime, "a", 10, on_event, &some), 0);
    rig_settle(&r);
    assert_in_range(some.count, 1800, 2200); /* of 20000; the seed is fixed */
    assert_int_equal(some.tracked, 0);
    rig_fini(&r);
}

static void the_event_log_refuses_what_is_not_there(void **state) {
    (void)state;
    rig r;
    logged l = { 0 };
    build(&r, 1);
    rig_make(&r, 1);
    assert_int_equal(gale_runtime_log_events(r.runtime, "b", 100, on_event, &l), GALE_NOT_FOUND);
    assert_int_equal(gale_runtime_log_events(r.runtime, "a", 101, on_event, &l), GALE_INVALID);
    assert_int_equal(gale_runtime_log_events(r.runtime, "a", -1, on_event, &l), GALE_INVALID);
    assert_int_equal(gale_runtime_log_events(r.runtime, "a", 50, NULL, &l), GALE_INVALID);
    rig_fini(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hook_of_all_sees_each_event_of_every_task_once),
        cmocka_unit_test(a_hook_of_one_component_sees_that_one_only),
        cmocka_unit_test(a_hook_sees_components_whose_names_sort_before_the_ackers),
        cmocka_unit_test(a_hook_with_no_functions_is_legal),
        cmocka_unit_test(a_hook_for_a_component_that_is_not_there_is_an_error),
        cmocka_unit_test(a_topology_that_is_debugged_logs_each_emit_execution_ack_and_failure),
        cmocka_unit_test(only_the_component_that_is_debugged_is_logged_and_hooks_go_on),
        cmocka_unit_test(what_a_debugged_component_does_is_not_even_formatted_below_info),
        cmocka_unit_test(a_long_tuple_is_cut_in_the_log_and_nowhere_else),
        cmocka_unit_test(all_events_of_a_component_are_logged_once_and_nothing_changes),
        cmocka_unit_test(when_nothing_is_logged_any_more_emits_cost_what_they_did_before),
        cmocka_unit_test(a_sample_is_about_as_large_as_it_was_asked_for),
        cmocka_unit_test(the_event_log_refuses_what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
