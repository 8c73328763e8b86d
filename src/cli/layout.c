#include "cli/layout.h"

#include "base/json.h"
#include "base/str.h"
#include "topology/builder.h"
#include "topology/config.h"

#include <ctype.h>
#include <string.h>

/* Why its tasks are where they are; topology/plan.h has the rules. A word for programs, and more for people. */
typedef struct reason {
    const char *word;
    const char *more;
} reason;

static reason placement(const gale_topology *topology, const char *name) {
    static const reason own = { "spread", "as evenly as they go" }; /* the engine's: acker tasks */
    static const reason spread = { "spread", "its tasks, as evenly as they go" };
    static const reason together = {
        "with its spout", "one task, beside the first spout that reaches it: to cross costs more than most bolts do"
    };
    static const reason asked = { "gale.executor", "the configuration says so" };
    static const reason blocking = { "gale.blocking", "what blocks has an executor of its own" };
    const gx_component *c = gx_topology_find(topology, name);
    if (!c) return own;
    gale_config *config = gx_config_overlay(topology->config, c->config);
    reason why = gx_component_tasks(topology, c) > 1 ? spread : together;
    if (config && gale_config_i64(config, "gale.executor", -1) >= 0) why = asked;
    if (config && gale_config_bool(config, "gale.blocking", false)) why = blocking;
    gale_config_free(config);
    return why;
}

/* --- What crosses from one executor to another --- */

/* Where a component's tasks are. */
typedef struct spread {
    uint32_t on[GALE_EXECUTORS_MAX];
    uint32_t all;
    uint32_t first; /* the executor of the first */
} spread;

static spread find_spread(const gale_runtime *runtime, const char *component) {
    spread found = { 0 };
    for (uint32_t i = 1; i <= gale_runtime_task_count(runtime); i++) {
        gale_task_stats task = { .size = sizeof task };
        if (!gale_runtime_task_stats(runtime, i, &task) || strcmp(task.component, component) != 0) continue;
        if (!found.all++) found.first = task.executor;
        found.on[task.executor]++;
    }
    return found;
}

typedef struct crossing {
    bool known;
    bool tends;   /* to stay: as long as the executor keeps up */
    double share; /* of the deliveries, if all tasks of the source emit alike */
} crossing;

/* Of what a task on `executor` emits. */
static double share_from(int32_t grouping, const spread *to, uint32_t executor) {
    bool local = grouping == GALE_GROUPING_SHUFFLE || grouping == GALE_GROUPING_LOCAL_OR_SHUFFLE;
    if (grouping == GALE_GROUPING_GLOBAL) return to->first != executor;
    return local && to->on[executor] ? 0 : (double)(to->all - to->on[executor]) / to->all;
}

static crossing find_crossing(const gale_topology *topology, const gale_runtime *runtime, const gx_component *bolt,
                              const gx_subscription *input) {
    const spread from = find_spread(runtime, input->source), to = find_spread(runtime, bolt->name);
    crossing c = { .known = input->grouping != GALE_GROUPING_DIRECT && input->grouping != GALE_GROUPING_CUSTOM };
    int32_t grouping = input->grouping;
    bool even = gale_config_bool(topology->config, "topology.disable.loadaware.messaging", false);
    if (grouping == GALE_GROUPING_SHUFFLE && even) grouping = GALE_GROUPING_NONE;
    for (uint32_t e = 0; c.known && e < gale_runtime_executor_count(runtime); e++) {
        if (!from.on[e]) continue;
        c.share += share_from(grouping, &to, e) * from.on[e] / from.all;
        c.tends |= grouping == GALE_GROUPING_SHUFFLE && to.on[e] < to.all;
    }
    return c;
}

/* --- Text --- */

