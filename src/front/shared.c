#include "front/shared.h"

#include "base/str.h"

#include <stdlib.h>

static const char member[] = "gale.member";

static bool is_fixed(const gx_loading *l, const gx_vertex *source) {
    const gx_component *spout = gx_topology_find(l->topology, source->id->text.data);
    const gale_config *all = gale_topology_config(l->topology);
    gale_value value;
    if (gx_class_has(source->class_, "member") && gx_args_given(source->args, "member")) return true;
    if (spout && spout->config && gale_config_get(spout->config, member, &value)) return true;
    return gale_config_get(all, member, &value) || gale_config_text(all, "topology.state.dir", gx_str(NULL)).size;
}

/* Which components are behind the source, itself included, by their place in the topology. */
typedef struct reach {
    const gale_topology *topology;
    bool *behind;
} reach;

static bool is_behind(const reach *r, const char *name) {
    for (uint32_t i = 0; i < r->topology->component_count; i++)
        if (r->behind[i] && strcmp(r->topology->components[i]->name, name) == 0) return true;
    return false;
}

static bool takes_from(const reach *r, const gx_component *bolt) {
    for (uint32_t i = 0; !bolt->is_spout && i < bolt->input_count; i++)
        if (is_behind(r, bolt->inputs[i].source)) return true;
    return false;
}

/* There may be cycles: until nothing changes. */
static void follow(const reach *r, const char *source) {
    bool more = true;
    for (uint32_t i = 0; i < r->topology->component_count; i++)
        r->behind[i] = strcmp(r->topology->components[i]->name, source) == 0;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < r->topology->component_count; i++) {
            if (r->behind[i] || !takes_from(r, r->topology->components[i])) continue;
            r->behind[i] = more = true;
        }
    }
}

static bool is_grouped(const reach *r, const gx_component *bolt) {
    for (uint32_t i = 0; i < bolt->input_count; i++) {
        int32_t kind = bolt->inputs[i].grouping;
        bool by_key = kind == GALE_GROUPING_FIELDS || kind == GALE_GROUPING_PARTIAL_KEY;
        if (by_key && is_behind(r, bolt->inputs[i].source)) return true;
    }
    return false;
}

/* The first one; NULL: there is none. */
static const gx_vertex *keeper(const gx_loading *l, const reach *r) {
    for (size_t i = l->spout_count; i < l->vertex_count; i++) {
        const gx_vertex *v = &l->vertices[i];
        const gx_component *bolt = v->whole && v->class_->remembers ? gx_topology_find(l->topology, v->id->text.data)
                                                                    : NULL;
        if (bolt && is_grouped(r, bolt)) return v;
    }
    return NULL;
}

void gx_shared_advise(const gx_loading *l, const gx_vertex *source) {
    reach r = { l->topology, NULL };
    if (!gx_class_reads_key(source->class_, member) || is_fixed(l, source)) return;
    if (!(r.behind = calloc(l->topology->component_count + 1, sizeof *r.behind))) return;
    follow(&r, source->id->text.data);
    const gx_vertex *v = keeper(l, &r);
    free(r.behind);
    if (!v) return;
    gx_yaml_warn(
        l->doc, source->id, NULL,
        "'%.*s' is read by a group, and '%.*s' keeps what it knows by key: where processes that share the group "
        "come and go, so do the keys; `member: 1/2` (gale run --member 1/2) fixes the share of each, and 1/1 "
        "says that this process is alone",
        GX_STR(source->id->text), GX_STR(v->id->text));
}
