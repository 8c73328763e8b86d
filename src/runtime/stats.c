/* Reading figures: what executors write for themselves, summed by whoever asks. */
#include "engine/tune.h"
#include "runtime/runtime.h"

#include <string.h>

const char *gale_phase_name(int32_t phase) {
    static const char *const names[] = { "new", "opening", "running", "draining", "finishing", "closing", "closed" };
    static_assert(sizeof names / sizeof *names == GALE_PHASE_COUNT, "every phase has a name");
    return phase >= 0 && phase < GALE_PHASE_COUNT ? names[phase] : "unknown";
}

enum { EVERYBODY = UINT16_MAX + 1 }; /* no component's index */

static void add_trees(const gx_shared *shared, gale_run_stats *sum) {
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        const gx_executor *ex = shared->executors[i];
        if (!ex->has_ledger) continue;
        gx_tree_counters trees = gx_ledger_read(&ex->ledger);
        sum->trees += trees.trees;
        sum->acked += trees.acked;
        sum->failed += trees.failed;
        sum->timed_out += trees.timed_out;
        sum->stopped += trees.stopped;
        sum->rejected += trees.rejected;
        sum->replayed += trees.replayed;
        sum->given_up += trees.given_up;
        sum->dead_letters += trees.dead_letters;
        sum->dead_letters_lost += trees.dead_letters_lost;
        sum->retained_bytes += trees.retained_bytes;
        sum->open += trees.open;
        sum->stale += trees.stale;
    }
}

/* Of one component, by its index, or of all. */
static void read_latency(const gx_shared *shared, uint32_t component, int kind, gx_histogram_reading *into) {
    uint32_t first = component == EVERYBODY ? 0 : component,
             end = component == EVERYBODY ? shared->plan->component_count : component + 1;
    for (uint32_t i = 0; i < shared->executor_count; i++)
        for (uint32_t c = first; c < end; c++) {
            const gx_histogram *histogram = shared->executors[i]->latencies[c].of[kind];
            if (histogram) gx_histogram_read(histogram, into);
        }
}

/* In use: what was reserved, less what pools keep for later. */
static void add_memory(const gx_shared *shared, gale_run_stats *sum) {
    sum->memory_reserved = gx_heap_reserved(&shared->heap);
    sum->allocations = gx_load_relaxed(&shared->heap.calls);
    uint64_t pools = gx_load_relaxed(&shared->heap.reserved[GX_TAG_QUEUE]) +
                     gx_load_relaxed(&shared->heap.reserved[GX_TAG_BLOCK]);
    uint64_t used = 0;
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        used += gx_load_relaxed(&shared->executors[i]->batches.used);
        used += gx_load_relaxed(&shared->executors[i]->blocks.used_bytes);
    }
    uint64_t idle = pools > used ? pools - used : 0;
    sum->memory_in_use = sum->memory_reserved - (idle < sum->memory_reserved ? idle : sum->memory_reserved);
}

static int64_t elapsed(gx_shared *shared) {
    uint64_t from = gx_load_acquire(&shared->started_at), to = gx_load_acquire(&shared->ended_at);
    if (!from) return 0;
    return (to ? (int64_t)to - 1 : shared->clock.now(shared->clock.user)) - (int64_t)(from - 1);
}

void gale_runtime_stats(const gale_runtime *runtime, gale_run_stats *ret_stats) {
    if (!gx_runtime_is(runtime) || !ret_stats) return;
    gx_shared *shared = (gx_shared *)&runtime->shared;
    gale_run_stats sum = { .size = sizeof sum, .phase = gx_phase(shared) };
    gx_histogram_reading complete;
    memset(&complete, 0, sizeof complete);
    add_trees(shared, &sum);
    read_latency(shared, EVERYBODY, GALE_LATENCY_COMPLETE, &complete);
    for (uint32_t t = 1; t <= shared->plan->task_count; t++)
        if (!shared->tasks[t]->is_acker) sum.executed += gx_task_executed(shared->tasks[t]);
    add_memory(shared, &sum);
    sum.complete_p50 = gx_histogram_quantile(&complete, 0.50);
    sum.complete_p99 = gx_histogram_quantile(&complete, 0.99);
    sum.complete_max = complete.max;
    sum.elapsed = elapsed(shared);
    size_t size = ret_stats->size && ret_stats->size < sizeof sum ? ret_stats->size : sizeof sum;
    sum.size = size;
    memcpy(ret_stats, &sum, size);
}

