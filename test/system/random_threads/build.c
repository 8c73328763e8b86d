/* The plan's topology, as a user would write it. */
#include "system/random_threads/run.h"

#include <gale/clock.h>
#include <stdlib.h>

/* --- Hooks: they count, each task on its own thread --- */

static rt_seen *seen_of(void *user, const gale_context *context) {
    rt_run *run = user;
    if (context->task == 0 || context->task >= RT_TASKS_MAX) rt_violated("a hook heard of task %u", context->task);
    return &run->seen[context->task];
}

static void hook_prepare(void *user, const gale_context *context) {
    seen_of(user, context)->prepared++;
}

static void hook_emit(void *user, const gale_context *context, uint32_t stream, const gale_value *values, size_t count,
                      uint32_t deliveries) {
    rt_run *run = user;
    rt_seen *seen = seen_of(user, context);
    const rt_part *part = &run->plan.parts[run->part_of[context->task] - 1];
    if (stream < part->stream_count) (void)rt_values_read(part->streams[stream].shape, values, count);
    if (stream >= part->stream_count) return; /* a dead letter: the engine's own */
    seen->emits++;
    seen->deliveries += deliveries;
}

static void hook_execute(void *user, const gale_context *context, const gale_tuple *tuple, int returned) {
    (void)tuple, (void)returned;
    seen_of(user, context)->executed++;
}

static void hook_ack(void *user, const gale_context *context, uint64_t id) {
    (void)id;
    seen_of(user, context)->acks++;
}

static void hook_fail(void *user, const gale_context *context, uint64_t id, const gale_failure *failure) {
    (void)id, (void)failure;
    seen_of(user, context)->fails++;
}

static void hook_cleanup(void *user, const gale_context *context) {
    seen_of(user, context)->cleaned++;
}

static void add_hook(rt_run *run) {
    gale_hook hook = {
        sizeof hook, run, NULL, hook_prepare, hook_emit, hook_execute, hook_ack, hook_fail, hook_cleanup
    };
    int hooked = run->plan.hooked;
    if (hooked != -1)
        (void)gale_topology_add_hook(run->topology, hooked < 0 ? NULL : run->plan.parts[hooked].name, hook);
}

/* --- Groupings --- */

typedef struct chooser {
    rt_run *run;
    uint64_t chosen;
} chooser;

static int make_chooser(void *user, const gale_targets *targets, void **ret_self) {
    if (gale_targets_random(targets) % 8 == 0) return GALE_COMPONENT; /* the next emit tries again */
    chooser *made = calloc(1, sizeof *made);
    if (!made) return GALE_NO_MEMORY;
    made->run = user;
    atomic_fetch_add(&made->run->choosers, 1);
    *ret_self = made;
    return GALE_OK;
}

static void free_chooser(void *self) {
    chooser *made = self;
    atomic_fetch_sub(&made->run->choosers, 1);
    free(made);
}

/* Some of the tasks; now and then an error. */
static int choose_some(void *self, const gale_targets *targets, const gale_value *values, size_t count,
                       uint32_t *ret_indices) {
    (void)values, (void)count;
    uint32_t chosen = 0;
    uint64_t drawn = gale_targets_random(targets);
    ((chooser *)self)->chosen++;
    if (drawn % 50 == 0) return GALE_COMPONENT;
    for (uint32_t i = 0; i < targets->task_count; i++)
        if (drawn >> (8 + i) & 1) ret_indices[chosen++] = i;
    return (int)chosen;
}

static gale_grouping grouping_of(rt_run *run, const rt_input *input, rt_shape shape) {
    static const gale_custom_ops some = { sizeof some, "some", make_chooser, choose_some, free_chooser };
    const char *fields = input->by_key ? "key" : shape == RT_WIDE ? "key, word" : "word";
    switch (input->grouping) {
    case GALE_GROUPING_FIELDS: return gale_fields(fields);
    case GALE_GROUPING_PARTIAL_KEY: return gale_partial_key(fields);
    case GALE_GROUPING_CUSTOM: return gale_custom(&some, run, NULL);
    default: return gale_grouping_of(input->grouping, NULL);
    }
}

