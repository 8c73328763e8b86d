/* gale_runtime_redeliver: checks a letter against the topology, and puts it into the inbox of one of its spout's tasks. */
#include "base/nearest.h"
#include "base/str.h"
#include "runtime/runtime.h"

#include <string.h>

enum { HINT = 160 };

static const gx_plan_component *find_spout(const gx_plan *plan, const char *name, gale_error *error) {
    char hint[HINT];
    gx_nearest nearest = gx_nearest_to(gx_str(name));
    for (uint32_t i = 0; i < plan->component_count; i++) {
        const gx_plan_component *c = &plan->components[i];
        if (!c->built->is_spout) continue;
        gx_nearest_offer(&nearest, gx_str(c->built->name));
        if (strcmp(c->built->name, name) == 0) return c;
    }
    gale_error_set(error, GALE_NOT_FOUND, "there is no spout '%.100s'%s", name,
                   gx_nearest_hint(&nearest, hint, sizeof hint));
    return NULL;
}

static int find_stream(const gx_plan_component *spout, const char *name, size_t count, gale_error *error) {
    for (uint32_t i = 0; i + 1 < spout->stream_count; i++) { /* the last one is the engine's own */
        if (strcmp(spout->schema.streams[i].name, name) != 0) continue;
        if (spout->schema.streams[i].field_count == count) return (int)i;
        return gale_error_set(error, GALE_FIELDS, "stream '%.100s' of '%s' has %u fields, the letter %zu", name,
                              spout->built->name, (unsigned)spout->schema.streams[i].field_count, count);
    }
    return gale_error_set(error, GALE_NOT_FOUND, "spout '%s' has no stream '%.100s'", spout->built->name, name);
}

static int put(gale_runtime *runtime, const gx_plan_component *spout, gx_command head,
               const gx_command_content *content, gale_error *error) {
    uint16_t task = (uint16_t)(spout->first_task + head.id % spout->task_count);
    head.task = task;
    gx_executor *ex = runtime->shared.tasks[task]->executor;
    int rc = gx_inbox_put(ex->inbox, GX_INBOX_SPOUTS, head, content, NULL);
    if (rc == GALE_AGAIN)
        gale_error_set(error, rc, "as much waits for spout '%s' as may; later there is room again", spout->built->name);
    else if (rc < 0)
        gale_error_set(error, rc, "%s", rc == GALE_STOPPED ? "the topology ends" : gale_error_text(rc));
    return rc;
}

int gale_runtime_redeliver(gale_runtime *runtime, const char *spout, const char *stream, uint64_t message_id,
                           const gale_value *values, size_t count, gale_error *error) {
    if (!gx_runtime_is(runtime) || !spout || !stream || (count && !values))
        return gale_error_set(error, GALE_INVALID, "a runtime, a spout, a stream and values are needed");
    const gx_plan_component *of = find_spout(runtime->plan, spout, error);
    if (!of) return GALE_NOT_FOUND;
    if (!of->retains)
        return gale_error_set(error, GALE_STATE,
                              "spout '%s' has neither replay nor dead letters (topology.replay.attempts, "
                              "topology.dead_letters.file): nobody would see how it ends",
                              spout);
    int index = find_stream(of, stream, count, error);
    if (index < 0) return index;
    const gx_command head = { .kind = GX_COMMAND_LETTER, .stream = (uint32_t)index, .id = message_id };
    const gx_command_content content = { .values = values, .count = count };
    return put(runtime, of, head, &content, error);
}
