#include "engine/waiting.h"

#include "base/assert.h"

static gx_batch_list *list_of(gx_task *task, const gx_batch *batch) {
    GX_CHECK(!batch->lane || (task->lanes && batch->lane <= task->lanes->count));
    return GX_UNLIKELY(batch->lane) ? &task->lanes->list[batch->lane - 1].list : &task->parked;
}

/* One more or less in a list, with the figures of the lanes and of the tasks for which something waits. */
static void note(gx_executor *ex, gx_task *task, const gx_batch_list *list, bool waited_before, int more) {
    if (list != &task->parked) task->lanes->waiting += (uint64_t)(int64_t)more;
    bool waits = gx_waiting_any(task);
    if (waits && !waited_before) ex->parked_tasks++;
    if (!waits && waited_before) ex->parked_tasks--;
}

void gx_waiting_push(gx_executor *ex, gx_task *task, gx_batch *batch) {
    GX_CHECK(task->executor == ex && batch->target == task->id);
    bool before = gx_waiting_any(task);
    gx_batch_list *list = list_of(task, batch);
    if (GX_UNLIKELY(task->lanes != NULL)) batch->number = task->lanes->next++;
    gx_batch_list_push(list, batch);
    note(ex, task, list, before, 1);
}

void gx_waiting_push_first(gx_executor *ex, gx_task *task, gx_batch *batch) {
    GX_CHECK(task->executor == ex && batch->target == task->id);
    batch->number = 0; /* which no other one has */
    gx_waiting_put_back(ex, task, list_of(task, batch), batch);
}

gx_batch_list *gx_waiting_first(gx_task *task) {
    gx_batch_list *first = task->parked.count ? &task->parked : NULL;
    for (uint32_t i = 0; GX_UNLIKELY(task->lanes != NULL) && i < task->lanes->count; i++) {
        gx_batch_list *list = &task->lanes->list[i].list;
        if (list->count && (!first || list->head->number < first->head->number)) first = list;
    }
    return first;
}

gx_batch *gx_waiting_pop(gx_executor *ex, gx_task *task, gx_batch_list *list) {
    gx_batch *batch = gx_batch_list_pop(list);
    note(ex, task, list, true, -1);
    return batch;
}

void gx_waiting_put_back(gx_executor *ex, gx_task *task, gx_batch_list *list, gx_batch *batch) {
    bool before = gx_waiting_any(task);
    gx_batch_list_put_back(list, batch);
    note(ex, task, list, before, 1);
}
