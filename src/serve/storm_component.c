#include "serve/storm_component.h"

#include "serve/debug.h"
#include "serve/member.h"
#include "serve/storm_words.h"

#include <stdio.h>

/* --- What pages share ----------------------------------------------------------------------------------------------------- */

static const gale_unwell *unwell_of(const gx_storm_view *view, const gx_part *part) {
    for (uint32_t i = 0; i < view->now->unwell_count; i++)
        if (view->now->unwell[i].task - part->first_task < part->task_count) return &view->now->unwell[i];
    return NULL;
}

void gx_storm_error_members(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    const gale_unwell *unwell = unwell_of(view, part);
    int64_t lapsed = unwell ? (view->now->time - unwell->since) / GALE_SECOND : 0;
    gx_member_text(json, "lastError", unwell ? unwell->text : "");
    gx_member_text(json, "errorHost", unwell ? view->host : "");
    gx_member_text(json, "errorWorkerLogLink", "");
    if (unwell) {
        gx_member_count(json, "errorPort", view->served->port);
        gx_member_count(json, "errorTime", (uint64_t)(view->now->wall / GALE_SECOND - lapsed));
        gx_member_count(json, "errorLapsedSecs", (uint64_t)lapsed);
        return;
    }
    gx_member_null(json, "errorPort");
    gx_member_null(json, "errorTime");
    gx_member_null(json, "errorLapsedSecs");
}

void gx_storm_debug_members(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    const gx_parts *parts = &view->served->parts;
    double percent = part ? gx_debug_of(view->served->debug, part) : 100;
    for (uint32_t i = 0; !part && i < parts->count; i++) {
        double own = gx_debug_of(view->served->debug, &parts->parts[i]);
        if (parts->parts[i].built && own < percent) percent = own;
    }
    gx_member_bool(json, "debug", percent > 0);
    gx_member_number(json, "samplingPct", percent > 0 ? percent : 10);
}

bool gx_storm_has_one_stream(const gx_part *part) {
    uint32_t count = 0;
    for (uint32_t s = 0; s < part->stream_count; s++) count += gx_part_stream(part, s)[0] != '_';
    return count == 1;
}

/* --- Windows ---------------------------------------------------------------------------------------------------------------- */

static void window_members(gx_json *json, uint32_t window) {
    char text[GX_STORM_WORD];
    gx_member_text(json, "window", gx_storm_window(gx_history_seconds(window), text));
    gx_member_text(json, "windowPretty", gx_storm_window_hint(gx_history_seconds(window), text));
}

static void count_members(gx_json *json, const gx_storm_figures *figures) {
    gx_member_count(json, "emitted", figures->emitted);
    gx_member_count(json, "transferred", figures->transferred);
    gx_member_count(json, "acked", figures->acked);
    gx_member_count(json, "failed", figures->failed);
}

static void bolt_members(gx_json *json, const gx_storm_figures *figures, double capacity) {
    gx_storm_decimal(json, "executeLatency", gx_storm_mean_of(figures->execute));
    gx_member_count(json, "executed", figures->executed);
    gx_storm_decimal(json, "processLatency", gx_storm_mean_of(figures->process));
    gx_storm_decimal(json, "capacity", capacity);
}

