#include "front/flux.h"

#include "base/buf.h"
#include "base/os/scratch.h"
#include "base/str.h"
#include "front/advice.h"
#include "front/assign.h"
#include "front/buffer_paths.h"
#include "front/clocks.h"
#include "front/plugin_key.h"
#include "front/shape.h"
#include "front/shared.h"
#include "front/storm_kafka.h"
#include "front/streams.h"
#include "front/vertices.h"

#include <stdlib.h>
#include <string.h>

/* --- The command line --------------------------------------------------------------------------------------------- */

static int assign(gx_loading *l, const char *assignment) {
    gale_error inner = GALE_ERROR_INIT;
    int rc = gx_assign(l->doc, l->topology, assignment, &inner);
    gale_str key = gx_assign_key(assignment);
    if (rc > 0 && gx_loading_first_time(l, key))
        gx_yaml_warn(l->doc, NULL, l->options->logger, "%.*s has no effect here", GX_STR(key));
    if (rc >= 0) return 0;
    return gale_error_set(l->error, rc, "%s", inner.length ? inner.text : gale_error_text(rc));
}

static bool is_read(const gx_loading *l, const char *key) {
    for (size_t i = 0; i < l->used_count; i++)
        if (gx_class_reads_key(l->used[i].class_, key)) return true;
    return false;
}

/* The classes of the registry that read `key`: "gale.spout.File, gale.spout.Stdin". */
static void readers_of(const gx_loading *l, const char *key, gx_buf *out) {
    const gx_class *class_;
    for (size_t i = 0; (class_ = gx_registry_at(l->registry, i)); i++)
        if (gx_class_reads_key(class_, key)) gx_buf_format(out, "%s%s", out->size ? ", " : "", class_->name);
}

static int unread(const gx_loading *l, const char *key) {
    gx_buf names = GX_BUF_INIT(NULL);
    readers_of(l, key, &names);
    const char *text = gx_buf_text(&names);
    int rc = gale_error_set(l->error, GALE_CONFIG, "%s: no component reads %s (%s would)", gx_yaml_name(l->doc), key,
                            text && *text ? text : "none of the known classes");
    gx_buf_fini(&names);
    return rc;
}

static int set_typed(gx_loading *l, const gale_setting *setting) {
    bool member = strcmp(setting->key, "gale.member") == 0;
    if (!is_read(l, setting->key)) return member ? gx_shared_refuse(l, setting) : unread(l, setting->key);
    int rc = gale_topology_set(l->topology, NULL, setting->key, setting->value);
    return rc < 0 ? gx_loading_builder_error(l, NULL, rc) : 0;
}

static int set_state(const gx_loading *l) {
    const char *folder = l->options->state;
    int rc = folder ? gale_topology_set(l->topology, NULL, "topology.state.dir", gale_text(folder)) : 0;
    return rc < 0 ? gale_error_set(l->error, rc, "--state '%s': %s", folder, gale_error_text(rc)) : 0;
}

/* Where components write that gale.output leads elsewhere, below the folder that is given for that. */
static int lead_output_below(gx_loading *l) {
    char led[GX_SCRATCH_PATH];
    gale_value output;
    if (!l->options->below || !gale_config_get(l->topology->config, "gale.output", &output)) return 0;
    if (output.type != GALE_TYPE_STRING) return 0;
    int rc = gx_scratch_lead(l->options->below, output.as.string, led, sizeof led, l->error);
    if (rc < 0) return rc;
    rc = gale_topology_set(l->topology, NULL, "gale.output", gale_text(led));
    return rc < 0 ? gx_loading_builder_error(l, NULL, rc) : 0;
}

static int overlay(gx_loading *l) {
    const gx_flux_options *o = l->options;
    int rc = 0;
    for (size_t i = 0; i < o->assignment_count && rc == 0; i++) rc = gx_loading_keep(l, assign(l, o->assignments[i]));
    for (size_t i = 0; i < o->setting_count && rc == 0; i++) rc = gx_loading_keep(l, set_typed(l, &o->settings[i]));
    if (rc == 0) rc = gx_loading_keep(l, set_state(l));
    return rc == 0 ? lead_output_below(l) : rc;
}

