#include "front/advice.h"

#include "base/os/file.h"
#include "base/str.h"
#include "front/spread.h"

#include <inttypes.h>

/* Where a key of the topology's configuration stands, or NULL. */
static const gx_yaml *config_key(const gx_loading *l, const char *name) {
    const gx_yaml *config = gx_yaml_get(gx_yaml_root(l->doc), "config");
    for (const gx_yaml *key = config && config->type == GALE_TYPE_MAP ? config->as.first : NULL; key;
         key = key->next->next)
        if (gx_str_is(key->text, name)) return key;
    return NULL;
}

/* What holds for a component: its own key, or the topology's. */
static bool get(const gx_loading *l, const gx_vertex *v, const char *key, gale_value *ret_value) {
    const gx_component *component = gx_topology_find(l->topology, v->id->text.data);
    if (component && component->config && gale_config_get(component->config, key, ret_value)) return true;
    return gale_config_get(gale_topology_config(l->topology), key, ret_value);
}

static void look_at_acking(const gx_loading *l) {
    const gale_config *config = gale_topology_config(l->topology);
    if (gale_config_i64(config, "topology.acker.executors", 1) != 0) return;
    gx_yaml_warn(l->doc, config_key(l, "topology.acker.executors"), NULL,
                 "acking is off: a tuple that fails, or does not arrive, is not emitted again");
}

static bool feeds(const gx_component *bolt, const char *spout) {
    for (uint32_t i = 0; !bolt->is_spout && i < bolt->input_count; i++)
        if (strcmp(bolt->inputs[i].source, spout) == 0) return true;
    return false;
}

/* Where something is wrong, it may be what was to read. */
static void look_at_readers(const gx_loading *l, const gx_vertex *v) {
    if (gx_yaml_kept(l->doc)) return;
    for (size_t i = l->spout_count; i < l->vertex_count; i++) {
        const gx_component *bolt = gx_topology_find(l->topology, l->vertices[i].id->text.data);
        if (bolt && feeds(bolt, v->id->text.data)) return;
    }
    gx_yaml_warn(l->doc, v->id, NULL, "nobody subscribes to '%.*s': what it emits is dropped, and acked at once",
                 GX_STR(v->id->text));
}

/* What a tuple costs at the least that is parsed, sent on and counted by gale's own bolts. */
#define TUPLE_SECONDS 1e-6

/* What is in flight waits for what is before it. */
static void look_at_pending(const gx_loading *l, const gx_vertex *v, const gx_component *spout) {
    static const char pending_key[] = "topology.max.spout.pending", timeout_key[] = "topology.message.timeout.secs";
    gale_value given;
    double timeout = gale_config_f64(gale_topology_config(l->topology), timeout_key, 30);
    if (!get(l, v, pending_key, &given) || given.type != GALE_TYPE_I64) return;
    double pending = (double)given.as.i64 * gx_component_tasks(l->topology, spout);
    if (pending * TUPLE_SECONDS <= timeout) return;
    const gx_yaml *place = gx_yaml_get(gx_yaml_get(v->item, "config"), pending_key);
    if (!place) place = config_key(l, pending_key);
    gx_yaml_warn(
        l->doc, place ? place : v->id, NULL,
        "%.0f tuples of '%s' may be in flight (%s), each for %g s (%s): where a tuple takes more than %.2g us, the "
        "last ones time out and come again",
        pending, spout->name, pending_key, timeout, timeout_key, timeout / pending * 1e6);
}

/* Where the engine keeps the tuples that fail, it says how often they are tried. */
static void look_at_attempts(const gx_loading *l, const gx_vertex *v) {
    gale_value given;
    const char *key = get(l, v, "topology.replay.attempts", &given)     ? "topology.replay.attempts"
                      : get(l, v, "topology.dead_letters.file", &given) ? "topology.dead_letters.file"
                                                                        : NULL;
    const gx_yaml *place = NULL;
    for (size_t i = 0; i < v->class_->param_count; i++)
        if (strcmp(v->class_->params[i].name, "maxAttempts") == 0) place = v->args->places[i];
    if (key && place)
        gx_yaml_warn(l->doc, place, NULL,
                     "'maxAttempts' has no effect with %s: topology.replay.attempts says how often a tuple is tried",
                     key);
}

static void look_at_spout(const gx_loading *l, const gx_vertex *v) {
    const gx_component *spout = gx_topology_find(l->topology, v->id->text.data);
    if (!spout || !spout->is_spout) return;
    look_at_readers(l, v);
    look_at_pending(l, v, spout);
    look_at_attempts(l, v);
}

/* The input that is grouped by fields; NULL: none. A stream through a topic divides among members. */
static const gx_subscription *grouped_input(const gx_loading *l, const gx_component *bolt) {
    for (uint32_t i = 0; i < bolt->input_count; i++) {
        int32_t kind = bolt->inputs[i].grouping;
        bool by_fields = kind == GALE_GROUPING_FIELDS || kind == GALE_GROUPING_PARTIAL_KEY;
        if (by_fields && !gx_via_of(l->vias, gx_str(bolt->inputs[i].source))) return &bolt->inputs[i];
    }
    return NULL;
}

/* One task is right for most files, and for what goes by event time: there, one assigner is before it. Where several tasks feed one, the file
 * asks for parallel work that ends here. */
