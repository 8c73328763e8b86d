#include "serve/gale_now.h"

#include "base/os/time.h"
#include "serve/healthy.h"
#include "serve/history.h"
#include "serve/hurts.h"
#include "serve/member.h"
#include "serve/noted.h"
#include "serve/outcomes.h"
#include "serve/tappers.h"

/* What is read now, and about ten seconds ago. */
typedef struct reading {
    const gx_served *served;
    const gx_snapshot *before; /* NULL: nothing yet */
    const gx_snapshot *now;
    int64_t nanoseconds; /* between them */
    const gx_noted *noted;
} reading;

/* --- Latencies ----------------------------------------------------------------------------------------------------- */

/* null when there is none; so is what is not known of it. */
static void latency_member(gx_json *json, const char *key, const gx_snapshot_latency *latency) {
    gx_json_key(json, gx_str(key));
    if (!latency->count) {
        gx_json_null(json);
        return;
    }
    gx_json_open(json, '{');
    gx_member_count(json, "count", latency->count);
    gx_member_number(json, "mean", latency->sum / (double)latency->count / 1e9);
    gx_member_seconds(json, "p50", latency->p50);
    gx_member_seconds(json, "p90", latency->p90);
    gx_member_seconds(json, "p99", latency->p99);
    gx_member_seconds(json, "max", latency->max);
    gx_json_close(json, '}');
}

/* A task's, of which there is no histogram. */
static void task_execute_member(gx_json *json, const gale_task_stats *task) {
    const gx_snapshot_latency latency = {
        task->execute_samples, (double)task->execute_nanoseconds, -1, -1, -1, (int64_t)task->execute_nanoseconds_max
    };
    latency_member(json, "execute", &latency);
}

/* --- Trees --------------------------------------------------------------------------------------------------------- */

static void outcome_members(gx_json *json, const uint64_t counts[GX_OUTCOMES]) {
    for (size_t i = 0; i < GX_OUTCOMES; i++) gx_member_count(json, gx_outcomes[i].key, counts[i]);
}

static void trees_member(gx_json *json, const gale_run_stats *run) {
    uint64_t outcomes[GX_OUTCOMES];
    gx_member_open(json, "trees", '{');
    gx_member_count(json, "trees", run->trees);
    gx_member_count(json, "acked", run->acked);
    gx_outcomes_of_run(run, outcomes);
    outcome_members(json, outcomes);
    gx_member_count(json, "open", run->open);
    gx_member_count(json, "replayed", run->replayed);
    gx_member_count(json, "given_up", run->given_up);
    gx_member_count(json, "dead_letters", run->dead_letters);
    gx_member_count(json, "dead_letters_lost", run->dead_letters_lost);
    gx_json_close(json, '}');
}

/* --- Components ---------------------------------------------------------------------------------------------------- */

static double share_of(const reading *r, uint64_t before, uint64_t now, uint32_t tasks) {
    double share = r->nanoseconds > 0 && now > before ? (double)(now - before) / (double)r->nanoseconds / tasks : 0;
    return share < 1 ? share : 1;
}

static double busy_of(const reading *r, uint32_t task) {
    return r->before ? gx_hurts_busy(&r->before->tasks[task - 1], &r->now->tasks[task - 1], r->nanoseconds) : 0;
}

