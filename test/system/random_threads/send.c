/* Emitting from components, in every way there is. */
#include "system/random_threads/run.h"

bool rt_stream_may_fail(const rt_run *run, uint32_t part, uint32_t stream) {
    return run->plan.memory_one || rt_plan_has_grouping(&run->plan, part, stream, GALE_GROUPING_CUSTOM);
}

/* A task that takes the stream directly, and its number among its like; 0: there is none. */
static uint32_t draw_target(rt_task *task, uint32_t stream, uint32_t *ret_index) {
    rt_run *run = task->run;
    const rt_plan *plan = &run->plan;
    uint32_t found = 0, seen = 0;
    for (uint32_t p = 0; p < plan->part_count; p++)
        for (uint32_t i = 0; i < plan->parts[p].input_count; i++) {
            const rt_input *input = &plan->parts[p].inputs[i];
            uint32_t first = atomic_load(&run->parts[p].first_task);
            if (input->part != task->number || input->stream != stream || !first) continue;
            if (rt_task_below(task, ++seen)) continue;
            *ret_index = rt_task_below(task, plan->parts[p].tasks);
            found = first + *ret_index;
        }
    return found;
}

static int emit_direct(rt_task *task, uint32_t to, uint32_t stream, const rt_send *what, const rt_values *made) {
    gale_collector *out = task->out;
    const gale_value *values = made->values;
    size_t count = made->count;
    switch (what->how) {
    case RT_TRACKED: return gale_emit_direct_tracked(out, to, stream, values, count, what->word.root);
    case RT_ANCHORED:
        return gale_emit_direct_anchored(out, to, stream, values, count, what->anchors, what->anchor_count);
    case RT_UNANCHORED: return gale_emit_direct_anchored(out, to, stream, values, count, NULL, 0);
    default: return gale_emit_direct(out, to, stream, values, count);
    }
}

static int emit_grouped(rt_task *task, uint32_t stream, const rt_send *what, const rt_values *made) {
    gale_collector *out = task->out;
    const gale_value *values = made->values;
    size_t count = made->count;
    switch (what->how) {
    case RT_TRACKED: return gale_emit_tracked(out, stream, values, count, what->word.root);
    case RT_ANCHORED: return gale_emit_anchored(out, stream, values, count, what->anchors, what->anchor_count);
    case RT_UNANCHORED: return gale_emit_unanchored(out, stream, values, count);
    default: return gale_emit(out, stream, values, count);
    }
}

/* It is the end, or a spout that is not asked any more. */
static bool may_be_stopped(const rt_task *task) {
    const rt_run *run = task->run;
    if (task->closing || atomic_load(&run->truth.stopping) || rt_plan_stops_itself(&run->plan)) return true;
    return task->part->habit == RT_SOURCE && !task->active;
}

static void check_refused(const rt_task *task, uint32_t stream, const rt_send *what, int rc) {
    const rt_run *run = task->run;
    if (rc == GALE_NO_MEMORY && run->plan.memory_one) return;
    if (rc == GALE_COMPONENT && rt_stream_may_fail(run, task->number, stream)) return;
    if (rc == GALE_SETTLED && what->misused) return;
    if (rc == GALE_STOPPED && may_be_stopped(task)) return;
    rt_violated("task %u cannot emit to its stream %u: %s", task->id, stream, gale_error_name(rc));
}

static void check_sent(const rt_task *task, uint32_t stream, const rt_send *what, int rc) {
    const rt_plan *plan = &task->run->plan;
    uint32_t fan = rt_plan_fan(plan, task->number, stream), went = (uint32_t)rc;
    bool fewer = plan->queue_limit || rt_plan_has_grouping(plan, task->number, stream, GALE_GROUPING_CUSTOM);
    if (what->misused) rt_violated("task %u could emit, anchored to a tuple that is settled", task->id);
    if (went > fan || (went < fan && !fewer))
        rt_violated("an emit of task %u to its stream %u went to %u tasks of %u", task->id, stream, went, fan);
}

int rt_send_to(rt_task *task, uint32_t stream, rt_send what) {
    rt_run *run = task->run;
    const rt_stream *drawn = &task->part->streams[stream];
    uint32_t index = 0, to = drawn->direct ? draw_target(task, stream, &index) : 0;
    if (drawn->direct && !to && rt_plan_has_grouping(&run->plan, task->number, stream, GALE_GROUPING_DIRECT))
        return GALE_AGAIN; /* they are not open yet */
    what.word.lane = task->id;
    what.word.seq = task->seq++;
    if (to) what.word.key = index;
    rt_values made;
    rt_values_make(&made, &run->plan, drawn->shape, what.word, gale_context_random(task->context));
    int rc = to ? emit_direct(task, to, stream, &what, &made) : emit_grouped(task, stream, &what, &made);
    if (rc < 0) {
        check_refused(task, stream, &what, rc);
        return rc;
    }
    check_sent(task, stream, &what, rc);
    task->counts->emits++;
    task->counts->deliveries += (uint64_t)rc;
    rt_tree_sent(&run->truth, what.word.root, (uint32_t)rc);
    return rc;
}

int rt_send_tree(rt_task *task) {
    rt_run *run = task->run;
    uint32_t stream = rt_task_below(task, task->part->stream_count);
    uint32_t root = rt_tree_new(&run->truth, task->id, false, atomic_load(task->told));
    if (root == RT_ROOT_NONE) return GALE_AGAIN;
    if (rt_plan_replays(&run->plan) && rt_stream_may_fail(run, task->number, stream))
        rt_tree_may_fail(&run->truth, root, GALE_REASON_FAILED); /* when it is emitted again */
    rt_word word = { .root = root,
                     .energy = 1 + rt_task_below(task, task->part->energy),
                     .key = rt_task_below(task, RT_KEYS) };
    rt_send what = { .how = RT_TRACKED, .word = word };
    int rc = rt_send_to(task, stream, what);
    rt_tree_asked(&run->truth, root, rc);
    if (rc < 0) return rc;
    task->open++;
    task->counts->trees++;
    return rc;
}