static void look_at_groupings(const gx_loading *l, const gx_vertex *v) {
    const gx_component *bolt = gx_topology_find(l->topology, v->id->text.data), *before = NULL;
    const char *time = gx_args_text_with(v->args, GX_PARAM_TIME);
    if (!bolt || bolt->is_spout || gx_component_tasks(l->topology, bolt) != 1 || (time && *time)) return;
    const gx_subscription *input = grouped_input(l, bolt);
    if (!input || gx_spread_before(l, bolt, &before) < 0 || !before) return;
    gx_yaml_warn(l->doc, v->id, NULL,
                 "'%s' has one task, so that the grouping by fields of '%s' divides nothing, and %u tasks of '%s' feed "
                 "it (parallelism: 2 would divide)",
                 bolt->name, input->source, gx_component_tasks(l->topology, before), before->name);
}

/* A source that goes on, and behind it something that does not. */
static void look_at_memory(const gx_loading *l, const gx_vertex *source) {
    const gale_value *keeps = gx_args_with(source->args, GX_PARAM_KEEPS);
    gale_str folder = gale_config_text(gale_topology_config(l->topology), "topology.state.dir", gx_str(NULL));
    if (!keeps || keeps->type != GALE_TYPE_STRING || folder.size) return;
    for (size_t i = l->spout_count; i < l->vertex_count; i++) {
        const gx_vertex *v = &l->vertices[i];
        if (v->whole && v->class_->remembers)
            gx_yaml_warn(
                l->doc, v->id, NULL,
                "'%.*s' goes on where an earlier run stopped, but '%.*s' begins with nothing: topology.state.dir "
                "(gale run --state) keeps both",
                GX_STR(source->id->text), GX_STR(v->id->text));
    }
}

static const gx_yaml *place_of(const gx_vertex *v, const gx_param *param) {
    const gx_yaml *place = v->args->places[param - v->class_->params];
    return place ? place : v->id;
}

static bool flag(const gx_loading *l, const gx_vertex *v, const char *key) {
    gale_value value;
    return get(l, v, key, &value) && value.type == GALE_TYPE_BOOL && value.as.boolean;
}

/* The path that counts, or NULL for none and for a standard stream. */
static const char *path_of(const gx_loading *l, const gx_vertex *v, uint32_t role, const char *key) {
    gale_value value;
    const char *path = gx_args_text_with(v->args, role);
    if (gx_class_reads_key(v->class_, key) && get(l, v, key, &value) && value.type == GALE_TYPE_STRING)
        path = value.as.string;
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

static void look_at_input(const gx_loading *l, const gx_vertex *v) {
    const gx_param *param = gx_class_param_with(v->class_, GX_PARAM_READS);
    const char *path = param ? path_of(l, v, GX_PARAM_READS, "gale.input") : NULL;
    gx_file_about about;
    bool waits = gx_class_has(v->class_, "follow") && gx_args_flag(v->args, "follow");
    if (path && !waits && gx_file_about_path(path, &about, NULL) == GALE_NOT_FOUND)
        gx_yaml_warn(l->doc, place_of(v, param), NULL, "'%s' is not there", path);
}

static void look_at_output(const gx_loading *l, const gx_vertex *v) {
    const gx_param *param = gx_class_param_with(v->class_, GX_PARAM_WRITES);
    const char *path = param ? path_of(l, v, GX_PARAM_WRITES, "gale.output") : NULL;
    const gale_value *stays = gx_args_with(v->args, GX_PARAM_STAYS);
    gx_file_about about;
    if (!path || gx_file_about_path(path, &about, NULL) < 0 || !about.regular || !about.size) return;
    bool replaces = gx_class_has(v->class_, "overwrite") && gx_args_flag(v->args, "overwrite");
    if ((stays && stays->type == GALE_TYPE_BOOL && stays->as.boolean) || replaces || flag(l, v, "gale.overwrite"))
        return;
    gx_yaml_warn(l->doc, place_of(v, param), NULL,
                 "'%s' holds %" PRIu64
                 " bytes: a run that begins anew is refused, unless `append` or `overwrite` says what "
                 "is to become of them",
                 path, (uint64_t)about.size);
}

/* Each task has a file of its own. */
static void look_at_tasks(const gx_loading *l, const gx_vertex *v) {
    const gx_param *param = gx_class_param_with(v->class_, GX_PARAM_WRITES);
    const char *path = param ? path_of(l, v, GX_PARAM_WRITES, "gale.output") : NULL;
    const gx_component *component = gx_topology_find(l->topology, v->id->text.data);
    uint32_t tasks = component ? gx_component_tasks(l->topology, component) : 1;
    if (!path || tasks < 2 || strstr(path, "{task}")) return;
    gx_yaml_warn(l->doc, place_of(v, param), NULL,
                 "its %" PRIu32
                 " tasks write a file each: '%s', '%s.1'%s; with one task there is one file, and {task} in "
                 "the path names them",
                 tasks, path, path, tasks > 2 ? " and so on" : "");
}

void gx_advise(const gx_loading *l) {
    look_at_acking(l);
    for (size_t i = 0; i < l->vertex_count; i++) {
        const gx_vertex *v = &l->vertices[i];
        if (!v->whole) continue;
        look_at_spout(l, v);
        if (!gx_via_of(l->vias, v->id->text)) look_at_groupings(l, v);
        look_at_memory(l, v);
        look_at_input(l, v);
        look_at_output(l, v);
        look_at_tasks(l, v);
    }
}