/* Spouts report the tuples that they give up, and the runtime counts those that it does. Where nothing is tracked, a failed
 * tuple has nobody who would send it again. */
static bool has_lost(const gx_task *task, bool tracked) {
    const gx_task_counters *c = &task->counters;
    if (gx_load_relaxed(&c->shed)) return true;
    if (task->is_spout) return gx_load_relaxed(&c->errors) != 0;
    return gx_load_relaxed(&c->rejected) || (!tracked && gx_load_relaxed(&c->failed));
}

bool gale_runtime_lost(const gale_runtime *runtime) {
    if (!gx_runtime_is(runtime)) return false;
    const gx_shared *shared = &runtime->shared;
    gale_run_stats sum = { .size = sizeof sum };
    add_trees(shared, &sum);
    if (sum.given_up || sum.rejected || sum.dead_letters_lost) return true;
    for (uint32_t t = 1; t <= shared->plan->task_count; t++)
        if (!shared->tasks[t]->is_acker && has_lost(shared->tasks[t], sum.trees > 0)) return true;
    return false;
}

static bool ascend(const int64_t *bounds, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        if (bounds[i] < bounds[i - 1]) return false;
    return true;
}

static void sum_up(const gx_histogram_reading *reading, gale_latency *ret_latency) {
    double sum = gx_histogram_sum(reading);
    const gale_latency latency = { .size = sizeof latency,
                                   .count = reading->count,
                                   .sum = sum,
                                   .mean = reading->count ? (int64_t)(sum / (double)reading->count) : 0,
                                   .p50 = gx_histogram_quantile(reading, 0.50),
                                   .p90 = gx_histogram_quantile(reading, 0.90),
                                   .p99 = gx_histogram_quantile(reading, 0.99),
                                   .p999 = gx_histogram_quantile(reading, 0.999),
                                   .max = reading->max };
    size_t size = ret_latency->size && ret_latency->size < sizeof latency ? ret_latency->size : sizeof latency;
    memcpy(ret_latency, &latency, size);
    ret_latency->size = size;
}

int gale_runtime_latency(const gale_runtime *runtime, const char *component, int32_t kind, const int64_t *bounds,
                         uint32_t bound_count, uint64_t *ret_counts, gale_latency *ret_latency) {
    if (!gx_runtime_is(runtime) || kind < 0 || kind >= GALE_LATENCY_COUNT) return GALE_INVALID;
    if (bound_count && (!bounds || !ret_counts || !ascend(bounds, bound_count))) return GALE_INVALID;
    const gx_shared *shared = &runtime->shared;
    int index = component ? gx_runtime_component(shared->plan, component) : EVERYBODY;
    if (index < 0) return GALE_NOT_FOUND;
    gx_histogram_reading reading;
    memset(&reading, 0, sizeof reading);
    read_latency(shared, (uint32_t)index, kind, &reading);
    gx_histogram_below(&reading, bounds, bound_count, ret_counts);
    if (ret_latency) sum_up(&reading, ret_latency);
    return GALE_OK;
}

uint64_t gale_runtime_failures(const gale_runtime *runtime, const char *component, int32_t reason) {
    if (!gx_runtime_is(runtime)) return 0;
    const gx_shared *shared = &runtime->shared;
    uint32_t kind = reason >= GALE_REASON_USER ? GX_REASONS - 1 : (uint32_t)reason;
    if (reason < 0 || (reason >= GALE_REASON_COUNT && reason < GALE_REASON_USER)) return 0;
    int place = component ? gx_runtime_component(shared->plan, component) : (int)shared->plan->component_count;
    if (place < 0) return 0;
    uint64_t count = 0;
    for (uint32_t i = 0; i < shared->executor_count; i++)
        count += gx_load_relaxed(&shared->executors[i]->failures[(uint32_t)place * GX_REASONS + kind]);
    return count;
}

