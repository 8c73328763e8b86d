#include "sim/task.h"

#include "engine/collector.h"

#include <string.h>

enum { SLOW_MEAN = 200 * 1000 };

gx_task *gx_sim_engine_task(const gx_sim_task *task) {
    return (gx_task *)task->engine;
}

const gale_collector_ops *gx_sim_engine_ops(const gx_sim_task *task) {
    const gale_collector_ops *now = task->engine->ops;
    return now == &task->sim->seen ? gx_collector_ops() : now;
}

bool gx_sim_tuple_folds(const gx_sim *sim, const gale_tuple *tuple) {
    uint32_t source = gale_tuple_task(tuple);
    return source && gx_sim_folds(sim->tasks[source]->component, tuple->head->stream);
}

/* The stream's name is in it. */
bool gx_sim_letter_folds(const gx_sim *sim, const gale_tuple *letter) {
    const gx_sim_component *component = sim->tasks[gale_tuple_task(letter)]->component;
    gale_value name = gale_tuple_value(letter, GX_SIM_LETTER_STREAM);
    for (uint32_t i = 0; i < component->built->output_count; i++)
        if (gx_str_is((gale_str){ name.as.string, name.size }, component->built->outputs[i].name))
            return gx_sim_folds(component, i);
    return false;
}

/* --- Making --- */

static bool has_number(const gx_schema_stream *stream) {
    return stream->field_count && strcmp(stream->fields[stream->field_count - 1], GX_SIM_NUMBER) == 0;
}

/* What the component asks its context about its inputs is answered without the number's fields. */
static bool hide_numbers(gx_sim_task *task) {
    gx_task *engine = gx_sim_engine_task(task);
    const struct gale_inputs *all = &engine->plan->input_table; /* the context may have those of an earlier life */
    gx_heap *heap = &task->sim->heap;
    if (!all->count) return true;
    gx_input *inputs = gx_alloc_array(heap, GX_TAG_OTHER, all->count, sizeof *inputs);
    if (!inputs) return false;
    task->inputs = (struct gale_inputs){ inputs, all->count };
    task->input_streams = gx_alloc_array(heap, GX_TAG_OTHER, all->count, sizeof *task->input_streams);
    if (!task->input_streams) return false;
    for (uint32_t i = 0; i < all->count; i++) {
        gx_schema_stream *shown = &task->input_streams[i];
        *shown = *all->inputs[i].stream;
        if (has_number(shown)) shown->field_count--;
        inputs[i] = (gx_input){ all->inputs[i].component, shown };
    }
    engine->context.inputs = &task->inputs;
    return true;
}

/* The engine's task may be gone by now. */
static void free_inputs(gx_sim_task *task) {
    gx_heap *heap = &task->sim->heap;
    if (!task->inputs.inputs) return;
    gx_free(heap, GX_TAG_OTHER, task->input_streams, task->inputs.count * sizeof *task->input_streams);
    gx_free(heap, GX_TAG_OTHER, (gx_input *)task->inputs.inputs, task->inputs.count * sizeof *task->inputs.inputs);
}

gx_sim_task *gx_sim_task_new(const gx_sim_component *component, const gale_context *context, gale_collector *out) {
    gx_sim *sim = component->sim;
    if (!gx_grow(&sim->heap, GX_TAG_OTHER, &sim->tasks, &sim->task_capacity, context->task + 1u, sizeof *sim->tasks))
        return NULL;
    gx_sim_task *task = gx_alloc(&sim->heap, GX_TAG_OTHER, sizeof *task);
    if (!task) return NULL;
    task->out.ops = gx_sim_collector_ops();
    task->engine = out;
    task->sim = sim;
    task->component = component;
    task->context = context;
    task->id = context->task;
    task->self = component->built->user;
    task->fate = GX_FAULT_COUNT;
    task->due = INT64_MAX;
    task->text = (gx_buf)GX_BUF_INIT(&sim->heap);
    sim->tasks[context->task] = task;
    if (hide_numbers(task)) return task;
    gx_sim_task_free(task);
    return NULL;
}

