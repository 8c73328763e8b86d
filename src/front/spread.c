#include "front/spread.h"

#include "base/str.h"

#include <stdlib.h>

/* What leads to a bolt, perhaps through others, each once: there may be cycles, and more ways than anybody can go. */
typedef struct ways {
    bool *seen;                   /* by vertex */
    const gx_component **reached; /* the bolt, then what leads to it */
} ways;

/* A component with several tasks from which tuples come to the bolt; NULL: none. */
static const gx_component *spread_before(const gx_loading *l, const gx_component *bolt, const ways *w) {
    size_t count = 0;
    w->reached[count++] = bolt;
    for (size_t n = 0; n < count; n++) {
        for (uint32_t i = 0; i < w->reached[n]->input_count; i++) {
            const gx_vertex *from = gx_loading_vertex(l, gx_str(w->reached[n]->inputs[i].source));
            const gx_component *source = from ? gx_topology_find(l->topology, from->id->text.data) : NULL;
            if (!source || w->seen[from - l->vertices]) continue;
            if (gx_component_tasks(l->topology, source) > 1) return source;
            w->seen[from - l->vertices] = true;
            w->reached[count++] = source;
        }
    }
    return NULL;
}

int gx_spread_before(const gx_loading *l, const gx_component *bolt, const gx_component **ret_before) {
    ways w = { .seen = calloc(l->vertex_count, sizeof *w.seen),
               .reached = calloc(l->vertex_count + 1, sizeof *w.reached) };
    bool made = w.seen && w.reached;
    *ret_before = NULL;
    if (made) *ret_before = spread_before(l, bolt, &w);
    free(w.seen);
    free(w.reached);
    return made ? 0 : gx_loading_no_memory(l);
}
