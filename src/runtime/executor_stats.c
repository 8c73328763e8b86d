/* Reading what executors' time went to, and what memory is for. */
#include "runtime/runtime.h"

#include <string.h>

/* A step that is not over counts when a bolt is in call: that is work, whatever else happens in it. The call is of that step
 * if the step is still the same. */
static gx_share share_now(const gx_executor *ex, const gx_shares_view *view, const gx_task *in_call) {
    if (view->kind != GX_SHARE_BUSY) return (gx_share)view->kind;
    gx_shares_view again;
    bool same = in_call && !in_call->is_spout && gx_shares_read(&ex->shares, &again) && again.since == view->since &&
                again.kind == view->kind;
    return same ? GX_SHARE_BUSY : GX_SHARE_NONE;
}

static uint64_t told(gx_executor *ex, const gx_shares_view *view, gx_share kind) {
    return gx_shares_told(&ex->shares, kind, view->spent[kind]);
}

static void read_executor(const gx_shared *shared, gx_executor *ex, gale_executor_stats *stats) {
    gx_shares_view view;
    while (!gx_shares_read(&ex->shares, &view)) {
    }
    const gx_task *in_call = gx_load_relaxed(&ex->in_call_seen);
    gx_share kind = share_now(ex, &view, in_call);
    int64_t now = shared->clock.now(shared->clock.user);
    if (now > view.since) view.spent[kind] += (uint64_t)(now - view.since);
    *stats = (gale_executor_stats){ .index = ex->index,
                                    .tasks = ex->task_count,
                                    .busy_nanoseconds = told(ex, &view, GX_SHARE_BUSY),
                                    .waiting_nanoseconds = told(ex, &view, GX_SHARE_WAITING),
                                    .held_nanoseconds = told(ex, &view, GX_SHARE_HELD) };
    if (!in_call) return;
    stats->in_call = in_call->id;
    stats->in_call_component = in_call->context.component;
    stats->in_call_since = (int64_t)gx_load_relaxed(&ex->in_call_since);
}

bool gale_runtime_executor_stats(const gale_runtime *runtime, uint32_t executor, gale_executor_stats *ret_stats) {
    if (executor >= gale_runtime_executor_count(runtime) || !ret_stats) return false;
    gale_executor_stats stats;
    read_executor(&runtime->shared, runtime->shared.executors[executor], &stats);
    size_t size = ret_stats->size && ret_stats->size < sizeof stats ? ret_stats->size : sizeof stats;
    stats.size = size;
    memcpy(ret_stats, &stats, size);
    return true;
}

int64_t gale_runtime_now(const gale_runtime *runtime) {
    if (!gx_runtime_is(runtime)) return 0;
    return runtime->shared.clock.now(runtime->shared.clock.user);
}

bool gale_runtime_memory(const gale_runtime *runtime, uint32_t index, const char **ret_name, uint64_t *ret_bytes) {
    static const char *const names[] = { "plan", "rings", "queues", "bodies", "ledgers", "figures", "other" };
    static_assert(sizeof names / sizeof *names == GX_TAG_COUNT, "every tag has a name");
    if (!gx_runtime_is(runtime) || index >= GX_TAG_COUNT) return false;
    if (ret_name) *ret_name = names[index];
    if (ret_bytes) *ret_bytes = gx_load_relaxed(&((gale_runtime *)(uintptr_t)runtime)->shared.heap.reserved[index]);
    return true;
}
