#include "engine/answer.h"

const char gx_answer_at_limit[] = "the queue of the task was at its limit";

void gx_answer_ack(gx_executor *ex, gx_roots roots, uint64_t ack) {
    uint64_t mine = (uint64_t)ex->index + 1;
    for (uint64_t i = 0; i < roots.count; i++) {
        uint64_t root = roots.pairs[i].root, edges = roots.pairs[i].edge ^ ack;
        if (root >> GX_LEDGER_SHIFT == mine)
            gx_ledger_ack(&ex->ledger, root, edges);
        else
            gx_settle_ack(&ex->settle, root, edges);
    }
}

void gx_answer_fail(gx_executor *ex, const gx_task *task, gx_roots roots, int32_t reason, const char *text) {
    uint64_t mine = (uint64_t)ex->index + 1;
    for (uint64_t i = 0; i < roots.count; i++) {
        uint64_t root = roots.pairs[i].root;
        if (root >> GX_LEDGER_SHIFT == mine)
            gx_ledger_fail(&ex->ledger, root, reason, task->id, text);
        else
            gx_settle_fail(&ex->settle, root, reason, task->id, text);
    }
}

void gx_answer_overflow(gx_executor *ex, gx_task *task, gx_roots roots) {
    gx_answer_fail(ex, task, roots, GALE_REASON_OVERFLOW, gx_answer_at_limit);
    gx_count(roots.count ? &task->counters.overflowed : &task->counters.shed, 1);
}
