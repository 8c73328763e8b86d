#include "serve/metrics.h"

#include "base/number.h"
#include "serve/healthy.h"
#include "serve/history.h"
#include "serve/hurts.h"
#include "serve/noted.h"
#include "serve/outcomes.h"

#include <stdio.h>

typedef struct reading {
    gx_served *served;
    const gx_snapshot *before, *now;
    gx_healthy healthy;
    gx_exposition *to;
} reading;

/* What the samples of a metric are of, and so their labels. */
typedef enum metric_scope {
    SCOPE_RUN,        /* none */
    SCOPE_CHECKPOINT, /* none; of durable runs alone */
    SCOPE_COMPONENT,  /* component */
    SCOPE_SPOUT,      /* component */
    SCOPE_BOLT,       /* component */
    SCOPE_TASK,       /* component, task */
    SCOPE_STREAM,     /* component, stream */
    SCOPE_EDGE,       /* from, stream, to */
    SCOPE_OTHER       /* as the row says */
} metric_scope;

typedef struct metric {
    gx_family family;
    metric_scope scope;
    size_t offset;                   /* of a 64-bit count in what the scope reads */
    double scale;                    /* 1: it is told as a count */
    void (*write)(const reading *r); /* SCOPE_OTHER: its samples */
    const char *labels;              /* SCOPE_OTHER: for people */
} metric;

/* --- What is not one figure a row ------------------------------------------------------------------------------------ */

static void write_info(const reading *r) {
    const gx_label labels[] = { { "topology", gale_topology_name(r->served->topology) },
                                { "version", gale_version() },
                                { 0 } };
    gx_exposition_count(r->to, "", labels, 1);
}

static void write_uptime(const reading *r) {
    gx_exposition_number(r->to, "", NULL, (double)(r->now->time - r->served->started_time) / 1e9);
}

static void write_phase(const reading *r) {
    for (int32_t phase = 0; phase < GALE_PHASE_COUNT; phase++) {
        const gx_label labels[] = { { "phase", gale_phase_name(phase) }, { 0 } };
        gx_exposition_count(r->to, "", labels, phase == r->now->run.phase);
    }
}

static void write_active(const reading *r) {
    gx_exposition_count(r->to, "", NULL, !gx_load_relaxed(&r->served->inactive));
}

static void write_live(const reading *r) {
    gx_exposition_count(r->to, "", NULL, r->healthy.live);
}

static void write_ready(const reading *r) {
    gx_exposition_count(r->to, "", NULL, r->healthy.ready);
}

static void write_problems(const reading *r) {
    gx_exposition_count(r->to, "", NULL, r->healthy.count);
}

static void write_outcome(const reading *r, const char *outcome, uint64_t count) {
    const gx_label labels[] = { { "outcome", outcome }, { 0 } };
    gx_exposition_count(r->to, "", labels, count);
}

static void write_ended(const reading *r) {
    uint64_t counts[GX_OUTCOMES];
    gx_outcomes_of_run(&r->now->run, counts);
    write_outcome(r, "acked", r->now->run.acked);
    for (size_t i = 0; i < GX_OUTCOMES; i++) write_outcome(r, gx_outcomes[i].key, counts[i]);
}

static void write_tasks(const reading *r) {
    for (uint32_t i = 0; i < r->served->parts.count; i++) {
        const gx_part *part = &r->served->parts.parts[i];
        const gx_label labels[] = { { "component", part->name }, { "kind", part->spout ? "spout" : "bolt" }, { 0 } };
        gx_exposition_count(r->to, "", labels, part->task_count);
    }
}

static void write_unwell(const reading *r) {
    for (uint32_t i = 0; i < r->served->parts.count; i++) {
        const gx_part *part = &r->served->parts.parts[i];
        const gx_label labels[] = { { "component", part->name }, { 0 } };
        uint64_t count = 0;
        for (uint32_t n = 0; n < r->now->unwell_count; n++)
            count += r->now->unwell[n].task - part->first_task < part->task_count;
        gx_exposition_count(r->to, "", labels, count);
    }
}

