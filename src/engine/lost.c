#include "engine/lost.h"

#include "base/mutant.h"
#include "engine/acks.h"

/* A dead letter is the engine's own, whose source is not lost. */
static bool is_open_of(const gx_executor *ex, const gx_task *task, uint64_t slot) {
    if (!gx_tree_is_open(gx_ledger_at(&ex->ledger, slot)) || gx_ledger_mark(&ex->ledger, slot)->task != task->id)
        return false;
    const gx_retained *kept = gx_retention_at(&ex->retention, slot);
    return !kept || !kept->letter;
}

static void lose(gx_executor *ex, const gx_task *task, uint64_t root) {
    gx_root pair = { root, 0 };
    gx_roots roots = { &pair, 1 };
    gx_ledger_lose(&ex->ledger, root);
    if (ex->shared->plan->acker_count) gx_acks_fail(ex, task, roots, GALE_REASON_SOURCE_LOST, NULL);
}

int64_t gx_lost_trees(gx_task *task, gale_is_lost_fn *is_lost, void *user) {
    gx_executor *ex = task->executor;
    int64_t lost = 0;
    for (uint64_t slot = 0; slot < ex->ledger.slots && task->spout.pending; slot++) {
        if (!is_open_of(ex, task, slot)) continue;
        const gx_tree *tree = gx_ledger_at(&ex->ledger, slot);
        if (is_lost && !is_lost(user, tree->message_id)) continue;
        if (!GX_MUTANT(lost_is_open)) lose(ex, task, tree->root);
        lost++;
    }
    return lost;
}