static int read_sets(gx_loading *l) {
    const gx_flux_options *o = l->options;
    int rc = 0;
    if (!(l->settings = calloc(o->set_count + 1, sizeof *l->settings))) return gx_loading_no_memory(l);
    for (size_t i = 0; i < o->set_count && rc == 0; i++) {
        rc = gx_set_read(l->doc, o->sets[i], &l->settings[l->setting_count], l->error);
        l->setting_count += rc == 0;
        rc = gx_loading_keep(l, rc);
    }
    return rc;
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static bool is_empty(const gx_yaml *node) {
    return node->type == GALE_TYPE_NULL || (!gx_yaml_is_scalar(node) && node->count == 0);
}

/* What only Java can do. */
static int refuse_java(const gx_loading *l, const gx_yaml *root) {
    static const char *const rows[][2] = {
        { "workerHooks",
          "'workerHooks' are Java classes that run in Storm's workers, and cannot run here: take them out, "
          "and let what starts gale begin and end what they did" },
        { "topologySource",
          "'topologySource' is Java code that makes a topology, and cannot run here: write its spouts, "
          "bolts and streams into the file, or make it in C (gale/topology.h)" },
    };
    int rc = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (const gx_yaml *key = root->as.first; key && rc == 0; key = key->next->next)
            if (gx_str_is(key->text, rows[i][0]) && !is_empty(key->next))
                rc = gx_loading_keep(l, gx_yaml_error(l->doc, key, l->error, GALE_UNSUPPORTED, "%s", rows[i][1]));
    return rc;
}

/* Something to go on with, where the file's name for it is wrong. */
static int make_topology(gx_loading *l, const gx_yaml *root) {
    const gx_yaml *name = NULL;
    bool renamed = gx_yaml_kept(l->doc) && !gx_yaml_get(root, "name");
    int rc = renamed ? 0 : gx_loading_keep(l, gx_shape_text(l->doc, root, "a topology", "name", &name, l->error));
    if (rc < 0) return rc;
    if (!(l->topology = gale_topology_new(name ? name->text.data : "unnamed"))) return gx_loading_no_memory(l);
    l->topology->open = l->options->open;
    if (!l->topology->error.code) return 0;
    rc = gx_loading_keep(l, gx_loading_builder_error(l, name, l->topology->error.code));
    if (rc < 0) return rc;
    gale_topology_free(l->topology);
    return (l->topology = gale_topology_new("unnamed")) ? 0 : gx_loading_no_memory(l);
}

static bool has(const gx_yaml *root, const char *key) {
    const gx_yaml *node = gx_yaml_get(root, key);
    return node && !is_empty(node);
}

static int begin(gx_loading *l, const gx_yaml *root) {
    if (!root) return gx_yaml_error(l->doc, NULL, l->error, GALE_TOPOLOGY, "the file is empty");
    if (root->type != GALE_TYPE_MAP) return gx_shape_map(l->doc, root, "a topology", GX_FLUX_KEYS, l->error);
    int rc = gx_loading_keep(l, gx_shape_map(l->doc, root, "a topology", GX_FLUX_KEYS, l->error));
    if (rc == 0) rc = refuse_java(l, root);
    if (rc == 0) rc = make_topology(l, root);
    if (rc < 0 || l->options->open || gx_yaml_get(root, "spouts") || has(root, "topologySource")) return rc;
    return gx_loading_keep(l,
                           gx_yaml_error(l->doc, root, l->error, GALE_TOPOLOGY, "a topology needs the field 'spouts'"));
}

static int finish(gx_loading *l, const gx_yaml *root) {
    gale_error inner = GALE_ERROR_INIT;
    const gx_yaml *place = gx_yaml_get(root, "streams");
    if (l->options->open || gx_yaml_kept(l->doc)) return 0; /* what is left out would be reported again */
    int rc = gale_topology_check(l->topology, &inner);
    return rc < 0 ? gx_loading_keep(l, gx_yaml_error_at(l->doc, place ? place : root, l->error, &inner)) : 0;
}

static int check_overlap(const gx_loading *l) {
    gale_error inner = GALE_ERROR_INIT;
    const gx_flux_options *o = l->options;
    const gx_files files = { l->topology, l->used, l->used_count, o->files, o->file_count, o->dry };
    int rc = gx_overlap_check(&files, &inner);
    return rc < 0 ? gx_loading_keep(l, gx_yaml_error_at(l->doc, NULL, l->error, &inner)) : 0;
}

/* Where something else is wrong, that is why. */
static int check_blind(const gx_loading *l) {
    if (!l->blind || gx_yaml_kept(l->doc)) return 0;
    return gx_loading_keep(l, gx_yaml_error_at(l->doc, l->blind->item, l->error, &l->blindness));
}

static int build(gx_loading *l) {
    const gx_source source = { l->options->variables, l->options->problems, l->options->logger };
    int rc = gx_include_all(&source, l->doc, l->error);
    if (rc == 0) rc = gx_storm_kafka_map(l->doc, l->options->logger, l->error);
    if (rc == 0) rc = gx_via_expand(l->doc, &l->vias, l->error);
    if (rc == 0) rc = gx_buffer_expand(l->doc, &l->buffers, l->error);
    const gx_yaml *root = gx_yaml_root(l->doc);
    if (rc == 0) rc = begin(l, root);
    if (rc == 0) rc = gx_loading_config(l, gx_yaml_get(root, "config"), NULL);
    if (rc == 0) rc = read_sets(l);
    if (rc == 0) rc = gx_loading_plugins(l, root);
    if (rc == 0) rc = gx_loading_components(l, root);
    if (rc == 0) rc = gx_loading_vertices(l, root);
    if (rc == 0) rc = gx_loading_streams(l, root);
    if (rc == 0) rc = check_blind(l);
    if (rc == 0) rc = gx_clocks_check(l);
    if (rc == 0) rc = overlay(l);
    if (rc == 0) rc = gx_shared_check(l);
    if (rc == 0) rc = gx_buffer_paths_check(l);
    if (rc == 0) gx_shared_warn(l);
    if (rc == 0) rc = check_overlap(l);
    if (rc == 0) rc = finish(l, root);
    if (rc == 0 && l->options->problems && !l->options->dry) gx_advise(l);
    return rc;
}

static bool prints(const gx_loading *l) {
    gale_value output;
    bool led = gale_config_get(gale_topology_config(l->topology), "gale.output", &output);
    if (!led || output.type != GALE_TYPE_STRING) return l->prints || l->sink_prints;
    return l->prints || gx_str_is((gale_str){ output.as.string, output.size }, "-");
}

static void let_go(gx_loading *l) {
    for (size_t i = 0; i < l->vertex_count; i++) {
        gx_vertex *v = &l->vertices[i];
        if (v->made && v->bolt.free_user) v->bolt.free_user(v->bolt.user);
        free(v->args);
    }
    free(l->vertices);
    free(l->refs.refs);
    free(l->settings);
    free(l->used);
    free(l->keyed);
    gx_yaml_free(l->doc);
}

/* Several errors were kept: then the last report tells of the first. */
static int sum_up(const gx_loading *l, int rc) {
    const gx_problems *problems = l->options->problems;
    gale_error none = GALE_ERROR_INIT;
    if (rc < 0) gx_yaml_keep(l->doc, rc, l->error ? l->error : &none);
    if (!problems || !problems->errors) return rc;
    for (size_t i = 0; i < problems->count; i++)
        if (!problems->list[i].warning) return problems->list[i].code;
    return rc;
}

/* Takes the document. */
static int build_from(gx_yaml_doc *doc, const gx_registry *registry, const gx_flux_options *options,
                      gale_topology **ret_topology, gale_error *error) {
    gx_loading l = { .doc = doc, .registry = registry, .options = options, .error = error };
    int rc = sum_up(&l, build(&l));
    if (rc == 0 && options->ret_prints) *options->ret_prints = prints(&l);
    if (rc < 0)
        gale_topology_free(l.topology);
    else
        *ret_topology = l.topology;
    let_go(&l);
    return rc;
}

static const gx_flux_options no_options;

/* What is wrong before there is a document is kept, too. */
static int keep_report(const gx_flux_options *options, const char *name, int rc, gale_error *error) {
    const char *text = error->text;
    gx_position place = { name, 0, 0 };
    if (rc >= 0 || !options->problems || !error->code) return rc;
    gx_position_read(name, error->text, &place, &text);
    if (gx_problems_add(options->problems, false, rc, place, text)) *error = (gale_error)GALE_ERROR_INIT;
    return rc;
}

int gx_flux_load(const char *path, const gx_registry *registry, const gx_flux_options *options,
                 gale_topology **ret_topology, gale_error *error) {
    gx_yaml_doc *doc;
    gale_error own = GALE_ERROR_INIT;
    if (!options) options = &no_options;
    if (!error) error = &own;
    const gx_source source = { options->variables, options->problems, options->logger };
    int rc = keep_report(options, path, gx_source_load(&source, path, &doc, error), error);
    return rc < 0 ? rc : build_from(doc, registry, options, ret_topology, error);
}

int gx_flux_parse(const char *name, gale_str text, const gx_registry *registry, const gx_flux_options *options,
                  gale_topology **ret_topology, gale_error *error) {
    gx_yaml_doc *doc;
    gale_error own = GALE_ERROR_INIT;
    if (!options) options = &no_options;
    if (!error) error = &own;
    const gx_source source = { options->variables, options->problems, options->logger };
    int rc = keep_report(options, name, gx_source_parse(&source, name, text, &doc, error), error);
    return rc < 0 ? rc : build_from(doc, registry, options, ret_topology, error);
}
