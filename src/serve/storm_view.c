#include "serve/storm_view.h"

#include "serve/hurts.h"
#include "serve/member.h"
#include "serve/outcomes.h"

#include <stdio.h>
#include <unistd.h>

void gx_storm_refuse(gx_http_reply *reply, unsigned status, const char *error, const char *message) {
    gx_buf_reset(&reply->body);
    reply->status = status;
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_text(&json, "error", error);
    gx_member_text(&json, "errorMessage", message);
    gx_json_close(&json, '}');
}

/* --- Opening --------------------------------------------------------------------------------------------------------- */

static bool read_window(const gx_call *call, gx_http_reply *reply, uint32_t *ret_window) {
    gale_str text = gx_target_query(call->target, "window");
    *ret_window = GX_HISTORY_ALL;
    if (!text.data || gx_str_is(text, ":all-time")) return true;
    for (uint32_t window = 0; window < GX_HISTORY_WINDOWS; window++) {
        uint64_t number;
        if (!gx_str_number(text, 10, UINT32_MAX, &number) || number != gx_history_seconds(window)) continue;
        *ret_window = window;
        return true;
    }
    gx_storm_refuse(reply, 400, "Bad Request", "window must be 600, 10800, 86400 or :all-time");
    return false;
}

static bool read_windows(gx_storm_view *view) {
    bool read = true;
    gx_history_lock(view->served->history);
    for (uint32_t i = 0; read && i < GX_STORM_WINDOWS; i++) {
        read = gx_history_window(view->served->history, i, view->now->time, &view->begin[i]);
        if (read && !view->begin[i])
            read = (view->begin[i] = gx_snapshot_zero(&view->served->parts, view->served->started_time)) != NULL;
    }
    gx_history_unlock(view->served->history);
    return read;
}

static void name(gx_storm_view *view) {
    snprintf(view->id, sizeof view->id, "%.250s-1-%lld", gale_topology_name(view->served->topology),
             (long long)(view->served->started / GALE_SECOND));
    if (gethostname(view->host, sizeof view->host) != 0) snprintf(view->host, sizeof view->host, "localhost");
    view->host[sizeof view->host - 1] = 0;
}

bool gx_storm_open(const gx_call *call, bool named, gx_http_reply *reply, gx_storm_view *ret_view) {
    gx_storm_view *view = ret_view;
    *view = (gx_storm_view){ .served = call->served, .sys = gx_str_is(gx_target_query(call->target, "sys"), "1") };
    if (!read_window(call, reply, &view->window)) return false;
    name(view);
    if (named && !gx_str_is(call->names[0], view->id) &&
        !gx_str_is(call->names[0], gale_topology_name(call->served->topology))) {
        gx_storm_refuse(reply, 404, "Not Found", "no topology of this id runs here; /api/v1/topology/summary has it");
        return false;
    }
    view->now = gx_snapshot_take(&call->served->parts, call->served->runtime);
    if (view->now && read_windows(view)) {
        view->uptime = (view->now->time - call->served->started_time) / GALE_SECOND;
        return true;
    }
    gx_storm_close(view);
    gx_storm_refuse(reply, 503, "Service Unavailable", "out of memory");
    return false;
}

void gx_storm_close(gx_storm_view *view) {
    gx_snapshot_free(view->now);
    for (uint32_t i = 0; i < GX_STORM_WINDOWS; i++) gx_snapshot_free(view->begin[i]);
}

bool gx_storm_shows(const gx_storm_view *view, const char *shown) {
    return view->sys || strncmp(shown, "__", 2) != 0;
}

const char *gx_storm_status(const gx_storm_view *view) {
    if (view->now->run.phase >= GALE_PHASE_DRAINING) return "KILLED";
    return gx_load_relaxed(&view->served->inactive) ? "INACTIVE" : "ACTIVE";
}

/* --- Figures ---------------------------------------------------------------------------------------------------------- */

static uint64_t more(uint64_t before, uint64_t now) {
    return now > before ? now - before : 0;
}

double gx_storm_mean_of(gx_storm_mean mean) {
    return mean.count > 0 ? mean.sum / mean.count : 0;
}

