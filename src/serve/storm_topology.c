#include "serve/storm_topology.h"

#include "serve/member.h"
#include "serve/storm_cluster.h"
#include "serve/storm_component.h"
#include "serve/storm_words.h"

#include <stdio.h>

typedef void write_fn(gx_json *json, const gx_storm_view *view);

/* Of the topology that the path names. */
static void serve(const gx_call *call, gx_http_reply *reply, write_fn *write) {
    gx_storm_view view;
    if (!gx_storm_open(call, true, reply, &view)) return;
    gx_json json = gx_call_json(reply);
    write(&json, &view);
    gx_storm_close(&view);
}

/* --- The topology's page ----------------------------------------------------------------------------------------------------- */

static void add_mean(gx_storm_mean *sum, gx_storm_mean one) {
    sum->count += one.count;
    sum->sum += one.sum;
}

/* Emits are those of all components; trees are the spouts'. */
static void stats_json(gx_json *json, const gx_storm_view *view, uint32_t window) {
    const gx_parts *parts = &view->served->parts;
    gx_storm_figures sum = { 0 };
    char text[GX_STORM_WORD];
    for (uint32_t i = 0; i < parts->count; i++) {
        gx_storm_figures one = gx_storm_component(view, &parts->parts[i], window);
        if (!gx_storm_shows(view, parts->parts[i].name)) continue;
        sum.emitted += one.emitted;
        sum.transferred += one.transferred;
        if (!parts->parts[i].spout) continue;
        sum.acked += one.acked;
        sum.failed += one.failed;
        add_mean(&sum.complete, one.complete);
    }
    gx_json_open(json, '{');
    gx_member_text(json, "windowPretty", gx_storm_window_hint(gx_history_seconds(window), text));
    gx_member_text(json, "window", gx_storm_window(gx_history_seconds(window), text));
    gx_member_count(json, "emitted", sum.emitted);
    gx_member_count(json, "transferred", sum.transferred);
    gx_storm_decimal(json, "completeLatency", gx_storm_mean_of(sum.complete));
    gx_member_count(json, "acked", sum.acked);
    gx_member_count(json, "failed", sum.failed);
    gx_json_close(json, '}');
}

static void component_json(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    gx_storm_figures figures = gx_storm_component(view, part, view->window);
    gx_json_open(json, '{');
    gx_member_text(json, part->spout ? "spoutId" : "boltId", part->name);
    gx_storm_encoded(json, part->spout ? "encodedSpoutId" : "encodedBoltId", part->name);
    gx_member_count(json, "executors", part->task_count);
    gx_member_count(json, "tasks", part->task_count);
    gx_member_count(json, "emitted", figures.emitted);
    gx_member_count(json, "transferred", figures.transferred);
    gx_member_count(json, "acked", figures.acked);
    gx_member_count(json, "failed", figures.failed);
    if (part->spout) {
        gx_storm_decimal(json, "completeLatency", gx_storm_mean_of(figures.complete));
    } else {
        gx_storm_decimal(json, "capacity", gx_storm_capacity(view, part));
        gx_storm_decimal(json, "executeLatency", gx_storm_mean_of(figures.execute));
        gx_member_count(json, "executed", figures.executed);
        gx_storm_decimal(json, "processLatency", gx_storm_mean_of(figures.process));
    }
    gx_member_number(json, "requestedMemOnHeap", 0);
    gx_member_number(json, "requestedMemOffHeap", 0);
    gx_member_number(json, "requestedCpu", 0);
    gx_storm_error_members(json, view, part);
    gx_json_close(json, '}');
}

static void components_member(gx_json *json, const gx_storm_view *view, bool spouts) {
    const gx_parts *parts = &view->served->parts;
    gx_member_open(json, spouts ? "spouts" : "bolts", '[');
    for (uint32_t i = 0; i < parts->count; i++)
        if (parts->parts[i].spout == spouts && gx_storm_shows(view, parts->parts[i].name))
            component_json(json, view, &parts->parts[i]);
    gx_json_close(json, ']');
}

static void window_members(gx_json *json, const gx_storm_view *view, const char *hint) {
    char text[GX_STORM_WORD];
    gx_member_text(json, "window", gx_storm_window(gx_history_seconds(view->window), text));
    gx_member_text(json, hint, gx_storm_window_hint(gx_history_seconds(view->window), text));
}

static void write_topology(gx_json *json, const gx_storm_view *view) {
    const gale_config *config = gale_topology_config(view->served->topology);
    gx_json_open(json, '{');
    gx_storm_summary_members(json, view);
    gx_member_text(json, "user", "");
    window_members(json, view, "windowHint");
    gx_member_count(json, "msgTimeout", (uint64_t)gale_config_f64(config, "topology.message.timeout.secs", 30));
    gx_member_bool(json, "schedulerDisplayResource", false);
    gx_member_open(json, "topologyStats", '[');
    for (uint32_t window = 0; window < GX_STORM_WINDOWS; window++) stats_json(json, view, window);
    gx_json_close(json, ']');
    components_member(json, view, true);
    components_member(json, view, false);
    gx_member_open(json, "workers", '[');
    gx_storm_worker_json(json, view);
    gx_json_close(json, ']');
    gx_json_key(json, gx_str("configuration"));
    gx_storm_configuration(json, view->served);
    gx_storm_debug_members(json, view, NULL);
    gx_member_open(json, "visualizationTable", '[');
    gx_json_close(json, ']');
    gx_json_close(json, '}');
}