static void write_failures(const reading *r) {
    for (uint32_t i = 0; i < r->served->parts.count; i++)
        for (int32_t reason = 0; reason < GX_SNAPSHOT_REASONS; reason++) {
            const gx_part *part = &r->served->parts.parts[i];
            const gx_label labels[] = { { "component", part->name }, { "reason", gx_snapshot_reason(reason) }, { 0 } };
            uint64_t count = gx_snapshot_failures(r->now, &r->served->parts, part, reason);
            if (count) gx_exposition_count(r->to, "", labels, count);
        }
}

static void write_capacity(const reading *r) {
    for (uint32_t i = 0; i < r->served->parts.count; i++) {
        const gx_part *part = &r->served->parts.parts[i];
        const gx_label labels[] = { { "component", part->name }, { 0 } };
        if (part->spout) continue;
        gx_exposition_number(r->to, "", labels, gx_hurts_capacity(part, r->before, r->now));
    }
}

/* One reading has counts and sum of one moment. */
static void write_latency(const reading *r, int32_t kind) {
    static const int64_t bounds[] = { 10000,     25000,      50000,      100000,     250000,      500000,     1000000,
                                      2500000,   5000000,    10000000,   25000000,   50000000,    100000000,  250000000,
                                      500000000, 1000000000, 2500000000, 5000000000, 10000000000, 30000000000 };
    enum { BOUNDS = sizeof bounds / sizeof *bounds };
    for (uint32_t i = 0; i < r->served->parts.count; i++) {
        const gx_part *part = &r->served->parts.parts[i];
        gale_latency latency = { .size = sizeof latency };
        uint64_t counts[BOUNDS];
        char bound[32];
        const gx_label labels[] = { { "component", part->name }, { "le", bound }, { 0 } };
        const gx_label own[] = { { "component", part->name }, { 0 } };
        if ((kind == GALE_LATENCY_COMPLETE) != part->spout || !part->built) continue;
        if (gale_runtime_latency(r->served->runtime, part->name, kind, bounds, BOUNDS, counts, &latency) < 0) continue;
        for (uint32_t b = 0; b < BOUNDS; b++) {
            gx_number_write(bound, (double)bounds[b] / 1e9);
            gx_exposition_count(r->to, "_bucket", labels, counts[b]);
        }
        snprintf(bound, sizeof bound, "+Inf");
        gx_exposition_count(r->to, "_bucket", labels, latency.count);
        gx_exposition_number(r->to, "_sum", own, latency.sum / 1e9);
        gx_exposition_count(r->to, "_count", own, latency.count);
    }
}

static void write_complete(const reading *r) {
    write_latency(r, GALE_LATENCY_COMPLETE);
}

static void write_execute(const reading *r) {
    write_latency(r, GALE_LATENCY_EXECUTE);
}

static void write_process(const reading *r) {
    write_latency(r, GALE_LATENCY_PROCESS);
}

static void write_executors(const reading *r, size_t offset) {
    for (uint32_t e = 0; e < r->now->executor_count; e++) {
        char number[16];
        uint64_t nanoseconds;
        snprintf(number, sizeof number, "%u", e);
        const gx_label labels[] = { { "executor", number }, { 0 } };
        memcpy(&nanoseconds, (const char *)&r->now->executors[e] + offset, sizeof nanoseconds);
        gx_exposition_number(r->to, "", labels, (double)nanoseconds / 1e9);
    }
}

static void write_busy(const reading *r) {
    write_executors(r, offsetof(gale_executor_stats, busy_nanoseconds));
}

static void write_waiting(const reading *r) {
    write_executors(r, offsetof(gale_executor_stats, waiting_nanoseconds));
}

static void write_held(const reading *r) {
    write_executors(r, offsetof(gale_executor_stats, held_nanoseconds));
}

static void write_in_call(const reading *r) {
    for (uint32_t e = 0; e < r->now->executor_count; e++) {
        char number[16];
        snprintf(number, sizeof number, "%u", e);
        const gx_label labels[] = { { "executor", number }, { 0 } };
        gx_exposition_number(r->to, "", labels, (double)gx_snapshot_in_call(r->now, e) / 1e9);
    }
}

