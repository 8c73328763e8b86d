#include "flow/with.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_IN_100 = 1 };

static void must(int rc, const char *what) {
    if (rc >= 0) return;
    fprintf(stderr, "gale: %s: %s\n", what, gale_error_text(rc));
    exit(1);
}

static void add_deadline(gale_topology *topology, uint64_t *seen) {
    (void)seen;
    must(gale_topology_set(topology, NULL, "topology.message.deadline.secs", gale_i64(3600)), "deadline");
}

static void add_replay(gale_topology *topology, uint64_t *seen) {
    (void)seen;
    must(gale_topology_set(topology, NULL, "topology.replay.attempts", gale_i64(3)), "replay");
}

/* The same subscription once more: its grouping is replaced. */
static void add_drop(gale_topology *topology, uint64_t *seen) {
    (void)seen;
    gale_grouping grouping = gale_drop_oldest(gale_local_or_shuffle());
    must(gale_topology_subscribe(topology, "null", "id", NULL, grouping), "drop");
}

/* --- A hook on the bolt in the middle, which emits, executes and acks --- */

static void on_emit(void *user, const gale_context *task, uint32_t stream, const gale_value *values, size_t count,
                    uint32_t deliveries) {
    (void)task, (void)stream, (void)values, (void)count, (void)deliveries;
    ++*(uint64_t *)user;
}

static void on_execute(void *user, const gale_context *task, const gale_tuple *tuple, int returned) {
    (void)task, (void)tuple, (void)returned;
    ++*(uint64_t *)user;
}

static void on_ack(void *user, const gale_context *task, uint64_t id) {
    (void)task, (void)id;
    ++*(uint64_t *)user;
}

static void add_hook(gale_topology *topology, uint64_t *seen) {
    gale_hook hook = { .size = sizeof hook, .user = seen, .emit = on_emit, .execute = on_execute, .ack = on_ack };
    must(gale_topology_add_hook(topology, "id", hook), "hook");
}

static bool hook_worked(uint64_t seen, uint64_t trees) {
    return seen >= 3 * trees;
}

/* --- The event log --- */

static void on_event(void *user, const gale_event *event) {
    (void)event;
    ++*(uint64_t *)user;
}

static void add_nothing(gale_topology *topology, uint64_t *seen) {
    (void)topology, (void)seen;
}

static void begin_log(gale_runtime *runtime, uint64_t *seen) {
    must(gale_runtime_log_events(runtime, "id", EVENTS_IN_100, on_event, seen), "event log");
}

/* It is a sample. */
static bool log_worked(uint64_t seen, uint64_t trees) {
    uint64_t mean = trees * EVENTS_IN_100 / 100;
    return seen >= mean / 2 && seen <= mean * 2;
}

/* --- A tap --- */

enum { TAPPED_A_SECOND = 100 };

static void begin_tap(gale_runtime *runtime, uint64_t *seen) {
    gale_tap_options options = GALE_TAP_OPTIONS_INIT;
    gale_tap tap;
    options.component = "id";
    options.per_second = TAPPED_A_SECOND;
    options.on_event = on_event;
    options.user = seen;
    must(gale_runtime_tap(runtime, &options, &tap, NULL), "tap");
}

static bool tap_worked(uint64_t seen, uint64_t trees) {
    return seen > 0 && seen < trees;
}

static const bench_with all[] = {
    { "deadline", add_deadline, NULL, NULL, "a deadline" },
    { "hook", add_hook, NULL, hook_worked, "a hook on the bolt in the middle" },
    { "events", add_nothing, begin_log, log_worked, "the event log at 1 % of the bolt in the middle" },
    { "tap", add_nothing, begin_tap, tap_worked, "a tap of 100 tuples a second of the bolt in the middle" },
    { "replay", add_replay, NULL, NULL, "replay" },
    { "drop", add_drop, NULL, NULL, "the last input drops the oldest" },
};

const bench_with *bench_with_find(const bench_arguments *arguments) {
    if (!arguments->with) return NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, arguments->with) != 0) continue;
        if (strcmp(arguments->flow, "const-id-null") != 0) bench_arguments_lack(arguments, "gale");
        return &all[i];
    }
    fprintf(stderr, "--with %s: there are deadline, hook, events, tap, replay and drop\n", arguments->with);
    exit(2);
}