static void windows_member(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    gx_member_open(json, part->spout ? "spoutSummary" : "boltStats", '[');
    for (uint32_t window = 0; window < GX_STORM_WINDOWS; window++) {
        gx_storm_figures figures = gx_storm_component(view, part, window);
        gx_json_open(json, '{');
        window_members(json, window);
        count_members(json, &figures);
        if (part->spout)
            gx_storm_decimal(json, "completeLatency", gx_storm_mean_of(figures.complete));
        else
            bolt_members(json, &figures, gx_storm_capacity(view, part));
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

/* --- Inputs, outputs, executors ---------------------------------------------------------------------------------------------- */

static void inputs_member(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    const gx_parts *parts = &view->served->parts;
    gx_member_open(json, "inputStats", '[');
    for (uint32_t e = 0; e < parts->edge_count; e++) {
        const gx_edge *edge = &parts->edges[e];
        if (edge->to != part) continue;
        gx_storm_figures figures = gx_storm_input(view, e);
        gx_json_open(json, '{');
        gx_member_text(json, "component", edge->from->name);
        gx_storm_encoded(json, "encodedComponentId", edge->from->name);
        gx_member_text(json, "stream", edge->subscription->stream);
        gx_storm_decimal(json, "executeLatency", gx_storm_mean_of(figures.execute));
        gx_storm_decimal(json, "processLatency", gx_storm_mean_of(figures.process));
        gx_member_count(json, "executed", figures.executed);
        gx_member_count(json, "acked", figures.acked);
        gx_member_count(json, "failed", figures.failed);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

/* A spout's trees are known of its streams together: they are told of one that is alone. */
static void spout_stream_members(gx_json *json, const gx_storm_view *view, const gx_part *part, uint32_t stream) {
    bool known = gx_storm_has_one_stream(part) && gx_part_stream(part, stream)[0] != '_';
    gx_storm_figures figures = gx_storm_component(view, part, view->window);
    gx_storm_decimal(json, "completeLatency", known ? gx_storm_mean_of(figures.complete) : 0);
    gx_member_count(json, "acked", known ? figures.acked : 0);
    gx_member_count(json, "failed", known ? figures.failed : 0);
}

static void outputs_member(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    gx_member_open(json, "outputStats", '[');
    for (uint32_t s = 0; s < part->stream_count; s++) {
        gx_snapshot_stream stream = gx_storm_stream(view, part, s);
        if (!gx_storm_shows(view, gx_part_stream(part, s))) continue;
        gx_json_open(json, '{');
        gx_member_text(json, "stream", gx_part_stream(part, s));
        gx_member_count(json, "emitted", stream.emitted);
        gx_member_count(json, "transferred", stream.transferred);
        if (part->spout) spout_stream_members(json, view, part, s);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

static void executor_json(gx_json *json, const gx_storm_view *view, const gx_part *part, uint32_t task) {
    char id[32], text[GX_STORM_WORD];
    gx_storm_figures figures = gx_storm_task(view, part, task);
    snprintf(id, sizeof id, "[%u-%u]", task, task);
    gx_json_open(json, '{');
    gx_member_text(json, "id", id);
    gx_storm_encoded(json, "encodedId", id);
    gx_member_text(json, "uptime", gx_storm_uptime(view->uptime, text));
    gx_member_count(json, "uptimeSeconds", (uint64_t)view->uptime);
    gx_member_text(json, "host", view->host);
    gx_member_count(json, "port", view->served->port);
    count_members(json, &figures);
    if (part->spout)
        gx_storm_decimal(json, "completeLatency", gx_storm_mean_of(figures.complete));
    else
        bolt_members(json, &figures, gx_storm_task_capacity(view, task));
    gx_member_text(json, "workerLogLink", "");
    gx_json_close(json, '}');
}

static void executors_member(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    gx_member_open(json, "executorStats", '[');
    for (uint32_t i = 0; i < part->task_count; i++) executor_json(json, view, part, part->first_task + i);
    gx_json_close(json, ']');
}

/* --- The page ---------------------------------------------------------------------------------------------------------------- */

static void errors_member(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    gx_member_open(json, "componentErrors", '[');
    for (uint32_t i = 0; i < view->now->unwell_count; i++) {
        const gale_unwell *one = &view->now->unwell[i];
        int64_t lapsed = (view->now->time - one->since) / GALE_SECOND;
        if (one->task - part->first_task >= part->task_count) continue;
        gx_json_open(json, '{');
        gx_member_count(json, "errorTime", (uint64_t)(view->now->wall / GALE_MILLISECOND - lapsed * 1000));
        gx_member_text(json, "errorHost", view->host);
        gx_member_count(json, "errorPort", view->served->port);
        gx_member_text(json, "errorWorkerLogLink", "");
        gx_member_count(json, "errorLapsedSecs", (uint64_t)lapsed);
        gx_member_text(json, "error", one->text);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

static void head_members(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    char text[GX_STORM_WORD];
    gx_member_text(json, "user", "");
    gx_member_text(json, "id", part->name);
    gx_storm_encoded(json, "encodedId", part->name);
    gx_member_text(json, "name", gale_topology_name(view->served->topology));
    gx_member_text(json, "componentType", part->spout ? "spout" : "bolt");
    gx_member_count(json, "executors", part->task_count);
    gx_member_count(json, "tasks", part->task_count);
    gx_member_number(json, "requestedMemOnHeap", 0);
    gx_member_number(json, "requestedMemOffHeap", 0);
    gx_member_number(json, "requestedCpu", 0);
    gx_member_bool(json, "schedulerDisplayResource", false);
    gx_member_text(json, "topologyId", view->id);
    gx_storm_encoded(json, "encodedTopologyId", view->id);
    gx_member_text(json, "topologyStatus", gx_storm_status(view));
    gx_member_text(json, "window", gx_storm_window(gx_history_seconds(view->window), text));
    gx_member_text(json, "windowHint", gx_storm_window_hint(gx_history_seconds(view->window), text));
}

static void profiler_members(gx_json *json) {
    gx_member_text(json, "eventLogLink", "");
    gx_member_bool(json, "profilingAndDebuggingCapable", false);
    gx_member_bool(json, "profileActionEnabled", false);
    gx_member_open(json, "profilerActive", '[');
    gx_json_close(json, ']');
}

static void write_page(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    gx_json_open(json, '{');
    head_members(json, view, part);
    gx_storm_debug_members(json, view, part);
    profiler_members(json);
    windows_member(json, view, part);
    if (!part->spout) inputs_member(json, view, part);
    outputs_member(json, view, part);
    executors_member(json, view, part);
    errors_member(json, view, part);
    gx_json_close(json, '}');
}

void gx_storm_component_page(const gx_call *call, gx_http_reply *reply) {
    gx_storm_view view;
    const gx_part *part = gx_parts_find(&call->served->parts, call->names[1]);
    if (!gx_storm_open(call, true, reply, &view)) return;
    if (part) {
        gx_json json = gx_call_json(reply);
        write_page(&json, &view, part);
    } else {
        gx_storm_refuse(reply, 404, "Not Found", "the topology has no component of this name");
    }
    gx_storm_close(&view);
}