static void write_memory(const reading *r) {
    const char *name;
    uint64_t bytes;
    for (uint32_t i = 0; gale_runtime_memory(r->served->runtime, i, &name, &bytes); i++) {
        const gx_label labels[] = { { "purpose", name }, { 0 } };
        gx_exposition_count(r->to, "", labels, bytes);
    }
}

static void write_checkpoint_age(const reading *r) {
    const gale_checkpoint_stats *c = &r->now->checkpoint;
    if (r->now->durable && (c->number || c->resumed))
        gx_exposition_number(r->to, "", NULL, (double)(r->now->wall - c->wall) / 1e9);
}

/* --- The table -------------------------------------------------------------------------------------------------------- */

#define RUN(name, kind, unit, field, scale, help)                                                                      \
    { { name, kind, unit, help }, SCOPE_RUN, offsetof(gale_run_stats, field), scale, NULL, NULL }
#define CHECKPOINT(name, kind, unit, field, scale, help)                                                               \
    { { name, kind, unit, help }, SCOPE_CHECKPOINT, offsetof(gale_checkpoint_stats, field), scale, NULL, NULL }
#define TASK(scope, name, kind, unit, field, scale, help)                                                              \
    { { name, kind, unit, help }, scope, offsetof(gale_task_stats, field), scale, NULL, NULL }
#define STREAM(name, field, help)                                                                                      \
    { { name, GX_FAMILY_COUNTER, "", help }, SCOPE_STREAM, offsetof(gx_snapshot_stream, field), 1, NULL, NULL }
#define EDGE(name, field, help)                                                                                        \
    { { name, GX_FAMILY_COUNTER, "", help }, SCOPE_EDGE, offsetof(gx_snapshot_edge, field), 1, NULL, NULL }
#define OTHER(name, kind, unit, write, labels, help)                                                                   \
    { { name, kind, unit, help }, SCOPE_OTHER, 0, 0, write, labels }

#define COUNTER GX_FAMILY_COUNTER
#define GAUGE GX_FAMILY_GAUGE

