#include "engine/turn.h"

#include "base/mutant.h"
#include "engine/drop.h"

/* `weight` more wait for the target, or less. What is for another executor counts there. */
static void count_more(gx_executor *ex, gx_task *target, uint16_t lane, uint64_t weight) {
    if (target->executor != ex) return;
    if (!target->lanes) ex->local_bytes += weight;
    if (GX_UNLIKELY(lane))
        gx_drop_queued(target, gx_drop_at(target, lane), weight);
    else
        gx_executor_queued(ex, target, weight);
}

static void count_less(gx_executor *ex, gx_task *target, uint16_t lane, uint64_t weight) {
    if (target->executor != ex) return;
    if (!target->lanes) ex->local_bytes -= weight;
    if (GX_UNLIKELY(lane))
        gx_drop_dequeued(ex, target, gx_drop_at(target, lane), weight);
    else
        gx_executor_dequeued(ex, target, weight);
}

/* --- Closing --- */

/* For the mutant: without its last row. */
static uint32_t without_last(const gx_batch *batch) {
    const unsigned char *row = batch->bytes, *last = row;
    while ((row = gx_batch_next(batch, row)) != NULL) last = row;
    return (uint32_t)(last - batch->bytes);
}

static void send(gx_executor *ex, gx_task *target, gx_batch *batch) {
    if (target->executor != ex) {
        gx_outlet *outlet = &ex->outlets[target->executor->index];
        gx_outlet_send(outlet, batch, &ex->batches);
        if (GX_UNLIKELY(outlet->outbox.count)) gx_executor_stale(ex);
        if (GX_UNLIKELY(outlet->ring.tail - outlet->ring.published >= outlet->ring.ring->capacity / GX_TURN_SHOWN))
            gx_executor_show_to(ex, target->executor->index);
        return;
    }
    ex->sent_here = true;
    if (GX_UNLIKELY(target->lanes != NULL)) {
        gx_waiting_push(ex, target, batch);
    } else {
        gx_executor_queue(ex, batch);
        if (GX_UNLIKELY(ex->local_touched >= GX_TURN_ENOUGH)) ex->run_end = NULL;
    }
}

static void close(gx_executor *ex, gx_open *open) {
    gx_batch *batch = open->batch;
    gx_task *target = ex->shared->tasks[batch->target];
    batch->used = (uint32_t)(open->at - batch->bytes);
    if (GX_MUTANT(row_lost) && batch->used) batch->used = without_last(batch);
    open->batch = NULL;
    open->at = open->end = NULL;
    if (GX_LIKELY(batch->used)) {
        send(ex, target, batch);
    } else {
        count_less(ex, target, batch->lane, gx_batch_weight(batch));
        gx_batch_give(&ex->batches, batch);
    }
}

/* A target that was given much gets a large batch next time, one that was given little a small one. */
static void end(gx_executor *ex, gx_open *open) {
    if (open->batch) {
        open->large = open->filled || open->at - open->batch->bytes > GX_BATCH_ROOM_SMALL;
        close(ex, open);
    }
    open->listed = open->filled = false;
}

void gx_turn_close_all(gx_executor *ex) {
    uint32_t count = ex->opened_count;
    ex->opened_count = 0;
    for (uint32_t i = 0; i < count; i++) end(ex, &ex->open[ex->opened_for[i]]);
}

void gx_turn_publish(gx_executor *ex) {
    gx_turn_close(ex);
    gx_executor_publish(ex);
}

/* --- Opening --- */

static int admit(gx_executor *ex, gx_task *target, const gx_plan_drop *drop) {
    if (GX_UNLIKELY(drop != NULL)) return gx_drop_refuses(ex, target, drop) ? GX_TURN_DROPPED : GALE_OK;
    bool full = target->executor == ex && gx_executor_is_full(ex, target);
    return GX_UNLIKELY(full) ? GX_TURN_FULL : GALE_OK;
}

/* Just below the mark, or the limit, small ones are finer. */
static bool is_near(const gx_executor *ex, const gx_task *target, uint64_t mark) {
    return target->executor == ex && target->queued <= mark && target->queued + GX_BATCH_LARGE > mark;
}

static bool wants_large(const gx_executor *ex, const gx_open *open, const gx_task *target) {
    return open->large && !is_near(ex, target, ex->queue_high) && !is_near(ex, target, ex->shared->queue_limit);
}

static void list(gx_executor *ex, gx_open *open, const gx_task *target) {
    if (open->listed) return;
    open->listed = true;
    ex->opened_for[ex->opened_count++] = target->id;
}

int gx_turn_open(gx_executor *ex, gx_task *target, const gx_plan_drop *drop, uint32_t length) {
    GX_CHECK(ex->turn != NULL);
    gx_open *open = &ex->open[target->id];
    uint16_t lane = drop ? drop->lane : 0;
    if (open->batch) {
        open->filled |= open->batch->lane == lane;
        open->large |= open->filled;
        close(ex, open);
    }
    int rc = admit(ex, target, drop);
    if (GX_UNLIKELY(rc != GALE_OK)) return rc;
    gx_batch *batch = gx_batch_take(&ex->batches, wants_large(ex, open, target), length);
    if (GX_UNLIKELY(!batch)) return GALE_NO_MEMORY;
    batch->source = ex->turn->id;
    batch->target = target->id;
    batch->lane = lane;
    open->batch = batch;
    open->at = batch->bytes;
    open->limit = batch->bytes + gx_batch_space(batch);
    open->end = batch->bytes + gx_batch_border(batch, GX_ROW_SHORT);
    list(ex, open, target);
    count_more(ex, target, lane, gx_batch_weight(batch));
    return GALE_OK;
}

void gx_turn_written(gx_executor *ex, gx_task *target, uint32_t length, uint64_t block_bytes) {
    gx_open *open = &ex->open[target->id];
    open->at += length;
    if (GX_LIKELY(!block_bytes)) return;
    open->batch->blocks += block_bytes;
    count_more(ex, target, open->batch->lane, block_bytes);
    bool full = target->executor == ex && gx_executor_is_full(ex, target);
    if (full || open->batch->blocks > GX_FLOW_HIGH) close(ex, open);
}