void gx_sim_task_free(gx_sim_task *task) {
    gx_heap *heap = &task->sim->heap;
    free_inputs(task);
    for (uint32_t i = 0; i < task->kept_count; i++) {
        gx_free(heap, GX_TAG_OTHER, task->kept[i]->tuple.body, task->kept[i]->tuple.capacity);
        gx_free(heap, GX_TAG_OTHER, task->kept[i], sizeof *task->kept[i]);
    }
    gx_free(heap, GX_TAG_OTHER, task->kept, task->kept_capacity * sizeof *task->kept);
    gx_free(heap, GX_TAG_OTHER, task->owed, task->owed_capacity * sizeof *task->owed);
    gx_free(heap, GX_TAG_OTHER, task->told, task->told_capacity * sizeof *task->told);
    gx_free(heap, GX_TAG_OTHER, task->input.body, task->input.capacity);
    gx_free(heap, GX_TAG_OTHER, task->values, task->value_capacity * sizeof *task->values);
    gx_buf_fini(&task->text);
    gx_sim_watches_end(task);
    gx_free(heap, GX_TAG_OTHER, task->anchors, task->anchor_capacity * sizeof *task->anchors);
    task->sim->tasks[task->id] = NULL;
    gx_free(heap, GX_TAG_OTHER, task, sizeof *task);
}

void gx_sim_tasks_check(gx_sim *sim) {
    for (size_t i = 0; i < sim->task_capacity; i++) {
        const gx_sim_task *task = sim->tasks[i];
        if (!task) continue;
        const gx_component *built = task->component->built;
        gx_sim_stage_end(&task->stage, &sim->oracle, task->id, !built->is_spout && built->bolt.finish, sim->drained);
    }
}

void gx_sim_tasks_free(gx_sim *sim) {
    for (size_t i = 0; i < sim->task_capacity; i++)
        if (sim->tasks[i]) gx_sim_task_free(sim->tasks[i]);
}

/* --- Faults --- */

void gx_sim_struck(gx_sim_task *task, int fault) {
    const gx_component *built = task->component->built;
    const char *class = built->is_spout ? built->spout.name : built->bolt.name;
    gx_coverage_count(&task->sim->coverage, task->sim->by_class && class ? class : built->name, fault);
}

bool gx_sim_strikes(gx_sim_task *task, int fault) {
    if (!gx_fault_strikes(&task->sim->random, task->sim->faults.odds[fault])) return false;
    gx_sim_struck(task, fault);
    task->sim->broken |= fault == GX_FAULT_OPEN || fault == GX_FAULT_STOP;
    return true;
}

int gx_sim_opens(gx_sim_task *task) {
    if (gx_sim_strikes(task, GX_FAULT_OPEN)) return GALE_COMPONENT;
    return gx_sim_strikes(task, GX_FAULT_LATER) ? GALE_AGAIN : GALE_OK;
}

void gx_sim_enter(gx_sim_task *task) {
    if (task->sim->in_call++)
        gx_oracle_violated(&task->sim->oracle, "'%s' (task %u) was called inside another call",
                           task->context->component, task->context->task);
}

void gx_sim_enter_for(gx_sim_task *task, gx_sim_call call) {
    gx_sim_stage_note(&task->stage, &task->sim->oracle, task->id, call, task->sim->phase);
    gx_sim_enter(task);
}

void gx_sim_leave(gx_sim_task *task) {
    task->sim->in_call--;
}

void gx_sim_disturb(gx_sim_task *task) {
    if (gx_sim_strikes(task, GX_FAULT_SLOW)) gx_sim_pass_time(task->sim, SLOW_MEAN);
    if (!gx_sim_strikes(task, GX_FAULT_STOP)) return;
    gale_stop(&task->out, GALE_COMPONENT, "drawn to stop");
    task->sim->oracle.ending = true;
}

/* --- What faults keep --- */

static size_t release(gx_sim_task *task, int64_t now) {
    size_t released = 0;
    task->due = INT64_MAX;
    for (uint32_t i = task->kept_count; i-- > 0;) {
        gx_sim_kept *kept = task->kept[i];
        if (kept->due > now) {
            if (kept->due < task->due) task->due = kept->due;
            continue;
        }
        gx_sim_answer(task, kept, !kept->fails, GALE_REASON_USER, "drawn to fail later");
        released++;
    }
    return released;
}

size_t gx_sim_release(gx_sim *sim, gx_executor *ex) {
    int64_t now = ex->shared->clock.now(ex->shared->clock.user);
    size_t released = 0;
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_sim_task *task = ex->tasks[i]->id < sim->task_capacity ? sim->tasks[ex->tasks[i]->id] : NULL;
        if (task && task->due <= now) released += release(task, now);
    }
    return released;
}

int64_t gx_sim_release_due(const gx_sim *sim) {
    int64_t due = INT64_MAX;
    for (size_t i = 0; i < sim->task_capacity; i++)
        if (sim->tasks[i] && sim->tasks[i]->due < due) due = sim->tasks[i]->due;
    return due;
}

void gx_sim_pass_time(gx_sim *sim, int64_t mean) {
    int64_t scale = gx_random_below(&sim->random, 16) ? mean : 20 * mean;
    gale_manual_clock_advance(sim->clock, (int64_t)(gx_random_next(&sim->random) % (uint64_t)(2 * scale)));
}