static const metric table[] = {
    OTHER("gale_topology_info", GAUGE, "", write_info, "topology, version", "Always 1: what runs."),
    OTHER("gale_uptime_seconds", GAUGE, "seconds", write_uptime, "", "Since the start of the run."),
    OTHER("gale_phase", GAUGE, "", write_phase, "phase", "1 for the phase that the run is in, 0 for the others."),
    OTHER("gale_active", GAUGE, "", write_active, "", "0 while the spouts were told to pause."),
    OTHER("gale_live", GAUGE, "", write_live, "", "0 when it does not move: to start it anew may help (/livez)."),
    OTHER("gale_ready", GAUGE, "", write_ready, "", "1 when all is open and well, and takes work (/readyz)."),
    OTHER("gale_problems", GAUGE, "", write_problems, "", "How many problems /healthz tells."),
    RUN("gale_trees_started", COUNTER, "", trees, 1, "Spout tuples that were tracked."),
    OTHER("gale_trees_ended", COUNTER, "", write_ended, "outcome",
          "Of those, the ones that are answered: acked, failed, timed_out, rejected or stopped."),
    RUN("gale_trees_open", GAUGE, "", open, 1, "Those that are not answered yet."),
    RUN("gale_trees_replayed", COUNTER, "", replayed, 1, "Emits after the first of a tree."),
    RUN("gale_trees_given_up", COUNTER, "", given_up, 1, "Trees that failed for good, where they are tried again."),
    RUN("gale_answers_stale", COUNTER, "", stale, 1, "Answers to trees that were answered already."),
    RUN("gale_dead_letters", COUNTER, "", dead_letters, 1, "Dead letters made of trees that failed for good."),
    RUN("gale_dead_letters_lost", COUNTER, "", dead_letters_lost, 1, "Of those, what the subscriber did not take."),
    RUN("gale_retained_bytes", GAUGE, "bytes", retained_bytes, 1, "Memory for tuples that may be emitted again."),
    RUN("gale_memory_in_use_bytes", GAUGE, "bytes", memory_in_use, 1, "What the engine holds, components apart."),
    RUN("gale_memory_reserved_bytes", GAUGE, "bytes", memory_reserved, 1, "What it has taken from the allocator."),
    OTHER("gale_memory_purpose_bytes", GAUGE, "bytes", write_memory, "purpose", "That, by what it is for."),
    RUN("gale_allocations", COUNTER, "", allocations, 1, "Its calls of the allocator."),
    OTHER("gale_component_tasks", GAUGE, "", write_tasks, "component, kind", "Tasks of the component."),
    OTHER("gale_component_unwell", GAUGE, "", write_unwell, "component", "Tasks that are not open or not well."),
    TASK(SCOPE_BOLT, "gale_component_executed", COUNTER, "", executed, 1, "Calls of execute."),
    TASK(SCOPE_COMPONENT, "gale_component_emitted", COUNTER, "", emitted, 1, "Calls of emit."),
    TASK(SCOPE_COMPONENT, "gale_component_transferred", COUNTER, "", transferred, 1, "Deliveries that those made."),
    TASK(SCOPE_COMPONENT, "gale_component_acked", COUNTER, "", acked, 1,
         "A bolt's inputs, a spout's trees that were acked."),
    TASK(SCOPE_COMPONENT, "gale_component_failed", COUNTER, "", failed, 1,
         "The same that failed; those that timed out, were rejected or stopped are not among them."),
    TASK(SCOPE_COMPONENT, "gale_component_timed_out", COUNTER, "", timed_out, 1,
         "A spout's trees that timed out, a bolt's inputs that it failed for this reason."),
    TASK(SCOPE_COMPONENT, "gale_component_rejected", COUNTER, "", rejected, 1,
         "A bolt's inputs, a spout's trees that were rejected: they are never tried again."),
    TASK(SCOPE_SPOUT, "gale_component_stopped", COUNTER, "", stopped, 1, "A spout's trees that the end cut off."),
    OTHER("gale_component_failures", COUNTER, "", write_failures, "component, reason",
          "Trees that failed at the component, by reason; only those that there were."),
    TASK(SCOPE_BOLT, "gale_component_expired", COUNTER, "", expired, 1, "Inputs over their deadline, not executed."),
    TASK(SCOPE_BOLT, "gale_component_shed", COUNTER, "", shed, 1, "Inputs of no tree, lost at a full queue."),
    TASK(SCOPE_BOLT, "gale_component_overflowed", COUNTER, "", overflowed, 1, "Inputs that failed at a full queue."),
    TASK(SCOPE_BOLT, "gale_component_dropped", COUNTER, "", dropped, 1, "Inputs dropped, as their subscriptions say."),
    TASK(SCOPE_BOLT, "gale_component_forgotten", COUNTER, "", forgotten, 1,
         "Inputs neither answered nor held when execute returned."),
    TASK(SCOPE_COMPONENT, "gale_component_misused", COUNTER, "", misused, 1,
         "Second answers, late emits and their like."),
    TASK(SCOPE_COMPONENT, "gale_component_errors", COUNTER, "", errors, 1, "Errors returned or reported."),
    TASK(SCOPE_BOLT, "gale_component_ticks", COUNTER, "", ticks, 1, "Ticks."),
    TASK(SCOPE_COMPONENT, "gale_component_held_tuples", GAUGE, "", held, 1, "Tuples held now."),
    TASK(SCOPE_BOLT, "gale_component_queued_bytes", GAUGE, "bytes", queued_bytes, 1,
         "What waits for the component's tasks."),
    TASK(SCOPE_SPOUT, "gale_component_held_seconds", COUNTER, "seconds", held_nanoseconds, 1e-9,
         "How long flow control held a spout's tasks, together."),
    TASK(SCOPE_SPOUT, "gale_component_pending_seconds", COUNTER, "seconds", pending_nanoseconds, 1e-9,
         "How long they waited for answers, with as many pending as they may."),
    OTHER("gale_component_capacity_ratio", GAUGE, "ratio", write_capacity, "component",
          "The share of the last ten seconds that a bolt's busiest task spent in execute."),
    TASK(SCOPE_TASK, "gale_task_executed", COUNTER, "", executed, 1, "Calls of a task's execute."),
    TASK(SCOPE_TASK, "gale_task_emitted", COUNTER, "", emitted, 1, "Calls of emit."),
    TASK(SCOPE_TASK, "gale_task_queued_bytes", GAUGE, "bytes", queued_bytes, 1, "What waits for the task."),
    STREAM("gale_stream_emitted", emitted, "Calls of emit to the stream."),
    STREAM("gale_stream_transferred", transferred, "Deliveries that those made."),
    EDGE("gale_edge_executed", executed, "Tuples of a stream that a bolt executed."),
    EDGE("gale_edge_acked", acked, "Of those, what it acked."),
    EDGE("gale_edge_failed", failed, "What it failed."),
    EDGE("gale_edge_rejected", rejected, "What it rejected."),
    EDGE("gale_edge_expired", expired, "What was over its deadline, and not executed."),
    EDGE("gale_edge_dropped", dropped, "What was dropped, as the subscription says."),
    OTHER("gale_complete_latency_seconds", GX_FAMILY_HISTOGRAM, "seconds", write_complete, "component, le",
          "From a spout tuple's first emit to its ack."),
    OTHER("gale_execute_latency_seconds", GX_FAMILY_HISTOGRAM, "seconds", write_execute, "component, le",
          "A bolt's calls of execute, sampled."),
    OTHER("gale_process_latency_seconds", GX_FAMILY_HISTOGRAM, "seconds", write_process, "component, le",
          "From the begin of execute to the ack, sampled."),
    OTHER("gale_executor_busy_seconds", COUNTER, "seconds", write_busy, "executor",
          "Time of an executor's steps that did something."),
    OTHER("gale_executor_waiting_seconds", COUNTER, "seconds", write_waiting, "executor",
          "Time in which it found nothing to do."),
    OTHER("gale_executor_held_seconds", COUNTER, "seconds", write_held, "executor",
          "The same, while a spout of it was held by flow control or by its pending trees."),
    OTHER("gale_executor_in_call_seconds", GAUGE, "seconds", write_in_call, "executor",
          "How long the component's call that it is in has lasted; 0: it is in none."),
    CHECKPOINT("gale_checkpoints", COUNTER, "", count, 1, "Checkpoints of this run."),
    CHECKPOINT("gale_checkpoints_put_off", COUNTER, "", put_off, 1, "Attempts that took too long."),
    OTHER("gale_checkpoint_age_seconds", GAUGE, "seconds", write_checkpoint_age, "", "Since the last one was cut."),
    CHECKPOINT("gale_checkpoint_bytes", GAUGE, "bytes", bytes, 1, "What the last one wrote."),
    CHECKPOINT("gale_checkpoint_took_seconds", GAUGE, "seconds", took, 1e-9, "What it took to make it last."),
    CHECKPOINT("gale_checkpoint_held_seconds", GAUGE, "seconds", held, 1e-9, "How long it held the spouts."),
    CHECKPOINT("gale_checkpoint_owed_seconds", GAUGE, "seconds", owed, 1e-9,
               "For how long a sink has not committed what a checkpoint has; 0: all is committed."),
};