static gx_storm_mean mean_between(uint64_t count, uint64_t count_now, double sum, double sum_now) {
    gx_storm_mean mean = { (double)more(count, count_now), sum_now > sum ? (sum_now - sum) / 1e6 : 0 };
    return mean;
}

static gx_storm_mean latency(const gx_storm_view *view, const gx_part *part, uint32_t window, gx_snapshot_kind kind) {
    const gx_parts *parts = &view->served->parts;
    const gx_snapshot_latency *a = gx_snapshot_latency_of(view->begin[window], parts, part, kind);
    const gx_snapshot_latency *b = gx_snapshot_latency_of(view->now, parts, part, kind);
    return mean_between(a->count, b->count, a->sum, b->sum);
}

/* Storm has one column for all that is not acked. */
static uint64_t failed_of(const gale_task_stats *stats) {
    uint64_t counts[GX_OUTCOMES];
    gx_outcomes_of_task(stats, counts);
    return gx_outcomes_sum(counts);
}

static gx_storm_figures between(const gale_task_stats *a, const gale_task_stats *b) {
    return (gx_storm_figures){ .emitted = more(a->emitted, b->emitted),
                               .transferred = more(a->transferred, b->transferred),
                               .executed = more(a->executed, b->executed),
                               .acked = more(a->acked, b->acked),
                               .failed = more(failed_of(a), failed_of(b)),
                               .execute = mean_between(a->execute_samples, b->execute_samples,
                                                       (double)a->execute_nanoseconds,
                                                       (double)b->execute_nanoseconds) };
}

gx_storm_figures gx_storm_component(const gx_storm_view *view, const gx_part *part, uint32_t window) {
    gale_task_stats a = gx_snapshot_sum(view->begin[window], part), b = gx_snapshot_sum(view->now, part);
    gx_storm_figures figures = between(&a, &b);
    figures.complete = latency(view, part, window, GX_COMPLETE);
    figures.execute = latency(view, part, window, GX_EXECUTE);
    figures.process = latency(view, part, window, GX_PROCESS);
    return figures;
}

/* Complete and process latency are known of the component's tasks together. */
gx_storm_figures gx_storm_task(const gx_storm_view *view, const gx_part *part, uint32_t task) {
    gx_storm_figures figures = between(&view->begin[view->window]->tasks[task - 1], &view->now->tasks[task - 1]);
    figures.complete = latency(view, part, view->window, GX_COMPLETE);
    figures.process = latency(view, part, view->window, GX_PROCESS);
    return figures;
}

gx_storm_figures gx_storm_input(const gx_storm_view *view, uint32_t edge) {
    const gx_snapshot_edge *a = &view->begin[view->window]->edges[edge], *b = &view->now->edges[edge];
    return (gx_storm_figures){
        .executed = more(a->executed, b->executed),
        .acked = more(a->acked, b->acked),
        .failed = more(a->failed + a->rejected, b->failed + b->rejected),
        .execute = mean_between(a->execute_count, b->execute_count, (double)a->execute_nanoseconds,
                                (double)b->execute_nanoseconds),
        .process = mean_between(a->process_count, b->process_count, (double)a->process_nanoseconds,
                                (double)b->process_nanoseconds),
    };
}

gx_snapshot_stream gx_storm_stream(const gx_storm_view *view, const gx_part *part, uint32_t stream) {
    const gx_snapshot_stream *a = &view->begin[view->window]->streams[part->first_stream + stream];
    const gx_snapshot_stream *b = &view->now->streams[part->first_stream + stream];
    return (gx_snapshot_stream){ more(a->emitted, b->emitted), more(a->transferred, b->transferred) };
}

double gx_storm_capacity(const gx_storm_view *view, const gx_part *part) {
    return gx_hurts_capacity(part, view->begin[0], view->now);
}

double gx_storm_task_capacity(const gx_storm_view *view, uint32_t task) {
    return gx_hurts_busy(&view->begin[0]->tasks[task - 1], &view->now->tasks[task - 1],
                         view->now->time - view->begin[0]->time);
}