void gx_storm_topology(const gx_call *call, gx_http_reply *reply) {
    serve(call, reply, write_topology);
}

static void write_workers(gx_json *json, const gx_storm_view *view) {
    gx_json_open(json, '{');
    gx_member_open(json, "hostPortList", '[');
    gx_json_open(json, '{');
    gx_member_text(json, "host", view->host);
    gx_member_count(json, "port", view->served->port);
    gx_json_close(json, '}');
    gx_json_close(json, ']');
    gx_member_count(json, "logviewerPort", 0);
    gx_json_close(json, '}');
}

void gx_storm_topology_workers(const gx_call *call, gx_http_reply *reply) {
    serve(call, reply, write_workers);
}

/* Storm's knows what a topic has beyond its spouts; gale's sources tell no such thing. */
static void write_lag(gx_json *json, const gx_storm_view *view) {
    (void)view;
    gx_json_open(json, '{');
    gx_json_close(json, '}');
}

void gx_storm_topology_lag(const gx_call *call, gx_http_reply *reply) {
    serve(call, reply, write_lag);
}

/* --- Metrics by stream --------------------------------------------------------------------------------------------------------- */

typedef enum figure { EMITTED, TRANSFERRED, ACKED, FAILED, EXECUTED, COMPLETE, EXECUTE, PROCESS } figure;

static void value_member(gx_json *json, const gx_storm_figures *figures, figure which) {
    const uint64_t counts[] = { figures->emitted, figures->transferred, figures->acked, figures->failed,
                                figures->executed };
    const gx_storm_mean means[] = { figures->complete, figures->execute, figures->process };
    if (which < COMPLETE)
        gx_member_count(json, "value", counts[which]);
    else
        gx_storm_decimal(json, "value", gx_storm_mean_of(means[which - COMPLETE]));
}