static void text_tasks(const gale_topology *topology, const gale_runtime *runtime, gx_buf *out) {
    uint32_t tasks = gale_runtime_task_count(runtime);
    uint32_t executors = gale_runtime_executor_count(runtime);
    gx_buf_format(out, "%s: %u task%s on %u executor%s\n\n%5s  %8s  %-20s  %s\n", gale_topology_name(topology), tasks,
                  gx_plural(tasks), executors, gx_plural(executors), "task", "executor", "component", "because");
    for (uint32_t i = 1; i <= tasks; i++) {
        gale_task_stats task = { .size = sizeof task };
        if (!gale_runtime_task_stats(runtime, i, &task)) continue;
        reason why = placement(topology, task.component);
        gx_buf_format(out, "%5u  %8u  %-20s  %s: %s\n", task.task, task.executor, task.component, why.word, why.more);
    }
}

/* A core that is given and not used is worth a word. */
static void text_idle(const gale_runtime *runtime, gx_buf *out) {
    uint32_t used[GALE_EXECUTORS_MAX] = { 0 };
    for (uint32_t i = 1; i <= gale_runtime_task_count(runtime); i++) {
        gale_task_stats task = { .size = sizeof task };
        if (gale_runtime_task_stats(runtime, i, &task)) used[task.executor]++;
    }
    for (uint32_t i = 0; i < gale_runtime_executor_count(runtime); i++)
        if (!used[i])
            gx_buf_format(out, "executor %u has no task, and sleeps: more tasks (parallelism) would use it\n", i);
}

static void text_crossing(crossing c, gx_buf *out) {
    if (c.share > 0)
        gx_buf_format(out, ": %.0f %% to another executor", c.share * 100);
    else if (c.known)
        gx_buf_format(out, ": stays on its executor%s", c.tends ? " while that keeps up" : "");
}

/* "split --FIELDS(word)--> count", as Flux prints it. */
static void text_stream(const gale_topology *topology, const gale_runtime *runtime, const gx_component *bolt,
                        const gx_subscription *input, gx_buf *out) {
    gx_buf_format(out, "%s", input->source);
    if (strcmp(input->stream, "default") != 0) gx_buf_format(out, ":%s", input->stream);
    gx_buf_add_text(out, " --");
    for (const char *c = gale_grouping_name(input->grouping); *c; c++)
        gx_buf_add_byte(out, (char)toupper((unsigned char)*c));
    for (uint32_t i = 0; i < input->field_count; i++) gx_buf_format(out, "%s%s", i ? ", " : "(", input->fields[i]);
    gx_buf_format(out, "%s--> %s", input->field_count ? ")" : "", bolt->name);
    if (input->drop) gx_buf_format(out, " (drops the %s)", input->drop == GALE_DROP_OLDEST ? "oldest" : "newest");
    if (gale_runtime_executor_count(runtime) > 1) text_crossing(find_crossing(topology, runtime, bolt, input), out);
    gx_buf_add_text(out, "\n");
}

static void text_streams(const gale_topology *topology, const gale_runtime *runtime, gx_buf *out) {
    gx_buf_add_text(out, "\n");
    for (uint32_t c = 0; c < topology->component_count; c++)
        for (uint32_t i = 0; i < topology->components[c]->input_count; i++)
            text_stream(topology, runtime, topology->components[c], &topology->components[c]->inputs[i], out);
}

void gx_layout_text(const gale_topology *topology, const gale_runtime *runtime, gx_buf *out) {
    text_tasks(topology, runtime, out);
    text_idle(runtime, out);
    text_streams(topology, runtime, out);
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
        text_member(json, "because", placement(topology, task.component).word);
        gx_json_close(json, '}');
    }
    gx_json_close(json, ']');
}

/* 0 for what stays, null for what nobody knows before it is emitted. */
static void json_crossing(crossing c, gx_json *json) {
    gx_json_key(json, gx_str("crosses"));
    if (c.known)
        gx_json_f64(json, c.share);
    else
        gx_json_null(json);
}

static void json_stream(const gale_topology *topology, const gale_runtime *runtime, const gx_component *bolt,
                        const gx_subscription *input, gx_json *json) {
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
    json_crossing(find_crossing(topology, runtime, bolt, input), json);
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
            json_stream(topology, runtime, topology->components[c], &topology->components[c]->inputs[i], &json);
    gx_json_close(&json, ']');
    gx_json_close(&json, '}');
    gx_buf_add_byte(out, '\n');
}
