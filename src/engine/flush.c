#include "engine/flush.h"

#include "base/assert.h"
#include "engine/acks.h"
#include "engine/hooks.h"
#include "engine/turn.h"

bool gx_flush_may_owe(gx_task *task, gx_roots roots) {
    gx_owed *owed = &task->owed;
    gx_heap *heap = task->executor->heap;
    size_t hooked = gx_hooks_any(task) ? owed->tuples + 1 : 0; /* who listens is told of each tuple */
    return gx_grow(heap, GX_TAG_OTHER, &owed->roots, &owed->root_capacity, owed->root_count + roots.count,
                   sizeof *owed->roots) &&
           gx_grow(heap, GX_TAG_OTHER, &owed->handles, &owed->handle_capacity, hooked, sizeof *owed->handles);
}

int gx_flush_owe(gx_task *task, gale_handle handle, gx_roots roots, uint64_t ack) {
    gx_owed *owed = &task->owed;
    if (!gx_flush_may_owe(task, roots)) return GALE_NO_MEMORY;
    for (uint64_t i = 0; i < roots.count; i++)
        owed->roots[owed->root_count++] = (gx_root){ roots.pairs[i].root, roots.pairs[i].edge ^ ack };
    if (gx_hooks_any(task)) owed->handles[owed->tuples] = handle;
    owed->tuples++;
    return GALE_OK;
}

static void ack_owed(gx_task *task) {
    GX_CHECK(task->gathers || !task->owed.tuples);
    gx_owed *owed = &task->owed;
    for (size_t i = 0; i < owed->root_count; i++)
        gx_acks_ack_one(task->executor, owed->roots[i].root, owed->roots[i].edge);
    for (size_t i = 0; gx_hooks_any(task) && i < owed->tuples; i++) gx_hooks_call_ack(task, owed->handles[i]);
}

static void fail_owed(gx_task *task, const char *text) {
    gx_owed *owed = &task->owed;
    gale_failure failure = { .size = sizeof failure,
                             .reason = GALE_REASON_FAILED,
                             .task = task->id,
                             .component = task->context.component,
                             .text = text };
    gx_acks_fail(task->executor, task, (gx_roots){ owed->roots, owed->root_count }, GALE_REASON_FAILED, text);
    gx_count(&task->counters.failed, owed->tuples);
    for (size_t i = 0; gx_hooks_any(task) && i < owed->tuples; i++)
        gx_hooks_call_fail(task, owed->handles[i], &failure);
}

/* The same by edges. `answered`: none are, of a run that is to stop. */
static void count_edges(gx_task *task, bool acked, bool answered) {
    for (uint32_t i = 0; i <= task->edges.count; i++) {
        gx_edge *edge = &task->edges.list[i];
        if (answered && edge->owed) gx_count(acked ? &edge->acked : &edge->failed, edge->owed);
        edge->owed = 0;
    }
}

static void note_processed(gx_task *task, bool acked) {
    gx_sample *sample = &task->owed.sample;
    if (GX_LIKELY(!sample->weight)) return;
    if (acked) gx_task_processed(task, sample, gx_executor_tell_time(task->executor) - sample->began);
    sample->weight = 0;
}

/* Of a run that is to stop nothing is failed: the spouts hear that it stopped. */
static int answer_owed(gx_task *task, int rc) {
    if (rc < 0 && gx_phase(task->executor->shared) >= GALE_PHASE_CLOSING) rc = GALE_STOPPED;
    if (rc >= 0)
        ack_owed(task);
    else if (rc != GALE_STOPPED)
        fail_owed(task, task->reported ? task->report : gale_error_text(rc));
    count_edges(task, rc >= 0, rc != GALE_STOPPED);
    note_processed(task, rc >= 0);
    task->owed.root_count = 0;
    task->owed.tuples = 0;
    return rc;
}

static int flush(gx_executor *ex, gx_task *task) {
    GX_CHECK(gx_task_flushes(task) && task->executor == ex);
    task->reported = false;
    gx_turn_begin(ex, task);
    int rc = task->plan->built->bolt.flush(task->self, &task->out);
    if (GX_UNLIKELY(rc >= GALE_MORE)) rc = GALE_INVALID; /* it gathered no more than it can emit in one go */
    if (rc < 0 && !task->reported) gx_task_report(task, gale_error_text(rc));
    return answer_owed(task, rc);
}

int gx_flush_now(gx_task *task) {
    return flush(task->executor, task);
}

static bool is_due(gx_executor *ex, const gx_task *task) {
    if (!gx_task_flushes(task)) return false;
    if (!task->ran && !task->stirred) return false;
    gx_executor_check_gates(ex);
    return !ex->gated[task->component] || gx_cut_stage_of(ex->cut.seen) == GX_CUT_STOP;
}

size_t gx_flush_run(gx_executor *ex) {
    if (GX_LIKELY(!ex->has_flushes)) return 0;
    size_t flushed = 0;
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_task *task = ex->tasks[i];
        if (!is_due(ex, task)) continue;
        if (!flushed) gx_turn_publish(ex); /* it may take a while, and others need not wait for that */
        flushed++;
        task->ran = task->stirred = false;
        flush(ex, task);
        gx_turn_end(ex);
        gx_executor_tell_time(ex);
    }
    return flushed;
}
