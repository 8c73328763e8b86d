#include "serve/gale_about.h"

#include "draw/json.h"
#include "serve/gale_now.h"
#include "serve/history.h"
#include "serve/member.h"
#include "serve/redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- The topology -------------------------------------------------------------------------------------------------- */

static void fields_member(gx_json *json, char *const *fields, uint32_t count) {
    gx_member_open(json, "fields", '[');
    for (uint32_t i = 0; i < count; i++) gx_json_string(json, gx_str(fields[i]));
    gx_json_close(json, ']');
}

static void component_json(gx_json *json, const gx_part *part) {
    gx_json_open(json, '{');
    gx_member_text(json, "name", part->name);
    gx_member_text(json, "kind", part->spout ? "spout" : "bolt");
    gx_member_text(json, "class", part->built ? part->built->class_name : NULL);
    gx_member_count(json, "tasks", part->task_count);
    gx_member_open(json, "streams", '[');
    for (uint32_t s = 0; s < part->stream_count; s++) {
        const gx_output *output = &part->built->outputs[s];
        gx_json_open(json, '{');
        gx_member_text(json, "name", output->name);
        fields_member(json, output->fields, output->field_count);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
    gx_json_close(json, '}');
}

static void edge_json(gx_json *json, const gx_edge *edge, uint32_t id) {
    const gx_subscription *input = edge->subscription;
    gx_json_open(json, '{');
    gx_member_count(json, "id", id);
    gx_member_text(json, "from", edge->from->name);
    gx_member_text(json, "stream", input->stream);
    gx_member_text(json, "to", edge->to->name);
    gx_member_text(json, "grouping", gale_grouping_name(input->grouping));
    fields_member(json, input->fields, input->field_count);
    gx_member_text(json, "drop", input->drop ? gale_drop_name(input->drop) : NULL);
    gx_json_close(json, '}');
}

static void head_members(gx_json *json, const gx_served *served) {
    gale_checkpoint_stats checkpoint = { .size = sizeof checkpoint };
    gx_member_text(json, "name", gale_topology_name(served->topology));
    gx_member_text(json, "version", gale_version());
    gx_member_count(json, "pid", (uint64_t)getpid());
    gx_member_number(json, "started", (double)served->started / 1e9);
    gx_member_text(json, "file", served->file);
    gx_member_bool(json, "durable", gale_runtime_checkpoint_stats(served->runtime, &checkpoint));
    gx_member_count(json, "executors", gale_runtime_executor_count(served->runtime));
}

/* Null where it is too large to be drawn, or memory is out. */
static void drawing_member(gx_json *json, const gale_topology *topology) {
    gx_heap heap;
    gx_graph graph;
    gx_drawing drawing;
    gx_heap_init(&heap, NULL);
    gx_json_key(json, gx_str("drawing"));
    bool whole = gx_graph_new(&heap, topology, &graph, NULL) == GALE_OK;
    bool drawn = whole && gx_drawing_new(&heap, &graph, false, &drawing, NULL) == GALE_OK;
    if (drawn)
        gx_drawing_json(&drawing, json);
    else
        gx_json_null(json);
    if (drawn) gx_drawing_free(&drawing);
    if (whole) gx_graph_free(&graph);
}

void gx_gale_topology(const gx_call *call, gx_http_reply *reply) {
    const gx_served *served = call->served;
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    head_members(&json, served);
    gx_member_open(&json, "components", '[');
    for (uint32_t i = 0; i < served->parts.count; i++) component_json(&json, &served->parts.parts[i]);
    gx_json_close(&json, ']');
    gx_member_open(&json, "edges", '[');
    for (uint32_t i = 0; i < served->parts.edge_count; i++) edge_json(&json, &served->parts.edges[i], i);
    gx_json_close(&json, ']');
    gx_json_key(&json, gx_str("configuration"));
    gx_redact_config(&json, gale_topology_config(served->topology));
    drawing_member(&json, served->topology);
    gx_json_close(&json, '}');
}

/* --- What was ------------------------------------------------------------------------------------------------------ */

/* Samples from `first` on. */
typedef struct past {
    const gx_served *served;
    uint32_t first, count;
} past;

static past past_of(const gx_served *served, uint64_t seconds) {
    const gx_history *history = served->history;
    const gx_sample_part *parts;
    past p = { served, 0, gx_history_count(history) };
    if (!p.count) return p;
    int64_t begin = gx_history_sample(history, p.count - 1, &parts)->time - (int64_t)seconds * GALE_SECOND;
    while (p.first < p.count && gx_history_sample(history, p.first, &parts)->time < begin) p.first++;
    return p;
}

static const gx_sample *sample_of(const past *p, uint32_t index) {
    const gx_sample_part *parts;
    return gx_history_sample(p->served->history, index, &parts);
}

/* A second's, between the sample before and this one; the first of all is null. */
static void rate_json(gx_json *json, const past *p, uint32_t index, uint64_t before, uint64_t now) {
    int64_t passed = index ? sample_of(p, index)->time - sample_of(p, index - 1)->time : 0;
    if (passed > 0)
        gx_json_f64(json, now > before ? (double)(now - before) * 1e9 / (double)passed : 0);
    else
        gx_json_null(json);
}

#define RATES(p, json, field)                                                                                          \
    do {                                                                                                               \
        gx_member_open(json, #field, '[');                                                                             \
        for (uint32_t i = (p)->first; i < (p)->count; i++)                                                             \
            rate_json(json, p, i, i ? sample_of(p, i - 1)->field : 0, sample_of(p, i)->field);                         \
        gx_json_close(json, ']');                                                                                      \
    } while (0)

/* Negative: it is not known, and becomes null. */
static double seconds_of(int64_t nanoseconds) {
    return nanoseconds < 0 ? (double)NAN : (double)nanoseconds / 1e9;
}

static void totals_members(gx_json *json, const past *p) {
    gx_member_open(json, "times", '[');
    for (uint32_t i = p->first; i < p->count; i++) gx_json_f64(json, (double)sample_of(p, i)->wall / 1e9);
    gx_json_close(json, ']');
    RATES(p, json, trees);
    RATES(p, json, acked);
    RATES(p, json, failed);
    RATES(p, json, emitted);
    gx_member_open(json, "open", '[');
    for (uint32_t i = p->first; i < p->count; i++) gx_json_u64(json, sample_of(p, i)->open);
    gx_json_close(json, ']');
    gx_member_open(json, "p50", '[');
    for (uint32_t i = p->first; i < p->count; i++) gx_json_f64(json, seconds_of(sample_of(p, i)->p50));
    gx_json_close(json, ']');
    gx_member_open(json, "p99", '[');
    for (uint32_t i = p->first; i < p->count; i++) gx_json_f64(json, seconds_of(sample_of(p, i)->p99));
    gx_json_close(json, ']');
}

static void component_member(gx_json *json, const past *p, uint32_t part) {
    const gx_history *history = p->served->history;
    const gx_sample_part *before, *now;
    gx_member_open(json, p->served->parts.parts[part].name, '{');
    gx_member_open(json, "executed", '[');
    for (uint32_t i = p->first; i < p->count; i++) {
        gx_history_sample(history, i ? i - 1 : 0, &before);
        gx_history_sample(history, i, &now);
        rate_json(json, p, i, before[part].executed, now[part].executed);
    }
    gx_json_close(json, ']');
    gx_member_open(json, "queued_bytes", '[');
    for (uint32_t i = p->first; i < p->count; i++) {
        gx_history_sample(history, i, &now);
        gx_json_u64(json, now[part].queued_bytes);
    }
    gx_json_close(json, ']');
    gx_json_close(json, '}');
}

void gx_gale_history(const gx_call *call, gx_http_reply *reply) {
    uint64_t seconds;
    if (!gx_call_number(call, reply, "seconds", GX_HISTORY_SAMPLES, 1, GX_HISTORY_SAMPLES, &seconds)) return;
    gx_history_lock(call->served->history);
    past p = past_of(call->served, seconds);
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    totals_members(&json, &p);
    gx_member_open(&json, "components", '{');
    for (uint32_t i = 0; i < call->served->parts.count; i++) component_member(&json, &p, i);
    gx_json_close(&json, '}');
    gx_json_close(&json, '}');
    gx_history_unlock(call->served->history);
}

/* --- Open trees ----------------------------------------------------------------------------------------------------- */

static void tree_json(gx_json *json, const gale_open_tree *tree) {
    static const char *const places[] = { "unknown", "queued", "parked", "forgotten", "held", "executing", "waiting" };
    char id[24];
    snprintf(id, sizeof id, "%llu", (unsigned long long)tree->message_id);
    gx_json_open(json, '{');
    gx_member_text(json, "spout", tree->spout);
    gx_member_text(json, "message_id", id);
    gx_member_seconds(json, "age", tree->age);
    gx_member_text(json, "place", tree->place < GALE_PLACE_COUNT ? places[tree->place] : places[0]);
    gx_member_text(json, "component", tree->component);
    gx_member_text(json, "text", tree->text);
    gx_json_close(json, '}');
}

void gx_gale_open_trees(const gx_call *call, gx_http_reply *reply) {
    uint64_t room;
    if (!gx_call_number(call, reply, "max", 50, 1, GALE_OPEN_TREES_MAX, &room)) return;
    gale_open_tree *trees = calloc(room, sizeof *trees);
    if (trees) trees[0].size = sizeof *trees;
    int count = trees ? gale_runtime_open_trees(call->served->runtime, trees, (uint32_t)room, 200 * GALE_MILLISECOND)
                      : GALE_NO_MEMORY;
    if (count == GALE_AGAIN)
        gx_call_refuse(reply, 503, "the spouts' executors did not answer in time: they are in slow calls");
    else if (count < 0)
        gx_call_refuse(reply, 503, "%s", gale_error_text(count));
    if (count >= 0) {
        gx_json json = gx_call_json(reply);
        gx_json_open(&json, '[');
        for (int i = 0; i < count && i < (int)room; i++) tree_json(&json, &trees[i]);
        gx_json_close(&json, ']');
    }
    free(trees);
}

/* --- Checkpoints ---------------------------------------------------------------------------------------------------- */

void gx_gale_checkpoints(const gx_call *call, gx_http_reply *reply) {
    gx_snapshot *now = gx_snapshot_take(&call->served->parts, call->served->runtime);
    if (!now) {
        gx_call_refuse(reply, 503, "out of memory");
        return;
    }
    gx_json json = gx_call_json(reply);
    gx_gale_checkpoint_json(&json, now);
    gx_snapshot_free(now);
}
