#include "engine/waiting.h"

#include "base/assert.h"

static gx_fifo *list(gx_task *task, uint32_t lane) {
    GX_CHECK(!lane || (task->lanes && lane <= task->lanes->count));
    return lane ? &task->lanes->list[lane - 1].fifo : &task->parked;
}

static unsigned char *number_at(const gale_head *head) {
    return (unsigned char *)(uintptr_t)head + head->length - GX_LANE_NUMBER;
}

static uint64_t number_of(const gale_head *head) {
    uint64_t number;
    memcpy(&number, number_at(head), sizeof number);
    return number;
}

void *gx_waiting_push(gx_executor *ex, gx_task *task, uint32_t lane, uint32_t length) {
    GX_CHECK(task->executor == ex);
    bool first = !gx_waiting_any(task);
    void *at = gx_fifo_push(list(task, lane), &ex->chunks, length + (task->lanes ? GX_LANE_NUMBER : 0));
    if (!at) return NULL;
    if (first) ex->parked_tasks++;
    if (lane) task->lanes->waiting++;
    return at;
}

void gx_waiting_pushed(gx_task *task, gale_head *head) {
    if (GX_LIKELY(!task->lanes)) return;
    head->length += GX_LANE_NUMBER;
    memcpy(number_at(head), &task->lanes->next, sizeof task->lanes->next);
    task->lanes->next++;
}

const gale_head *gx_waiting_among_lanes(const gx_task *task, uint32_t *ret_lane) {
    const gale_head *first = gx_fifo_front(&task->parked);
    *ret_lane = 0;
    for (uint32_t i = 0; i < task->lanes->count; i++) {
        const gale_head *head = gx_fifo_front(&task->lanes->list[i].fifo);
        if (!head || (first && number_of(first) < number_of(head))) continue;
        first = head;
        *ret_lane = i + 1;
    }
    return first;
}

void gx_waiting_pop(gx_executor *ex, gx_task *task, uint32_t lane, uint32_t length) {
    GX_CHECK(ex->parked_tasks > 0);
    GX_CHECK(!lane || task->lanes->waiting > 0);
    gx_fifo_pop(list(task, lane), &ex->chunks, length);
    if (lane) task->lanes->waiting--;
    if (!gx_waiting_any(task)) ex->parked_tasks--;
}