enum { METRICS = sizeof table / sizeof *table };

/* --- Samples ---------------------------------------------------------------------------------------------------------- */

static void write_sample(const reading *r, const metric *row, const void *from, const gx_label *labels) {
    uint64_t value;
    memcpy(&value, (const char *)from + row->offset, sizeof value);
    if (row->scale == 1)
        gx_exposition_count(r->to, "", labels, value);
    else
        gx_exposition_number(r->to, "", labels, (double)value * row->scale);
}

static void write_components(const reading *r, const metric *row) {
    for (uint32_t i = 0; i < r->served->parts.count; i++) {
        const gx_part *part = &r->served->parts.parts[i];
        const gx_label labels[] = { { "component", part->name }, { 0 } };
        if ((row->scope == SCOPE_SPOUT && !part->spout) || (row->scope == SCOPE_BOLT && part->spout)) continue;
        gale_task_stats sum = gx_snapshot_sum(r->now, part);
        write_sample(r, row, &sum, labels);
    }
}

static void write_all_tasks(const reading *r, const metric *row) {
    for (uint32_t i = 0; i < r->served->parts.task_count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", i + 1);
        const gx_part *part = gx_parts_of_task(&r->served->parts, i + 1);
        const gx_label labels[] = { { "component", part->name }, { "task", number }, { 0 } };
        write_sample(r, row, &r->now->tasks[i], labels);
    }
}