uint32_t gale_runtime_task_count(const gale_runtime *runtime) {
    return gx_runtime_is(runtime) ? runtime->plan->task_count : 0;
}

uint32_t gale_runtime_executor_count(const gale_runtime *runtime) {
    return gx_runtime_is(runtime) ? runtime->shared.executor_count : 0;
}

/* The first of the task's gates that is closed. */
static uint32_t holder(const gx_task *task) {
    const gx_shared *shared = task->executor->shared;
    return gx_flow_holder(&shared->flow, &shared->plan->tasks[task->id], 0);
}

static uint64_t dropped(const gx_task *task, const gx_plan_drop *drop) {
    const gx_shared *shared = task->executor->shared;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < shared->executor_count; i++)
        sum += gx_load_relaxed(&shared->executors[i]->dropped[drop->first_slot + task->context.task_index]);
    return sum;
}

static_assert((int)GALE_HOLD_FLOW == GX_THROTTLE_FLOW && (int)GALE_HOLD_PENDING == GX_THROTTLE_PENDING, "they agree");

static void read_spout(const gx_task *task, gale_task_stats *stats) {
    gx_shared *shared = task->executor->shared;
    uint64_t ended = gx_load_acquire(&shared->ended_at);
    gx_throttle_reading hold;
    gx_throttle_read(&task->spout.throttle, ended ? (int64_t)ended - 1 : shared->clock.now(shared->clock.user), &hold);
    stats->held_nanoseconds = hold.flow;
    stats->held_mostly_nanoseconds = hold.by_time;
    stats->held_mostly_by = hold.by;
    stats->pending_nanoseconds = hold.pending;
    stats->hold = (int32_t)hold.now;
    stats->hold_by = hold.now_by;
    stats->hold_since = hold.since;
    gx_tuned tuned = gx_tune_read(shared, task->component);
    stats->pending_limit = tuned.max_pending == UINT64_MAX ? 0 : tuned.max_pending;
    stats->rate = tuned.rate;
}

static void read_task(const gx_task *task, gale_task_stats *stats) {
    const gx_task_counters *c = &task->counters;
    *stats = (gale_task_stats){
        .task = task->id,
        .executor = task->executor->index,
        .component = task->context.component,
        .spout = task->is_spout,
        .congested = gx_load_relaxed(&task->executor->shared->flow.congested[task->id]),
        .done = gx_load_relaxed(&task->done_seen) != 0,
        .executed = gx_task_executed(task),
        .acked = gx_task_acked(task),
        .failed = gx_load_relaxed(&c->failed),
        .timed_out = gx_load_relaxed(&c->timed_out),
        .rejected = gx_load_relaxed(&c->rejected),
        .stopped = gx_load_relaxed(&c->stopped),
        .forgotten = gx_load_relaxed(&c->forgotten),
        .misused = gx_load_relaxed(&c->misused),
        .errors = gx_load_relaxed(&c->errors),
        .ticks = gx_load_relaxed(&c->ticks),
        .held = gx_load_relaxed(&c->held),
        .held_by = holder(task),
        .shed = gx_load_relaxed(&c->shed),
        .overflowed = gx_load_relaxed(&c->overflowed),
        .expired = gx_load_relaxed(&c->expired),
        .queued_bytes_max = gx_load_relaxed(&c->queued_max),
        .queued_bytes = gx_load_relaxed(&task->queued_seen),
        .execute_samples = gx_load_relaxed(&c->samples),
        .execute_nanoseconds = gx_load_relaxed(&c->nanoseconds),
        .execute_nanoseconds_max = gx_load_relaxed(&c->nanoseconds_max),
    };
    for (uint32_t s = 0; s < task->plan->stream_count; s++) {
        stats->emitted += gx_stream_emitted(&task->streams[s].counters);
        stats->transferred += gx_stream_transferred(&task->streams[s].counters);
    }
    for (uint32_t i = 0; i < task->plan->drop_count; i++) stats->dropped += dropped(task, &task->plan->drops[i]);
    if (task->is_spout) read_spout(task, stats);
}

