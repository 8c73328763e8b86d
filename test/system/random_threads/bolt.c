/* The bolts: each looks at what it gets, and treats it as its habit says (habits.c). */
#include "system/random_threads/run.h"

#include <string.h>

static int prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    rt_task *task;
    int rc = rt_task_new(user, context, out, &task);
    if (rc >= 0) *ret_self = task;
    return rc;
}

/* Which of the part's inputs it came by. */
static uint32_t input_of(const rt_task *task, const gale_tuple *tuple) {
    const rt_plan *plan = &task->run->plan;
    const char *component = gale_tuple_component(tuple), *stream = gale_tuple_stream(tuple);
    for (uint32_t i = 0; i < task->part->input_count; i++) {
        const rt_input *input = &task->part->inputs[i];
        if (strcmp(plan->parts[input->part].name, component) == 0 && strcmp(rt_stream_name(input->stream), stream) == 0)
            return i;
    }
    rt_violated("task %u got a tuple of '%s', stream '%s', to which it has not subscribed", task->id, component,
                stream);
}

static int execute_tuple(rt_task *task, const gale_tuple *tuple) {
    uint32_t number = input_of(task, tuple);
    const rt_input *input = &task->part->inputs[number];
    size_t count = gale_tuple_size(tuple);
    gale_value values[3];
    for (size_t i = 0; i < count && i < 3; i++) values[i] = gale_tuple_value(tuple, i);
    rt_shape shape = task->run->plan.parts[input->part].streams[input->stream].shape;
    rt_copy c = { gale_tuple_handle(tuple), rt_values_read(shape, values, count), false };
    task->counts->executed++;
    rt_received(&task->run->truth, c.word, gale_tuple_task(tuple), task->id, task->index, task->number, number);
    return rt_habit_treat(task, &c);
}

/* A dead letter; what is emitted for it is of no tree that is known. */
static int bury(rt_task *task, const gale_tuple *tuple) {
    gale_value id, reason;
    if (!gale_tuple_get(tuple, "message_id", &id) || !gale_tuple_get(tuple, "reason", &reason))
        rt_violated("a dead letter lacks a field");
    task->counts->letters++;
    rt_tree_buried(&task->run->truth, (uint32_t)id.as.i64, reason.as.string);
    rt_send what = { RT_BOUND, { .root = RT_ROOT_NONE }, NULL, 0, false };
    int rc = rt_send_to(task, 0, what);
    return rt_task_errs(task) ? GALE_COMPONENT : rc < 0 ? rc : 0;
}

static int on_tick(rt_task *task) {
    task->counts->ticks++;
    rt_habit_tick(task);
    if (task->part->talkative && rt_task_below(task, 4) == 0) {
        rt_send what = { RT_UNTRACKED, { .root = RT_ROOT_NONE, .energy = 2 }, NULL, 0, false };
        (void)rt_send_to(task, rt_task_below(task, task->part->stream_count), what);
    }
    return rt_task_errs(task) ? GALE_COMPONENT : 0;
}

static int execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    rt_task *task = self;
    if (out != task->out) rt_violated("task %u was given another's collector", task->id);
    rt_enter(task, "execute");
    int rc;
    if (gale_tuple_is_tick(tuple)) {
        rc = on_tick(task);
    } else {
        rt_task_call(task);
        rc = task->part->habit == RT_BURY ? bury(task, tuple) : execute_tuple(task, tuple);
    }
    rt_leave(task);
    return rc;
}

/* Everything before it has finished; in a cycle nobody is first. */
static void check_turn(const rt_task *task) {
    rt_run *run = task->run;
    if (task->counts->finished++) rt_violated("task %u is to finish again", task->id);
    for (uint32_t i = 0; i < task->part->input_count; i++) {
        const rt_part_run *from = &run->parts[task->part->inputs[i].part];
        if (from->part->layer == 0 || rt_plan_reaches(&run->plan, task->number, from->number)) continue;
        if (atomic_load(&from->finished) != from->part->tasks)
            rt_violated("task %u is to finish before '%s' has", task->id, from->part->name);
    }
}

static int finish(void *self, gale_collector *out) {
    rt_task *task = self;
    rt_run *run = task->run;
    (void)out;
    rt_enter(task, "finish");
    atomic_fetch_add(&run->finishes, 1);
    check_turn(task);
    rt_habit_finish(task);
    for (uint32_t i = task->part->talkative ? 1 + rt_task_below(task, 3) : 0; i > 0; i--) {
        rt_send what = { RT_UNTRACKED, { .root = RT_ROOT_NONE, .energy = 4 }, NULL, 0, false };
        (void)rt_send_to(task, rt_task_below(task, task->part->stream_count), what);
    }
    bool errs = run->plan.finish_error && run->plan.trouble_part == task->number && task->index == 0;
    if (errs) atomic_store(&run->finish_error, 1);
    atomic_fetch_add(&run->parts[task->number].finished, 1);
    rt_leave(task);
    return errs ? GALE_TOO_LARGE : 0;
}

static void cleanup(void *self) {
    rt_task *task = self;
    rt_enter(task, "cleanup");
    task->closing = true;
    rt_send what = { RT_UNTRACKED, { .root = RT_ROOT_NONE }, NULL, 0, false };
    if (task->part->talkative && rt_send_to(task, 0, what) > 0)
        rt_violated("task %u could emit from cleanup", task->id);
    rt_leave(task);
    rt_task_free(task);
}

const gale_bolt_ops rt_simple_ops = { .size = sizeof rt_simple_ops,
                                      .name = "random",
                                      .kind = GALE_BOLT_SIMPLE,
                                      .prepare = prepare,
                                      .execute = execute,
                                      .finish = finish,
                                      .cleanup = cleanup };
const gale_bolt_ops rt_manual_ops = { .size = sizeof rt_manual_ops,
                                      .name = "random",
                                      .kind = GALE_BOLT_MANUAL,
                                      .prepare = prepare,
                                      .execute = execute,
                                      .finish = finish,
                                      .cleanup = cleanup };