static void subscribe(rt_run *run, const rt_part *part) {
    for (uint32_t i = 0; i < part->input_count; i++) {
        const rt_input *input = &part->inputs[i];
        const rt_part *from = &run->plan.parts[input->part];
        gale_grouping grouping = grouping_of(run, input, from->streams[input->stream].shape);
        grouping.drop = input->drop;
        (void)gale_topology_subscribe(run->topology, part->name, from->name, rt_stream_name(input->stream), grouping);
    }
    for (uint32_t i = 0; part->habit == RT_BURY && i < run->plan.part_count; i++)
        if (run->plan.parts[i].habit == RT_SOURCE)
            (void)gale_topology_subscribe(run->topology, part->name, run->plan.parts[i].name, "__dead_letter",
                                          i % 2 ? gale_fields("reason") : gale_shuffle());
}

/* --- Components --- */

static void set(rt_run *run, const char *component, const char *key, gale_value value) {
    (void)gale_topology_set(run->topology, component, key, value);
}

static void set_part(rt_run *run, const rt_part *part) {
    if (part->tick) set(run, part->name, "topology.tick.tuple.freq.secs", gale_f64((double)part->tick / 1e9));
    if (part->executor >= 0) set(run, part->name, "gale.executor", gale_i64(part->executor));
    if (part->blocking) set(run, part->name, "gale.blocking", gale_bool(true));
}

static void add_part(rt_run *run, uint32_t number) {
    const rt_part *part = &run->plan.parts[number];
    gale_output outputs[RT_STREAMS_MAX];
    run->parts[number] = (rt_part_run){ .run = run, .part = part, .number = number };
    for (uint32_t i = 0; i < part->stream_count; i++)
        outputs[i] = (gale_output){ rt_stream_name(i), rt_stream_fields(part->streams[i].shape) };
    gale_spout spout = { sizeof spout, &rt_spout_ops, &run->parts[number], NULL, outputs, part->stream_count, NULL, 0 };
    bool simple = part->habit == RT_PASS || part->habit == RT_BURY;
    gale_bolt bolt = { sizeof bolt,
                       simple ? &rt_simple_ops : &rt_manual_ops,
                       &run->parts[number],
                       NULL,
                       outputs,
                       part->stream_count,
                       NULL,
                       0 };
    if (part->habit == RT_SOURCE)
        (void)gale_topology_add_spout(run->topology, part->name, spout, part->tasks);
    else
        (void)gale_topology_add_bolt(run->topology, part->name, bolt, part->tasks);
    set_part(run, part);
}

/* --- The whole --- */

static void set_limits(rt_run *run) {
    const rt_plan *plan = &run->plan;
    double seconds = (double)plan->timeout / 1e9;
    if (plan->timeout) set(run, NULL, "topology.message.timeout.secs", gale_f64(seconds));
    if (plan->progress) set(run, NULL, "topology.message.timeout.mode", gale_text("progress"));
    if (plan->deadline) set(run, NULL, "topology.message.deadline.secs", gale_f64((double)plan->deadline / 1e9));
    if (plan->pending) set(run, NULL, "topology.max.spout.pending", gale_i64(plan->pending));
    if (plan->ackers >= 0) set(run, NULL, "topology.acker.executors", gale_i64(plan->ackers));
    if (plan->even) set(run, NULL, "topology.disable.loadaware.messaging", gale_bool(true));
    if (plan->letters_file) set(run, NULL, "topology.dead_letters.file", gale_text(run->letters_path));
    if (!rt_plan_replays(plan)) return;
    set(run, NULL, "topology.replay.attempts", gale_i64(plan->attempts));
    set(run, NULL, "topology.replay.backoff.initial.secs", gale_f64(plan->backoff_initial));
    set(run, NULL, "topology.replay.backoff.max.secs", gale_f64(plan->backoff_most));
}

gale_topology *rt_build(rt_run *run) {
    run->topology = gale_topology_new("random");
    if (!run->topology) return NULL;
    set_limits(run);
    for (uint32_t i = 0; i < run->plan.part_count; i++) add_part(run, i);
    for (uint32_t i = 0; i < run->plan.part_count; i++) subscribe(run, &run->plan.parts[i]);
    add_hook(run);
    return run->topology;
}