bool gale_runtime_task_stats(const gale_runtime *runtime, uint32_t task, gale_task_stats *ret_stats) {
    if (task < 1 || task > gale_runtime_task_count(runtime) || !ret_stats) return false;
    gale_task_stats stats;
    read_task(runtime->shared.tasks[task], &stats);
    size_t size = ret_stats->size && ret_stats->size < sizeof stats ? ret_stats->size : sizeof stats;
    stats.size = size;
    memcpy(ret_stats, &stats, size);
    return true;
}

bool gale_runtime_stream_stats(const gale_runtime *runtime, uint32_t task, uint32_t stream, const char **ret_name,
                               uint64_t *ret_emitted, uint64_t *ret_transferred) {
    if (task < 1 || task > gale_runtime_task_count(runtime)) return false;
    const gx_task *t = runtime->shared.tasks[task];
    if (stream >= t->plan->stream_count) return false;
    if (ret_name) *ret_name = t->plan->schema.streams[stream].name;
    if (ret_emitted) *ret_emitted = gx_stream_emitted(&t->streams[stream].counters);
    if (ret_transferred) *ret_transferred = gx_stream_transferred(&t->streams[stream].counters);
    return true;
}

/* Of an input that drops. */
static int32_t policy_now(const gx_task *task, int32_t planned) {
    gx_tuned tuned = gx_tune_read(task->executor->shared, task->component);
    return tuned.drop ? tuned.drop : planned;
}

static void read_edge(const gx_task *task, uint32_t input, gale_edge_stats *ret_stats) {
    const gx_subscription *subscription = &task->plan->built->inputs[input];
    gx_edge *edge = &task->edges.list[input];
    *ret_stats = (gale_edge_stats){
        .source = subscription->source,
        .stream = subscription->stream,
        .executed = gx_load_relaxed(&edge->executed),
        .acked = gx_load_relaxed(&edge->acked),
        .failed = gx_load_relaxed(&edge->failed),
        .rejected = gx_load_relaxed(&edge->rejected),
        .expired = gx_load_relaxed(&edge->expired),
        .policy = subscription->drop ? policy_now(task, subscription->drop) : GALE_DROP_NOTHING,
        .execute_count = gx_load_relaxed(&edge->execute_count),
        .execute_nanoseconds = gx_load_relaxed(&edge->execute_ns),
        .process_count = gx_load_relaxed(&edge->process_count),
        .process_nanoseconds = gx_load_relaxed(&edge->process_ns),
    };
    for (uint32_t i = 0; i < task->plan->drop_count; i++)
        if (task->plan->drops[i].input == input) ret_stats->dropped = dropped(task, &task->plan->drops[i]);
}

static bool has_input(const gale_runtime *runtime, uint32_t task, uint32_t input) {
    return task >= 1 && task <= gale_runtime_task_count(runtime) &&
           input < runtime->shared.tasks[task]->plan->built->input_count;
}

bool gale_runtime_edge_stats(const gale_runtime *runtime, uint32_t task, uint32_t input, gale_edge_stats *ret_stats) {
    if (!ret_stats || !has_input(runtime, task, input)) return false;
    gale_edge_stats stats;
    read_edge(runtime->shared.tasks[task], input, &stats);
    size_t size = ret_stats->size && ret_stats->size < sizeof stats ? ret_stats->size : sizeof stats;
    stats.size = size;
    memcpy(ret_stats, &stats, size);
    return true;
}

bool gale_runtime_input_stats(const gale_runtime *runtime, uint32_t task, uint32_t input, const char **ret_source,
                              const char **ret_stream, int32_t *ret_policy, uint64_t *ret_dropped) {
    if (!has_input(runtime, task, input)) return false;
    gale_edge_stats stats;
    read_edge(runtime->shared.tasks[task], input, &stats);
    if (ret_source) *ret_source = stats.source;
    if (ret_stream) *ret_stream = stats.stream;
    if (ret_policy) *ret_policy = stats.policy;
    if (ret_dropped) *ret_dropped = stats.dropped;
    return true;
}
