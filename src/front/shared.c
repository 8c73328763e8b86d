#include "front/shared.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static const char member[] = "gale.member";

static bool is_fixed(const gx_loading *l, const gx_vertex *source) {
    const gx_component *spout = gx_topology_find(l->topology, source->id->text.data);
    const gale_config *all = gale_topology_config(l->topology);
    gale_value value;
    if (gx_class_has(source->class_, "member") && gx_args_given(source->args, "member")) return true;
    if (gx_class_has(source->class_, "fromAlways") && gx_args_flag(source->args, "fromAlways")) return true;
    if (spout && spout->config && gale_config_get(spout->config, member, &value)) return true;
    return gale_config_get(all, member, &value) || gale_config_text(all, "topology.state.dir", gx_str(NULL)).size;
}

/* Which components are behind the source, itself included, by their place in the topology. */
typedef struct reach {
    const gale_topology *topology;
    const gx_buffer *buffers;
    bool *behind;
} reach;

static bool is_behind(const reach *r, const char *name) {
    for (uint32_t i = 0; i < r->topology->component_count; i++)
        if (r->behind[i] && strcmp(r->topology->components[i]->name, name) == 0) return true;
    return false;
}

/* What goes into a buffer comes out of its spout. */
static bool takes_from(const reach *r, const gx_component *one) {
    const gx_buffer *buffer = one->is_spout ? gx_buffer_of_spout(r->buffers, gx_str(one->name)) : NULL;
    if (buffer) return is_behind(r, buffer->bolt.data);
    for (uint32_t i = 0; !one->is_spout && i < one->input_count; i++)
        if (is_behind(r, one->inputs[i].source)) return true;
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

/* Has it a key of its own, whatever it is grouped by? */
static bool has_key(const gx_vertex *v) {
    const gx_param *key = gx_class_param_with(v->class_, GX_PARAM_KEY);
    return key && (!(key->roles & GX_PARAM_KEYLESS) || gx_args_text_with(v->args, GX_PARAM_KEY));
}

static bool keeps(const gx_loading *l, const reach *r, const gx_vertex *v) {
    const gx_component *bolt = v->whole && v->class_->remembers ? gx_topology_find(l->topology, v->id->text.data)
                                                                : NULL;
    return bolt && (is_grouped(r, bolt) || (has_key(v) && takes_from(r, bolt)));
}

/* The first bolt behind the source that keeps something by a key; NULL: there is none. */
static int find_keeper(const gx_loading *l, const gx_vertex *source, const gx_vertex **ret_keeper) {
    reach r = { l->topology, l->buffers, calloc(l->topology->component_count + 1, sizeof *r.behind) };
    *ret_keeper = NULL;
    if (!r.behind) return gx_loading_no_memory(l);
    follow(&r, source->id->text.data);
    for (size_t i = l->spout_count; i < l->vertex_count && !*ret_keeper; i++)
        if (keeps(l, &r, &l->vertices[i])) *ret_keeper = &l->vertices[i];
    free(r.behind);
    return 0;
}

/* What a stream by fields goes through keeps to them, whatever it leads to. */
static int look_behind(const gx_loading *l, const gx_vertex *source, const gx_vertex **ret_keeper) {
    const gx_via *via = gx_via_of(l->vias, source->id->text);
    if (!via) return find_keeper(l, source, ret_keeper);
    *ret_keeper = gx_loading_vertex(l, via->to->text);
    return 0;
}

/* Where the file names the group. */
static const gx_yaml *place_of(const gx_vertex *source) {
    for (size_t i = 0; i < source->class_->param_count; i++)
        if (strcmp(source->class_->params[i].name, "group") == 0 && source->args->places[i])
            return source->args->places[i];
    return source->id;
}

static int check(const gx_loading *l, const gx_vertex *source) {
    const gx_vertex *keeper;
    if (!source->whole || !gx_class_reads_key(source->class_, member) || is_fixed(l, source)) return 0;
    int rc = look_behind(l, source, &keeper);
    if (rc < 0 || !keeper) return rc;
    return gx_yaml_error(
        l->doc, place_of(source), l->error, GALE_TOPOLOGY,
        "'%.*s' is read by a group, and '%.*s' %s by key: when a process of the group comes or goes, "
        "keys go to one that knows nothing of them. Fix its share: `gale.member: 1/1` in the config of the file "
        "(or gale run --member 1/1) says that this process is alone, 2/3 that it is the second of three",
        GX_STR(source->id->text), GX_STR(keeper->id->text),
        gx_via_of(l->vias, source->id->text) ? "is grouped" : "keeps what it knows");
}

int gx_shared_refuse(const gx_loading *l, const gale_setting *given) {
    return gale_error_set(
        l->error, GALE_CONFIG,
        "%s: --member %s: nothing in this file takes a share by it, as gale.spout.Kafka does: each process "
        "would read all, or what its group gives it",
        gx_yaml_name(l->doc), given->value.as.string);
}

static bool divides(const gx_vertex *source) {
    bool own = gx_class_has(source->class_, "member") && gx_args_given(source->args, "member");
    return source->class_ && gx_class_reads_key(source->class_, member) && !own;
}

/* A sink alone has it for the names of its transactions, as processes of one topology need. */
void gx_shared_warn(const gx_loading *l) {
    const gx_flux_options *o = l->options;
    const gale_setting *given = NULL;
    bool divided = false;
    for (size_t i = 0; i < o->setting_count && !given; i++)
        if (strcmp(o->settings[i].key, member) == 0) given = &o->settings[i];
    for (size_t i = 0; i < l->spout_count; i++) divided |= !l->vertices[i].whole || divides(&l->vertices[i]);
    if (!given || divided) return;
    gx_yaml_warn(
        l->doc, NULL, o->logger,
        "--member %s: no source of this file takes a share by it: each process reads what it would read alone, all "
        "of it or what its group gives it",
        given->value.as.string);
}

int gx_shared_check(const gx_loading *l) {
    int rc = 0;
    for (size_t i = 0; l->options->settled && i < l->spout_count && rc == 0; i++)
        rc = gx_loading_keep(l, check(l, &l->vertices[i]));
    return rc;
}