static void failures_member(gx_json *json, const reading *r, const gx_part *part) {
    gx_member_open(json, "failures", '[');
    for (int32_t reason = 0; reason < GX_SNAPSHOT_REASONS; reason++) {
        uint64_t count = gx_snapshot_failures(r->now, &r->served->parts, part, reason);
        if (!count) continue;
        gx_json_open(json, '{');
        gx_member_text(json, "reason", gx_snapshot_reason(reason));
        gx_member_count(json, "count", count);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

/* For how long flow control has held a task of it; negative: it holds none now. */
static int64_t held_since(const reading *r, const gx_part *part) {
    int64_t longest = -1;
    for (uint32_t i = 0; i < part->task_count; i++) {
        const gale_task_stats *task = &r->now->tasks[part->first_task + i - 1];
        int64_t held = r->now->runtime_time - task->hold_since;
        if (task->hold == GALE_HOLD_FLOW && held > longest) longest = held;
    }
    return longest;
}

static void held_by_member(gx_json *json, const reading *r, const gx_part *part, const gale_task_stats *sum,
                           double share) {
    uint32_t task = gx_hurts_holder(&r->served->parts, r->now, sum);
    const gx_part *by = share > 0 ? gx_parts_of_task(&r->served->parts, task) : NULL;
    gx_json_key(json, gx_str("held_by"));
    if (!by) {
        gx_json_null(json);
        return;
    }
    gx_json_open(json, '{');
    gx_member_text(json, "component", by->name);
    gx_member_count(json, "index", task - by->first_task);
    gx_member_number(json, "share", share);
    gx_member_seconds(json, "since", held_since(r, part));
    gx_json_close(json, '}');
}

static void unwell_member(gx_json *json, const reading *r, const gx_part *part) {
    gx_member_open(json, "unwell", '[');
    for (uint32_t i = 0; i < r->now->unwell_count; i++) {
        const gale_unwell *one = &r->now->unwell[i];
        if (one->task - part->first_task >= part->task_count) continue;
        gx_json_open(json, '{');
        gx_member_count(json, "task", one->task);
        gx_member_seconds(json, "since", r->now->time - one->since);
        gx_member_text(json, "text", one->text);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

static void counts_members(gx_json *json, const gale_task_stats *stats) {
    uint64_t outcomes[GX_OUTCOMES];
    gx_outcomes_of_task(stats, outcomes);
    gx_member_count(json, "executed", stats->executed);
    gx_member_count(json, "emitted", stats->emitted);
    gx_member_count(json, "transferred", stats->transferred);
    gx_member_count(json, "acked", stats->acked);
    outcome_members(json, outcomes);
}

static void loss_members(gx_json *json, const gale_task_stats *stats) {
    gx_member_count(json, "expired", stats->expired);
    gx_member_count(json, "shed", stats->shed);
    gx_member_count(json, "overflowed", stats->overflowed);
    gx_member_count(json, "dropped", stats->dropped);
    gx_member_count(json, "errors", stats->errors);
    gx_member_count(json, "ticks", stats->ticks);
}

static void queue_members(gx_json *json, const gale_task_stats *stats) {
    gx_member_count(json, "held", stats->held);
    gx_member_count(json, "queued_bytes", stats->queued_bytes);
    gx_member_count(json, "queued_bytes_max", stats->queued_bytes_max);
}

/* What is set of a spout, by its topology or since; null: no bound. */
static void limits_members(gx_json *json, const gale_task_stats *stats) {
    gx_json_key(json, gx_str("pending_limit"));
    if (stats->pending_limit)
        gx_json_u64(json, stats->pending_limit);
    else
        gx_json_null(json);
    gx_member_number(json, "rate", stats->rate > 0 ? stats->rate : (double)NAN);
}

static void component_json(gx_json *json, const reading *r, const gx_part *part) {
    gale_task_stats now = gx_snapshot_sum(r->now, part), before = now;
    if (r->before) before = gx_snapshot_sum(r->before, part);
    gx_json_open(json, '{');
    gx_member_text(json, "name", part->name);
    counts_members(json, &now);
    loss_members(json, &now);
    queue_members(json, &now);
    gx_member_number(json, "capacity", gx_hurts_capacity(part, r->before, r->now));
    latency_member(json, "execute", gx_snapshot_latency_of(r->now, &r->served->parts, part, GX_EXECUTE));
    latency_member(json, "process", gx_snapshot_latency_of(r->now, &r->served->parts, part, GX_PROCESS));
    failures_member(json, r, part);
    gx_member_bool(json, "done", part->spout && now.done);
    held_by_member(json, r, part, &now, share_of(r, before.held_nanoseconds, now.held_nanoseconds, part->task_count));
    gx_member_number(json, "pending_share",
                     share_of(r, before.pending_nanoseconds, now.pending_nanoseconds, part->task_count));
    limits_members(json, &now);
    unwell_member(json, r, part);
    gx_json_key(json, gx_str("metrics"));
    gx_noted_json(json, r->noted, r->served->runtime, part->name);
    gx_json_close(json, '}');
}

static void components_member(gx_json *json, const reading *r) {
    const gx_parts *parts = &r->served->parts;
    gx_member_open(json, "components", '[');
    for (uint32_t i = 0; i < parts->count; i++) component_json(json, r, &parts->parts[i]);
    gx_json_close(json, ']');
}

/* --- Tasks, streams, edges ------------------------------------------------------------------------------------------- */

static void tasks_member(gx_json *json, const reading *r) {
    const gx_parts *parts = &r->served->parts;
    gx_member_open(json, "tasks", '[');
    for (uint32_t i = 0; i < parts->task_count; i++) {
        const gale_task_stats *task = &r->now->tasks[i];
        const gx_part *part = gx_parts_of_task(parts, i + 1);
        gx_json_open(json, '{');
        gx_member_count(json, "task", i + 1);
        gx_member_text(json, "component", part->name);
        gx_member_count(json, "index", i + 1 - part->first_task);
        gx_member_count(json, "executor", task->executor);
        counts_members(json, task);
        queue_members(json, task);
        gx_member_number(json, "busy_share", busy_of(r, i + 1));
        task_execute_member(json, task);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

static void streams_member(gx_json *json, const reading *r) {
    const gx_parts *parts = &r->served->parts;
    gx_member_open(json, "streams", '[');
    for (uint32_t i = 0; i < parts->count; i++) {
        const gx_part *part = &parts->parts[i];
        for (uint32_t s = 0; s < part->stream_count; s++) {
            const gx_snapshot_stream *stream = &r->now->streams[part->first_stream + s];
            gx_json_open(json, '{');
            gx_member_text(json, "component", part->name);
            gx_member_text(json, "stream", gx_part_stream(part, s));
            gx_member_count(json, "emitted", stream->emitted);
            gx_member_count(json, "transferred", stream->transferred);
            gx_json_close(json, '}');
        }
    }
    gx_json_close(json, ']');
}

/* Seconds, of samples; null when there are none. */
static void mean_member(gx_json *json, const char *key, uint64_t count, uint64_t nanoseconds) {
    gx_member_number(json, key, count ? (double)nanoseconds / (double)count / 1e9 : (double)NAN);
}

static void edges_member(gx_json *json, const reading *r) {
    gx_member_open(json, "edges", '[');
    for (uint32_t e = 0; e < r->served->parts.edge_count; e++) {
        const gx_snapshot_edge *edge = &r->now->edges[e];
        gx_json_open(json, '{');
        gx_member_count(json, "id", e);
        gx_member_count(json, "executed", edge->executed);
        gx_member_count(json, "acked", edge->acked);
        gx_member_count(json, "failed", edge->failed);
        gx_member_count(json, "rejected", edge->rejected);
        gx_member_count(json, "expired", edge->expired);
        gx_member_count(json, "dropped", edge->dropped);
        gx_member_text(json, "drop", edge->policy == GALE_DROP_NOTHING ? NULL : gale_drop_name(edge->policy));
        mean_member(json, "execute", edge->execute_count, edge->execute_nanoseconds);
        mean_member(json, "process", edge->process_count, edge->process_nanoseconds);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

static void in_call_member(gx_json *json, const reading *r, uint32_t executor) {
    const gale_executor_stats *one = &r->now->executors[executor];
    gx_json_key(json, gx_str("in_call"));
    if (!one->in_call) {
        gx_json_null(json);
        return;
    }
    gx_json_open(json, '{');
    gx_member_text(json, "component", one->in_call_component);
    gx_member_count(json, "task", one->in_call);
    gx_member_seconds(json, "since", gx_snapshot_in_call(r->now, executor));
    gx_json_close(json, '}');
}

static void executors_member(gx_json *json, const reading *r) {
    gx_member_open(json, "executors", '[');
    for (uint32_t e = 0; e < r->now->executor_count; e++) {
        const gale_executor_stats *executor = &r->now->executors[e];
        gx_json_open(json, '{');
        gx_member_count(json, "index", executor->index);
        gx_member_count(json, "tasks", executor->tasks);
        gx_member_seconds(json, "busy", (int64_t)executor->busy_nanoseconds);
        gx_member_seconds(json, "waiting", (int64_t)executor->waiting_nanoseconds);
        gx_member_seconds(json, "held", (int64_t)executor->held_nanoseconds);
        in_call_member(json, r, e);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

/* --- What hurts, and health ------------------------------------------------------------------------------------------- */

static void hurts_member(gx_json *json, const reading *r) {
    gx_hurts hurts;
    gx_hurts_find(&r->served->parts, r->before, r->now, &hurts);
    gx_member_open(json, "hurts", '[');
    for (uint32_t i = 0; i < hurts.count; i++) {
        const gx_hurt *one = &hurts.list[i];
        gx_json_open(json, '{');
        gx_member_text(json, "level", gx_hurt_level_name(one->level));
        gx_member_text(json, "component", one->component);
        gx_json_key(json, gx_str("task"));
        if (one->task)
            gx_json_u64(json, one->task);
        else
            gx_json_null(json);
        gx_member_text(json, "text", one->text);
        gx_member_seconds(json, "since", one->since);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

void gx_gale_health_members(gx_json *json, const gx_healthy *healthy) {
    uint32_t kept = healthy->count < GX_HEALTHY_PROBLEMS ? healthy->count : GX_HEALTHY_PROBLEMS;
    gx_member_bool(json, "live", healthy->live);
    gx_member_bool(json, "ready", healthy->ready);
    gx_member_open(json, "problems", '[');
    for (uint32_t i = 0; i < kept; i++) {
        gx_json_open(json, '{');
        gx_member_text(json, "component", healthy->problems[i].component);
        gx_member_text(json, "text", healthy->problems[i].text);
        gx_member_seconds(json, "since", healthy->problems[i].since);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

static void health_member(gx_json *json, const reading *r) {
    gx_healthy healthy;
    gx_healthy_look(&r->served->parts, r->now, gx_served_checkpoint_interval(r->served),
                    gx_load_relaxed(&r->served->inactive), &healthy);
    gx_member_open(json, "health", '{');
    gx_gale_health_members(json, &healthy);
    gx_json_close(json, '}');
}

/* --- Checkpoints and memory -------------------------------------------------------------------------------------------- */

void gx_gale_checkpoint_json(gx_json *json, const gx_snapshot *now) {
    const gale_checkpoint_stats *c = &now->checkpoint;
    if (!now->durable) {
        gx_json_null(json);
        return;
    }
    gx_json_open(json, '{');
    gx_member_count(json, "number", c->number);
    gx_member_count(json, "resumed", c->resumed);
    gx_member_count(json, "count", c->count);
    gx_member_count(json, "put_off", c->put_off);
    gx_member_seconds(json, "age", c->number || c->resumed ? now->wall - c->wall : -1);
    gx_member_seconds(json, "took", c->took);
    gx_member_seconds(json, "took_p50", c->took_p50);
    gx_member_seconds(json, "took_p99", c->took_p99);
    gx_member_seconds(json, "took_max", c->took_max);
    gx_member_seconds(json, "held", c->held);
    gx_member_seconds(json, "held_p50", c->held_p50);
    gx_member_seconds(json, "held_p99", c->held_p99);
    gx_member_seconds(json, "held_max", c->held_max);
    gx_member_count(json, "bytes", c->bytes);
    gx_member_count(json, "bytes_max", c->bytes_max);
    gx_member_count(json, "dropped", c->dropped);
    gx_member_count(json, "again", c->again);
    gx_member_seconds(json, "owed", c->owed);
    gx_member_bool(json, "complete", c->complete);
    gx_json_close(json, '}');
}

static void memory_member(gx_json *json, const reading *r) {
    const gale_run_stats *run = &r->now->run;
    const char *name;
    uint64_t bytes;
    gx_member_open(json, "memory", '{');
    gx_member_count(json, "in_use", run->memory_in_use);
    gx_member_count(json, "reserved", run->memory_reserved);
    gx_member_open(json, "tags", '[');
    for (uint32_t i = 0; gale_runtime_memory(r->served->runtime, i, &name, &bytes); i++) {
        gx_json_open(json, '{');
        gx_member_text(json, "name", name);
        gx_member_count(json, "bytes", bytes);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
    gx_json_close(json, '}');
}

/* --- Doors -------------------------------------------------------------------------------------------------------- */

/* With the request that is being answered. */
static void doors_member(gx_json *json, const gx_served *served) {
    static const char *const names[GX_SERVED_DOORS] = { "control", "listen" };
    gx_member_open(json, "doors", '[');
    for (int i = 0; i < GX_SERVED_DOORS; i++) {
        if (!served->doors[i]) continue;
        gx_http_live live = gx_http_count(served->doors[i]);
        gx_json_open(json, '{');
        gx_member_text(json, "name", names[i]);
        gx_member_count(json, "connections", live.connections);
        gx_member_count(json, "requests", live.requests);
        gx_member_count(json, "streams", live.streams);
        gx_member_count(json, "unread_bytes", live.unread);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
    gx_member_count(json, "taps", gx_tappers_count(served->tappers));
}

/* --- All of it --------------------------------------------------------------------------------------------------------- */

static void write_now(gx_json *json, const reading *r) {
    const gale_run_stats *run = &r->now->run;
    gx_json_open(json, '{');
    gx_member_number(json, "time", (double)r->now->wall / 1e9);
    gx_member_seconds(json, "uptime", r->now->time - r->served->started_time);
    gx_member_text(json, "phase", gale_phase_name(run->phase));
    gx_member_bool(json, "active", !gx_load_relaxed(&r->served->inactive));
    trees_member(json, run);
    latency_member(json, "complete", &r->now->complete);
    components_member(json, r);
    tasks_member(json, r);
    streams_member(json, r);
    edges_member(json, r);
    executors_member(json, r);
    hurts_member(json, r);
    health_member(json, r);
    gx_json_key(json, gx_str("checkpoint"));
    gx_gale_checkpoint_json(json, r->now);
    memory_member(json, r);
    doors_member(json, r->served);
    gx_json_close(json, '}');
}

void gx_gale_now(const gx_call *call, gx_http_reply *reply) {
    gx_served *served = call->served;
    gx_snapshot *now = gx_snapshot_take(&served->parts, served->runtime);
    gx_noted noted;
    if (!now || !gx_noted_read(served->runtime, &noted)) {
        gx_snapshot_free(now);
        gx_call_refuse(reply, 503, "out of memory");
        return;
    }
    gx_json json = gx_call_json(reply);
    gx_history_lock(served->history);
    reading r = { .served = served,
                  .now = now,
                  .before = gx_history_before(served->history, now->time, 10 * GALE_SECOND),
                  .noted = &noted };
    r.nanoseconds = r.before ? now->time - r.before->time : 0;
    write_now(&json, &r);
    gx_history_unlock(served->history);
    gx_noted_free(&noted);
    gx_snapshot_free(now);
}
