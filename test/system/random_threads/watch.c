/* The application's threads that look at a runtime while it works, and tell it what to do: figures, open trees, the
 * event log, deactivation. */
#include "system/random_threads/run.h"

#include <gale/clock.h>
#include <string.h>
#include <time.h>

static uint32_t below(rt_thread *thread, uint32_t n) {
    return gx_random_below(&thread->random, n);
}

static void rest(rt_thread *thread, uint32_t microseconds) {
    struct timespec pause = { 0, (long)below(thread, microseconds + 1) * 1000 };
    nanosleep(&pause, NULL);
}

/* --- Figures --- */

static void look_at_tasks(rt_thread *thread) {
    const gale_runtime *runtime = thread->run->runtime;
    gale_task_stats stats = { .size = sizeof stats };
    const char *name, *stream;
    uint64_t emitted, transferred, dropped;
    int32_t policy;
    for (uint32_t task = 1; gale_runtime_task_stats(runtime, task, &stats); task++) {
        if (stats.task != task || stats.executor >= gale_runtime_executor_count(runtime))
            rt_violated("task %u is told as task %u on executor %u", task, stats.task, stats.executor);
        for (uint32_t i = 0; gale_runtime_stream_stats(runtime, task, i, &stream, &emitted, &transferred); i++) {
        }
        for (uint32_t i = 0; gale_runtime_input_stats(runtime, task, i, &name, &stream, &policy, &dropped); i++) {
        }
    }
    if (gale_runtime_task_stats(runtime, gale_runtime_task_count(runtime) + 1, &stats))
        rt_violated("there is a task behind the last");
}

/* What does not go back, goes on. */
static void look_at_run(rt_thread *thread, gale_run_stats *before) {
    gale_run_stats now = rt_figures_read(thread->run);
    if (now.phase < before->phase || now.executed < before->executed || now.acked < before->acked ||
        now.trees < before->trees || now.failed < before->failed || now.timed_out < before->timed_out)
        rt_violated("figures went back: phase %d, then %d; %llu trees, then %llu; %llu executed, then %llu",
                    before->phase, now.phase, (unsigned long long)before->trees, (unsigned long long)now.trees,
                    (unsigned long long)before->executed, (unsigned long long)now.executed);
    *before = now;
}

/* --- Open trees --- */

static void check_tree(const rt_run *run, const gale_open_tree *tree) {
    uint32_t part = tree->spout_task < RT_TASKS_MAX ? run->part_of[tree->spout_task] : 0;
    if (!part || strcmp(run->plan.parts[part - 1].name, tree->spout) != 0)
        rt_violated("an open tree is of task %u, '%s'", tree->spout_task, tree->spout);
    if (tree->message_id >= atomic_load(&run->truth.tree_count))
        rt_violated("an open tree of task %u has message id %llu", tree->spout_task,
                    (unsigned long long)tree->message_id);
    if (tree->place < 0 || tree->place >= GALE_PLACE_COUNT || tree->age < 0 ||
        memchr(tree->text, 0, sizeof tree->text) == NULL)
        rt_violated("an open tree is at place %d, %lld ns old", tree->place, (long long)tree->age);
    if ((tree->task == 0) != (tree->component == NULL))
        rt_violated("an open tree is at task %u of '%s'", tree->task, tree->component ? tree->component : "nobody");
}

static void look_at_open_trees(rt_thread *thread) {
    rt_run *run = thread->run;
    gale_open_tree trees[32];
    trees[0].size = sizeof *trees;
    uint32_t room = 1 + below(thread, 32);
    int count = gale_runtime_open_trees(run->runtime, trees, room, below(thread, 5) * GALE_MILLISECOND);
    if (count < 0 && count != GALE_AGAIN && !(count == GALE_NO_MEMORY && run->plan.memory_one))
        rt_violated("open trees cannot be told: %s", gale_error_name(count));
    if (count > (int)room) rt_violated("%d open trees were told where there was room for %u", count, room);
    for (int i = 0; i < count; i++) check_tree(run, &trees[i]);
}

/* --- The event log --- */

static void on_event(void *user, const gale_event *event) {
    rt_part_run *of = user;
    const rt_part *part = of->part;
    if (strcmp(event->component, part->name) != 0)
        rt_violated("an event of '%s' was logged for '%s'", event->component, part->name);
    for (uint32_t i = 0; i < part->stream_count; i++)
        if (strcmp(event->stream, rt_stream_name(i)) == 0)
            (void)rt_values_read(part->streams[i].shape, event->values, event->count);
    if (event->tracked && event->message_id >= atomic_load(&of->run->truth.tree_count))
        rt_violated("an event of '%s' has message id %llu", part->name, (unsigned long long)event->message_id);
}

static void switch_events(rt_thread *thread) {
    static const double percents[] = { 0, 0, 10, 100 };
    rt_run *run = thread->run;
    uint32_t part = below(thread, run->plan.part_count);
    int rc = gale_runtime_log_events(run->runtime, run->plan.parts[part].name, percents[below(thread, 4)], on_event,
                                     &run->parts[part]);
    if (rc < 0 && !(rc == GALE_NO_MEMORY && run->plan.memory_one))
        rt_violated("the event log cannot be switched: %s", gale_error_name(rc));
}

/* --- What it is told --- */

/* Bounds within the plan's, and rates that let it go on. Bolts have neither, and of spouts and most bolts no input drops: they refuse. */
static void tune(rt_thread *thread) {
    rt_run *run = thread->run;
    const char *name = run->plan.parts[below(thread, run->plan.part_count)].name;
    uint32_t most = run->plan.pending ? (uint32_t)run->plan.pending : 100;
    gale_value bound = gale_i64(1 + below(thread, most)), rate = gale_f64(1e4 + below(thread, 1000000));
    gale_value drop = gale_text(below(thread, 2) ? "oldest" : "newest");
    int rc = 0;
    switch (below(thread, 3)) {
    case 0: rc = gale_runtime_set(run->runtime, name, "topology.max.spout.pending", &bound, NULL); break;
    case 1: rc = gale_runtime_set(run->runtime, name, "gale.rate", &rate, NULL); break;
    default: rc = gale_runtime_set(run->runtime, name, "drop", &drop, NULL); break;
    }
    if (rc != 0 && rc != GALE_STATE) rt_violated("'%s' cannot be tuned: %s", name, gale_error_name(rc));
}

/* Always in pairs: whoever is last has activated it. */
static void pause(rt_thread *thread) {
    gale_runtime_deactivate(thread->run->runtime);
    rest(thread, 2000);
    gale_runtime_activate(thread->run->runtime);
}

void *rt_watcher(void *user) {
    rt_thread *thread = user;
    rt_run *run = thread->run;
    gale_run_stats before = { 0 };
    while (!atomic_load(&run->unwatch)) {
        uint32_t drawn = below(thread, 16);
        if (drawn < 4)
            look_at_run(thread, &before);
        else if (drawn < 6)
            look_at_tasks(thread);
        else if (drawn < 11 && !run->plan.by_steps)
            look_at_open_trees(thread);
        else if (drawn < 12)
            tune(thread);
        else if (drawn < 14)
            switch_events(thread);
        else if (drawn == 14)
            pause(thread);
        rest(thread, 1000);
    }
    return NULL;
}