static void output_member(gx_json *json, const gx_storm_view *view, const gx_part *part, const char *key,
                          figure which) {
    gx_storm_figures all = gx_storm_component(view, part, view->window);
    gx_member_open(json, key, '[');
    for (uint32_t s = 0; s < part->stream_count; s++) {
        gx_snapshot_stream stream = gx_storm_stream(view, part, s);
        bool counts = which == EMITTED || which == TRANSFERRED;
        if (!gx_storm_shows(view, gx_part_stream(part, s))) continue;
        if (!counts && (!gx_storm_has_one_stream(part) || gx_part_stream(part, s)[0] == '_')) continue;
        all.emitted = stream.emitted;
        all.transferred = stream.transferred;
        gx_json_open(json, '{');
        gx_member_text(json, "stream_id", gx_part_stream(part, s));
        value_member(json, &all, which);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

static void input_member(gx_json *json, const gx_storm_view *view, const gx_part *part, const char *key, figure which) {
    const gx_parts *parts = &view->served->parts;
    gx_member_open(json, key, '[');
    for (uint32_t e = 0; e < parts->edge_count; e++) {
        const gx_edge *edge = &parts->edges[e];
        if (edge->to != part) continue;
        gx_storm_figures figures = gx_storm_input(view, e);
        gx_json_open(json, '{');
        gx_member_text(json, "component_id", edge->from->name);
        gx_member_text(json, "stream_id", edge->subscription->stream);
        value_member(json, &figures, which);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

static void part_metrics(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    gx_json_open(json, '{');
    gx_member_text(json, "id", part->name);
    output_member(json, view, part, "emitted", EMITTED);
    output_member(json, view, part, "transferred", TRANSFERRED);
    if (part->spout) {
        output_member(json, view, part, "acked", ACKED);
        output_member(json, view, part, "failed", FAILED);
        output_member(json, view, part, "complete_ms_avg", COMPLETE);
    } else {
        input_member(json, view, part, "acked", ACKED);
        input_member(json, view, part, "failed", FAILED);
        input_member(json, view, part, "process_ms_avg", PROCESS);
        input_member(json, view, part, "executed", EXECUTED);
        input_member(json, view, part, "executed_ms_avg", EXECUTE);
    }
    gx_json_close(json, '}');
}

static void write_metrics(gx_json *json, const gx_storm_view *view) {
    const gx_parts *parts = &view->served->parts;
    gx_json_open(json, '{');
    window_members(json, view, "window-hint");
    for (int spouts = 1; spouts >= 0; spouts--) {
        gx_member_open(json, spouts ? "spouts" : "bolts", '[');
        for (uint32_t i = 0; i < parts->count; i++)
            if (parts->parts[i].spout == spouts && gx_storm_shows(view, parts->parts[i].name))
                part_metrics(json, view, &parts->parts[i]);
        gx_json_close(json, ']');
    }
    gx_json_close(json, '}');
}

void gx_storm_topology_metrics(const gx_call *call, gx_http_reply *reply) {
    serve(call, reply, write_metrics);
}

/* --- The visualization ------------------------------------------------------------------------------------------------------- */

/* Was the stream's name there before this edge? */
static bool is_again(const gx_parts *parts, uint32_t edge) {
    for (uint32_t e = 0; e < edge; e++)
        if (strcmp(parts->edges[e].subscription->stream, parts->edges[edge].subscription->stream) == 0) return true;
    return false;
}

/* The streams, in rows of four. */
static void write_visualization_init(gx_json *json, const gx_storm_view *view) {
    const gx_parts *parts = &view->served->parts;
    uint32_t count = 0;
    gx_json_open(json, '{');
    gx_member_open(json, "visualizationTable", '[');
    for (uint32_t e = 0; e < parts->edge_count; e++) {
        const char *stream = parts->edges[e].subscription->stream;
        if (is_again(parts, e) || !gx_storm_shows(view, stream)) continue;
        if (count && count % 4 == 0) gx_json_close(json, ']');
        if (count++ % 4 == 0) gx_json_open(json, '[');
        gx_json_open(json, '{');
        gx_member_text(json, "stream", stream);
        gx_storm_sanitized(json, "sani-stream", stream);
        gx_member_bool(json, "checked", stream[0] != '_');
        gx_json_close(json, '}');
    }
    if (count) gx_json_close(json, ']');
    gx_json_close(json, ']');
    gx_json_close(json, '}');
}

void gx_storm_visualization_init(const gx_call *call, gx_http_reply *reply) {
    serve(call, reply, write_visualization_init);
}

static void transferred_member(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    gx_member_open(json, ":transferred", '{');
    for (uint32_t s = 0; s < part->stream_count; s++)
        if (gx_storm_shows(view, gx_part_stream(part, s)))
            gx_member_count(json, gx_part_stream(part, s), gx_storm_stream(view, part, s).transferred);
    gx_json_close(json, '}');
}

static void executor_stats(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    char window[GX_STORM_WORD];
    gx_storm_window(gx_history_seconds(view->window), window);
    gx_member_open(json, ":stats", '[');
    for (uint32_t i = 0; i < part->task_count; i++) {
        gx_storm_figures figures = gx_storm_task(view, part, part->first_task + i);
        gx_json_open(json, '{');
        gx_member_text(json, ":host", view->host);
        gx_member_count(json, ":port", view->served->port);
        gx_member_count(json, ":uptime_secs", (uint64_t)view->uptime);
        gx_member_open(json, ":transferred", '{');
        gx_member_open(json, window, '{');
        gx_member_count(json, "default", figures.transferred);
        gx_json_close(json, '}');
        gx_json_close(json, '}');
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

static void visual_inputs(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    const gx_parts *parts = &view->served->parts;
    gx_member_open(json, ":inputs", '[');
    for (uint32_t e = 0; e < parts->edge_count; e++) {
        const gx_edge *edge = &parts->edges[e];
        if (edge->to != part) continue;
        gx_json_open(json, '{');
        gx_member_text(json, ":component", edge->from->name);
        gx_member_text(json, ":stream", edge->subscription->stream);
        gx_storm_sanitized(json, ":sani-stream", edge->subscription->stream);
        gx_member_text(json, ":grouping", gale_grouping_name(edge->subscription->grouping));
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

static void visual_json(gx_json *json, const gx_storm_view *view, const gx_part *part) {
    gx_storm_figures figures = gx_storm_component(view, part, view->window);
    gx_member_open(json, part->name, '{');
    gx_member_text(json, ":type", part->spout ? "spout" : "bolt");
    gx_member_number(json, ":capacity", part->spout ? 0 : gx_storm_capacity(view, part));
    gx_member_number(json, ":latency", gx_storm_mean_of(part->spout ? figures.complete : figures.process));
    transferred_member(json, view, part);
    executor_stats(json, view, part);
    gx_member_text(json, ":link", "/");
    visual_inputs(json, view, part);
    gx_json_close(json, '}');
}

static void write_visualization(gx_json *json, const gx_storm_view *view) {
    const gx_parts *parts = &view->served->parts;
    gx_json_open(json, '{');
    for (uint32_t i = 0; i < parts->count; i++)
        if (gx_storm_shows(view, parts->parts[i].name)) visual_json(json, view, &parts->parts[i]);
    gx_json_close(json, '}');
}

void gx_storm_visualization(const gx_call *call, gx_http_reply *reply) {
    serve(call, reply, write_visualization);
}
