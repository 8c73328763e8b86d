#include "runtime/durable_warning.h"

#include "base/log.h"
#include "runtime/image.h"

#include <gale/state.h>

static void warn(const gx_shared *shared, const char *component, const char *text) {
    if (gx_log_wanted(&shared->logger, GALE_LOG_WARN)) gale_log(&shared->logger, GALE_LOG_WARN, component, "%s", text);
}

/* Without a way to go on, what is open when the run ends is the source's to give again. */
static void look_at_spout(const gx_shared *shared, const gx_component *spout) {
    const gale_durable_ops *durable = spout->spout.durable;
    if (durable && (durable->restore || durable->flags & (GALE_DURABLE_STATELESS | GALE_DURABLE_KEYED))) return;
    warn(shared, spout->name,
         "the run is durable, and this spout saves no position: after a start its source begins as it will, and what "
         "stood behind the last checkpoint may come twice, or not at all");
}

/* One without `prepare` has no instance that could remember anything. */
static void look_at_bolt(const gx_shared *shared, const gx_component *bolt) {
    if (bolt->bolt.durable || !bolt->bolt.prepare) return;
    warn(shared, bolt->name,
         "the run is durable, and this bolt does not say what it keeps (gale/state.h): it begins empty after a start, "
         "and "
         "what it held comes again");
}

void gx_durable_warning(const gx_shared *shared) {
    for (uint32_t c = 0; c < shared->plan->component_count; c++) {
        const gx_component *built = shared->plan->components[c].built;
        if (!built) continue;
        if (built->is_spout)
            look_at_spout(shared, built);
        else
            look_at_bolt(shared, built);
    }
}

/* --- Without a store --- */

enum { NAMED = 3 }; /* of those that forget */

/* Does it keep something that it alone has? */
static bool forgets(const gx_plan_component *component) {
    const gale_durable_ops *durable = gx_image_durable(component);
    return durable && !(durable->flags & (GALE_DURABLE_STATELESS | GALE_DURABLE_OUTSIDE)) &&
           (durable->save || durable->flags & GALE_DURABLE_KEYED);
}

/* Marks what a component feeds, and what that feeds. */
static void mark_behind(const gx_plan *plan, uint32_t component, bool *marks) {
    const gx_plan_component *from = &plan->components[component];
    for (uint32_t s = 0; s < from->stream_count; s++)
        for (uint32_t e = 0; e < from->streams[s].edge_count; e++) {
            uint32_t to = from->streams[s].edges[e].component;
            if (marks[to]) continue;
            marks[to] = true;
            mark_behind(plan, to, marks);
        }
}

static bool remembers(const gx_shared *shared, const gx_plan_component *component) {
    for (uint32_t i = 0; i < component->task_count; i++)
        if (shared->tasks[component->first_task + i]->remembers) return true;
    return false;
}

/* "'a', 'b', 'c' and 2 more"; nothing when none forgets. */
static void name_those(const gx_plan *plan, const bool *marks, gx_buf *out) {
    uint32_t count = 0;
    for (uint32_t c = 0; c < plan->component_count; c++) {
        if (!marks[c] || !forgets(&plan->components[c])) continue;
        if (count++ < NAMED) gx_buf_format(out, "%s'%s'", count > 1 ? ", " : "", plan->components[c].schema.name);
    }
    if (count > NAMED) gx_buf_format(out, " and %u more", count - NAMED);
}

static void look_behind(const gx_shared *shared, uint32_t spout) {
    gx_heap *heap = (gx_heap *)(uintptr_t)&shared->heap;
    const gx_plan *plan = shared->plan;
    gx_buf names = GX_BUF_INIT(heap);
    bool *marks = gx_alloc_array(heap, GX_TAG_OTHER, plan->component_count, sizeof *marks);
    if (marks) {
        mark_behind(plan, spout, marks);
        name_those(plan, marks, &names);
    }
    const char *text = gx_buf_text(&names);
    if (text && *text)
        gale_log(
            &shared->logger, GALE_LOG_WARN, plan->components[spout].schema.name,
            "remembers its place from one run to the next, and what %s kept is forgotten with each: results will lack "
            "what earlier runs read; a durable run (--state DIR; in C the option `store`) keeps both together",
            text);
    gx_buf_fini(&names);
    gx_free(heap, GX_TAG_OTHER, marks, plan->component_count * sizeof *marks);
}

void gx_durable_warning_forgets(const gx_shared *shared) {
    if (shared->cut.store || !gx_log_wanted(&shared->logger, GALE_LOG_WARN)) return;
    for (uint32_t c = 0; c < shared->plan->component_count; c++)
        if (remembers(shared, &shared->plan->components[c])) look_behind(shared, c);
}
