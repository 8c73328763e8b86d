#include "engine/acks.h"

#include "base/assert.h"

/* --- Where there are acker tasks --- */

/* Tells the ledger of a tree, here or elsewhere. */
static void tell_ledger(gx_executor *ex, const gx_notice *notice, const char *text) {
    GX_CHECK(notice->kind != GX_NOTICE_BEGIN);
    GX_CHECK(notice->root != 0);
    if (notice->root >> GX_LEDGER_SHIFT != ex->index + 1u)
        gx_settle_notify(&ex->settle, notice, text);
    else if (notice->kind == GX_NOTICE_FAIL || notice->kind == GX_NOTICE_FAILED)
        gx_ledger_fail(&ex->ledger, notice->root, notice->reason, notice->task, text);
    else
        gx_settle_apply(&ex->ledger, notice);
}

static int say(gx_acker *acker, const gx_notice *notice) {
    switch (notice->kind) {
    case GX_NOTICE_BEGIN: return gx_acker_begin(acker, notice->root, notice->edges);
    case GX_NOTICE_ACK: return gx_acker_ack(acker, notice->root, notice->edges);
    case GX_NOTICE_RESET: return gx_acker_reset(acker, notice->root);
    default: return gx_acker_fail(acker, notice->root);
    }
}

/* A message to an acker task of this executor. One that it has no memory for fails its tree. */
static void run_acker(gx_executor *ex, gx_task *task, const gx_notice *notice, const char *text) {
    GX_CHECK(task->is_acker && task->executor == ex);
    gx_notice outcome = *notice;
    int verdict = say(&task->acker, notice);
    gx_count(&task->counters.executed, 1);
    if (notice->kind == GX_NOTICE_FAIL) {
        outcome.kind = GX_NOTICE_FAILED;
    } else if (verdict < 0) {
        outcome = (gx_notice){
            .kind = GX_NOTICE_FAILED, .root = notice->root, .reason = GALE_REASON_NO_MEMORY, .task = task->id
        };
        text = "no memory for the tree's record";
    } else if (verdict == GX_ACKER_WAITS) {
        return;
    } else {
        outcome.kind = verdict == GX_ACKER_DONE ? GX_NOTICE_DONE : GX_NOTICE_RENEW;
    }
    tell_ledger(ex, &outcome, text);
}

static void tell_acker(gx_executor *ex, const gx_notice *notice, const char *text) {
    gx_task *acker = ex->shared->tasks[gx_plan_acker(ex->shared->plan, notice->root)];
    if (acker->executor == ex)
        run_acker(ex, acker, notice, text);
    else if (notice->kind == GX_NOTICE_ACK)
        gx_settle_ack(&ex->settle, notice->root, notice->edges);
    else
        gx_settle_notify(&ex->settle, notice, text);
}

/* --- For both --- */

/* Anything but an ack. */
static void tell_keeper(gx_executor *ex, const gx_notice *notice, const char *text) {
    if (GX_UNLIKELY(ex->shared->plan->acker_count))
        tell_acker(ex, notice, text);
    else
        tell_ledger(ex, notice, text);
}

void gx_acks_begin(gx_executor *ex, uint64_t root, uint64_t edges) {
    GX_CHECK(root >> GX_LEDGER_SHIFT == ex->index + 1u);
    gx_notice begin = { .kind = GX_NOTICE_BEGIN, .root = root, .edges = edges };
    if (GX_LIKELY(!ex->shared->plan->acker_count || !edges))
        gx_ledger_begin(&ex->ledger, root, edges);
    else
        tell_acker(ex, &begin, NULL);
}

static void ack_at_acker(gx_executor *ex, uint64_t root, uint64_t edges) {
    gx_notice notice = { .kind = GX_NOTICE_ACK, .root = root, .edges = edges };
    tell_acker(ex, &notice, NULL);
}

void gx_acks_ack_elsewhere(gx_executor *ex, uint64_t root, uint64_t edges) {
    if (GX_UNLIKELY(ex->shared->plan->acker_count))
        ack_at_acker(ex, root, edges);
    else
        gx_settle_ack(&ex->settle, root, edges);
}

void gx_acks_ack_many(gx_executor *ex, gx_roots roots, uint64_t ack) {
    for (uint64_t i = 0; i < roots.count; i++) gx_acks_ack_one(ex, roots.pairs[i].root, roots.pairs[i].edge ^ ack);
}

void gx_acks_fail(gx_executor *ex, const gx_task *task, gx_roots roots, int32_t reason, const char *text) {
    GX_CHECK(gx_reason_is_valid(reason) || reason == GALE_REASON_STOPPED || reason == GALE_REASON_SOURCE_LOST);
    gx_notice notice = { .kind = GX_NOTICE_FAIL, .reason = reason, .task = task->id };
    for (uint64_t i = 0; i < roots.count; i++) {
        notice.root = roots.pairs[i].root;
        tell_keeper(ex, &notice, text);
    }
}

void gx_acks_reset(gx_executor *ex, gx_roots roots) {
    gx_notice notice = { .kind = GX_NOTICE_RESET };
    for (uint64_t i = 0; i < roots.count; i++) {
        notice.root = roots.pairs[i].root;
        tell_keeper(ex, &notice, NULL);
    }
}

void gx_acks_receive(gx_executor *ex, gx_inlet *inlet, const uint64_t item[2]) {
    gx_notice notice;
    if (!gx_settle_receive(inlet->half, item, &notice)) return;
    if (GX_UNLIKELY(ex->shared->plan->acker_count) && notice.kind <= GX_NOTICE_BEGIN)
        run_acker(ex, ex->shared->tasks[gx_plan_acker(ex->shared->plan, notice.root)], &notice,
                  gx_notice_text(&notice));
    else
        gx_settle_apply(&ex->ledger, &notice);
    if (GX_UNLIKELY(notice.text != NULL)) gx_block_release(notice.text, &ex->blocks);
}

void gx_acks_count_overflow(gx_task *task, bool tracked) {
    const gale_context *context = &task->context;
    if (!tracked && gx_load_relaxed(&task->counters.shed) == 0)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "task %u: its queue is at its limit of %llu bytes (queue_limit), and tuples that belong to no tree "
                 "are lost: "
                 "nobody emits them again. A component that emits so much in one call should emit in parts (GALE_MORE)",
                 task->id, (unsigned long long)task->executor->shared->queue_limit);
    gx_count(tracked ? &task->counters.overflowed : &task->counters.shed, 1);
}

void gx_acks_overflow(gx_executor *ex, gx_task *task, gx_roots roots, gale_reason reason) {
    GX_CHECK(task->executor == ex);
    bool limit = reason == GALE_REASON_OVERFLOW;
    gx_acks_fail(ex, task, roots, reason,
                 limit ? ex->shared->limit_text : "no memory for what its task cannot execute yet");
    gx_acks_count_overflow(task, roots.count > 0);
}
