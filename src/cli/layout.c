#include "cli/layout.h"

#include "base/json.h"
#include "base/str.h"
#include "topology/builder.h"
#include "topology/config.h"

#include <ctype.h>

/* Why its tasks are where they are; topology/plan.h has the rules. */
static const char *placement(const gale_topology *topology, const char *name) {
    const gx_component *c = gx_topology_find(topology, name);
    if (!c) return "spread"; /* the engine's own: acker tasks */
    gale_config *config = gx_config_overlay(topology->config, c->config);
    const char *why = gx_component_tasks(topology, c) > 1 ? "spread" : "with its pipeline";
    if (config && gale_config_i64(config, "gale.executor", -1) >= 0) why = "gale.executor";
    if (config && gale_config_bool(config, "gale.blocking", false)) why = "gale.blocking";
    gale_config_free(config);
    return why;
}

static void text_tasks(const gale_topology *topology, const gale_runtime *runtime, gx_buf *out) {
    uint32_t tasks = gale_runtime_task_count(runtime);
    uint32_t executors = gale_runtime_executor_count(runtime);
    gx_buf_format(out, "%s: %u task%s on %u executor%s\n\n%5s  %8s  %-20s  %s\n", gale_topology_name(topology), tasks,
                  gx_plural(tasks), executors, gx_plural(executors), "task", "executor", "component", "because");
    for (uint32_t i = 1; i <= tasks; i++) {
        gale_task_stats task = { .size = sizeof task };
        if (gale_runtime_task_stats(runtime, i, &task))
            gx_buf_format(out, "%5u  %8u  %-20s  %s\n", task.task, task.executor, task.component,
                          placement(topology, task.component));
    }
}

/* "split --FIELDS(word)--> count", as Flux prints it. */
static void text_stream(const gx_component *bolt, const gx_subscription *input, gx_buf *out) {
    gx_buf_format(out, "%s", input->source);
    if (strcmp(input->stream, "default") != 0) gx_buf_format(out, ":%s", input->stream);
    gx_buf_add_text(out, " --");
    for (const char *c = gale_grouping_name(input->grouping); *c; c++)
        gx_buf_add_byte(out, (char)toupper((unsigned char)*c));
    for (uint32_t i = 0; i < input->field_count; i++) gx_buf_format(out, "%s%s", i ? ", " : "(", input->fields[i]);
    gx_buf_format(out, "%s--> %s", input->field_count ? ")" : "", bolt->name);
    if (input->drop) gx_buf_format(out, " (drops the %s)", input->drop == GALE_DROP_OLDEST ? "oldest" : "newest");
    gx_buf_add_text(out, "\n");
}

static void text_streams(const gale_topology *topology, gx_buf *out) {
    gx_buf_add_text(out, "\n");
    for (uint32_t c = 0; c < topology->component_count; c++)
        for (uint32_t i = 0; i < topology->components[c]->input_count; i++)
            text_stream(topology->components[c], &topology->components[c]->inputs[i], out);
}

void gx_layout_text(const gale_topology *topology, const gale_runtime *runtime, gx_buf *out) {
    text_tasks(topology, runtime, out);
    text_streams(topology, out);
}

/* --- JSON --- */

static void text_member(gx_json *json, const char *key, const char *text) {
    gx_json_key(json, gx_str(key));
    gx_json_string(json, gx_str(text));
}

static void number_member(gx_json *json, const char *key, uint64_t number) {
    gx_json_key(json, gx_str(key));
    gx_json_u64(json, number);
}

static void json_tasks(const gale_topology *topology, const gale_runtime *runtime, gx_json *json) {
    gx_json_key(json, gx_str("tasks"));
    gx_json_open(json, '[');
    for (uint32_t i = 1; i <= gale_runtime_task_count(runtime); i++) {
        gale_task_stats task = { .size = sizeof task };
        if (!gale_runtime_task_stats(runtime, i, &task)) continue;
        gx_json_open(json, '{');
        number_member(json, "task", task.task);
        text_member(json, "component", task.component);
        number_member(json, "executor", task.executor);
        text_member(json, "because", placement(topology, task.component));
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

static void json_stream(const gx_component *bolt, const gx_subscription *input, gx_json *json) {
    gx_json_open(json, '{');
    text_member(json, "from", input->source);
    text_member(json, "stream", input->stream);
    text_member(json, "to", bolt->name);
    text_member(json, "grouping", gale_grouping_name(input->grouping));
    gx_json_key(json, gx_str("fields"));
    gx_json_open(json, '[');
    for (uint32_t i = 0; i < input->field_count; i++) gx_json_string(json, gx_str(input->fields[i]));
    gx_json_close(json, ']');
    if (input->drop) {
        text_member(json, "drop", gale_drop_name(input->drop));
    } else {
        gx_json_key(json, gx_str("drop"));
        gx_json_null(json);
    }
    gx_json_close(json, '}');
}

void gx_layout_json(const gale_topology *topology, const gale_runtime *runtime, gx_buf *out) {
    gx_json json = gx_json_to(out);
    gx_json_open(&json, '{');
    text_member(&json, "topology", gale_topology_name(topology));
    number_member(&json, "executors", gale_runtime_executor_count(runtime));
    json_tasks(topology, runtime, &json);
    gx_json_key(&json, gx_str("streams"));
    gx_json_open(&json, '[');
    for (uint32_t c = 0; c < topology->component_count; c++)
        for (uint32_t i = 0; i < topology->components[c]->input_count; i++)
            json_stream(topology->components[c], &topology->components[c]->inputs[i], &json);
    gx_json_close(&json, ']');
    gx_json_close(&json, '}');
    gx_buf_add_byte(out, '\n');
}