static void write_streams(const reading *r, const metric *row) {
    for (uint32_t i = 0; i < r->served->parts.count; i++)
        for (uint32_t s = 0; s < r->served->parts.parts[i].stream_count; s++) {
            const gx_part *part = &r->served->parts.parts[i];
            const gx_label labels[] = { { "component", part->name }, { "stream", gx_part_stream(part, s) }, { 0 } };
            write_sample(r, row, &r->now->streams[part->first_stream + s], labels);
        }
}

static void write_edges(const reading *r, const metric *row) {
    for (uint32_t e = 0; e < r->served->parts.edge_count; e++) {
        const gx_edge *edge = &r->served->parts.edges[e];
        const gx_label labels[] = {
            { "from", edge->from->name }, { "stream", edge->subscription->stream }, { "to", edge->to->name }, { 0 }
        };
        write_sample(r, row, &r->now->edges[e], labels);
    }
}

static void write_metric(const reading *r, const metric *row) {
    if (row->scope == SCOPE_CHECKPOINT && !r->now->durable) return;
    gx_exposition_family(r->to, &row->family);
    switch (row->scope) {
    case SCOPE_RUN: write_sample(r, row, &r->now->run, NULL); break;
    case SCOPE_CHECKPOINT: write_sample(r, row, &r->now->checkpoint, NULL); break;
    case SCOPE_TASK: write_all_tasks(r, row); break;
    case SCOPE_STREAM: write_streams(r, row); break;
    case SCOPE_EDGE: write_edges(r, row); break;
    case SCOPE_OTHER: row->write(r); break;
    default: write_components(r, row);
    }
}

void gx_metrics_serve(const gx_call *call, gx_http_reply *reply) {
    gx_served *served = call->served;
    gx_snapshot *now = gx_snapshot_take(&served->parts, served->runtime);
    gx_noted noted;
    if (!now || !gx_noted_read(served->runtime, &noted)) {
        gx_snapshot_free(now);
        gx_call_refuse(reply, 503, "out of memory");
        return;
    }
    gx_exposition to = { .out = &reply->body, .open = gx_exposition_is_open(call->accept) };
    reply->type = gx_exposition_type(to.open);
    gx_history_lock(served->history);
    reading r = { .served = served, .now = now, .to = &to };
    r.before = gx_history_before(served->history, now->time, 10 * GALE_SECOND);
    gx_healthy_look(&served->parts, now, gx_served_checkpoint_interval(served), gx_load_relaxed(&served->inactive),
                    &r.healthy);
    for (size_t i = 0; i < METRICS; i++) write_metric(&r, &table[i]);
    gx_noted_expose(&to, &noted, served->runtime, &served->parts);
    gx_exposition_end(&to);
    gx_history_unlock(served->history);
    gx_noted_free(&noted);
    gx_snapshot_free(now);
}

/* --- For people --------------------------------------------------------------------------------------------------------- */

static const char *labels_of(const metric *row) {
    switch (row->scope) {
    case SCOPE_OTHER: return row->labels;
    case SCOPE_TASK: return "component, task";
    case SCOPE_STREAM: return "component, stream";
    case SCOPE_EDGE: return "from, stream, to";
    case SCOPE_RUN:
    case SCOPE_CHECKPOINT: return "";
    default: return "component";
    }
}

void gx_metrics_markdown(gx_buf *out) {
    for (size_t i = 0; i < METRICS; i++) {
        const gx_family *family = &table[i].family;
        gx_buf_format(out, "| `%s%s` | %s | %s | %s |\n", family->name, family->kind == COUNTER ? "_total" : "",
                      gx_family_kind_name(family->kind), labels_of(&table[i]), family->help);
    }
}
