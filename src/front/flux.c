#include "front/flux.h"

#include "base/buf.h"
#include "base/nearest.h"
#include "base/str.h"
#include "front/assign.h"
#include "front/keyed.h"
#include "front/overlap.h"
#include "front/shape.h"
#include "topology/builder.h"
#include "topology/config.h"
#include "topology/grouping.h"

#include <ctype.h>
#include <stdlib.h>

enum { WARNED_MAX = 512 };

typedef struct loader {
    gx_yaml_doc *doc;
    const gx_registry *registry;
    const gx_flux_options *options;
    gale_topology *topology;
    gale_error *error;
    gx_refs refs;
    gx_used *used; /* the spouts and bolts */
    size_t used_count, used_capacity;
    gx_keyed *keyed; /* the bolts that have a key */
    size_t keyed_count;
    bool prints;             /* a component writes to the standard output, whatever gale.output says */
    bool sink_prints;        /* one does that gale.output would lead elsewhere */
    bool warned[WARNED_MAX]; /* by the key's place in the table */
} loader;

#define TOP_KEYS "name config components spouts bolts streams workerHooks includes topologySource"
#define OBJECT_KEYS "id className constructorArgs factory factoryArgs properties configMethods"
#define VERTEX_KEYS OBJECT_KEYS " parallelism numTasks onHeapMemoryLoad offHeapMemoryLoad cpuLoad config"
#define GROUPINGS "SHUFFLE FIELDS ALL GLOBAL CUSTOM DIRECT LOCAL_OR_SHUFFLE NONE PARTIAL_KEY"
#define PARTIAL_KEY_CLASS "org.apache.storm.grouping.PartialKeyGrouping"

static int no_memory(const loader *l) {
    return gale_error_set(l->error, GALE_NO_MEMORY, "%s: out of memory", gx_yaml_name(l->doc));
}

/* Passes on what the topology's builder said, with the place that it was said about. */
static int builder_error(const loader *l, const gx_yaml *place, int code) {
    gale_error inner = l->topology->error;
    if (!inner.code) inner.code = code;
    return gx_yaml_error_at(l->doc, place, l->error, &inner);
}

static int unsupported(const loader *l, const gx_yaml *map, const char *keys) {
    gale_str rest = gx_str(keys), word;
    while (gx_str_next(&rest, ' ', &word))
        for (const gx_yaml *key = map->as.first; key; key = key->next->next)
            if (gx_str_equal(key->text, word) && key->next->type != GALE_TYPE_NULL &&
                (gx_yaml_is_scalar(key->next) || key->next->count))
                return gx_yaml_error(l->doc, key, l->error, GALE_UNSUPPORTED, "'%.*s' is not supported yet",
                                     GX_STR(word));
    return 0;
}

/* Storm's Flux replaces ${...} before it parses. Taking it as plain text would run something else than what was meant.
 */
static int refuse_substitution(const loader *l, const gx_yaml *node) {
    if (gx_yaml_is_scalar(node)) {
        if (!node->text.data || !strstr(node->text.data, "${")) return 0;
        return gx_yaml_error(l->doc, node, l->error, GALE_UNSUPPORTED, "substitution of ${...} is not supported yet");
    }
    for (const gx_yaml *child = node->as.first; child; child = child->next) {
        int rc = refuse_substitution(l, child);
        if (rc < 0) return rc;
    }
    return 0;
}

/* --- Configuration ------------------------------------------------------------------------------------------------ */

static bool warn_first_time(loader *l, gale_str name) {
    size_t count;
    const gx_key *keys = gx_config_keys(&count), *key = gx_config_find(name);
    size_t index = key ? (size_t)(key - keys) : WARNED_MAX;
    if (index >= WARNED_MAX) return true;
    bool first = !l->warned[index];
    l->warned[index] = true;
    return first;
}

static void warn_no_effect(loader *l, const gx_yaml *place, const char *name) {
    if (!warn_first_time(l, gx_str(name)) || !l->options) return;
    gale_log(l->options->logger, GALE_LOG_WARN, NULL, "%s:%u:%u: %s has no effect here", gx_yaml_name(l->doc),
             place->line, place->column, name);
}

/* Entries of a `config` map, for the topology (`component` NULL) or a component. */
static int config(loader *l, const gx_yaml *map, const char *component) {
    if (!map || map->type == GALE_TYPE_NULL) return 0;
    if (map->type != GALE_TYPE_MAP)
        return gx_yaml_error(l->doc, map, l->error, GALE_TYPE, "'config' must be a map, not %s",
                             gx_yaml_type_text(map));
    for (const gx_yaml *key = map->as.first; key; key = key->next->next) {
        gale_value value;
        if (memchr(key->text.data, 0, key->text.size))
            return gx_yaml_error(l->doc, key, l->error, GALE_CONFIG, "a key must not hold a NUL character");
        int rc = gx_yaml_value(l->doc, key->next, &value, l->error);
        if (rc < 0) return rc;
        rc = gale_topology_set(l->topology, component, key->text.data, value);
        if (rc < 0) return builder_error(l, key, rc);
        if (rc > 0) warn_no_effect(l, key, key->text.data);
    }
    return 0;
}

static int assign(loader *l, const char *assignment) {
    gale_error inner = GALE_ERROR_INIT;
    int rc = gx_assign(l->doc, l->topology, assignment, &inner);
    gale_str key = gx_assign_key(assignment);
    if (rc > 0 && warn_first_time(l, key) && l->options)
        gale_log(l->options->logger, GALE_LOG_WARN, NULL, "%.*s has no effect here", GX_STR(key));
    if (rc >= 0) return 0;
    return gale_error_set(l->error, rc, "%s", inner.length ? inner.text : gale_error_text(rc));
}

static bool is_read(const loader *l, const char *key) {
    for (size_t i = 0; i < l->used_count; i++)
        if (gx_class_reads_key(l->used[i].class_, key)) return true;
    return false;
}

/* The classes of the registry that read `key`: "gale.spout.File, gale.spout.Stdin". */
static void readers_of(const loader *l, const char *key, gx_buf *out) {
    for (size_t i = 0; i < l->registry->class_count; i++)
        if (gx_class_reads_key(&l->registry->classes[i], key))
            gx_buf_format(out, "%s%s", out->size ? ", " : "", l->registry->classes[i].name);
}

static int unread(const loader *l, const char *key) {
    gx_buf names = GX_BUF_INIT(NULL);
    readers_of(l, key, &names);
    const char *text = gx_buf_text(&names);
    int rc = gale_error_set(l->error, GALE_CONFIG, "%s: no component reads %s (%s would)", gx_yaml_name(l->doc), key,
                            text && *text ? text : "none of the known classes");
    gx_buf_fini(&names);
    return rc;
}

static int overlay(loader *l) {
    const gx_flux_options *o = l->options;
    for (size_t i = 0; o && i < o->assignment_count; i++) {
        int code = assign(l, o->assignments[i]);
        if (code < 0) return code;
    }
    for (size_t i = 0; o && i < o->setting_count; i++) {
        if (!is_read(l, o->settings[i].key)) return unread(l, o->settings[i].key);
        int code = gale_topology_set(l->topology, NULL, o->settings[i].key, o->settings[i].value);
        if (code < 0) return builder_error(l, NULL, code);
    }
    return 0;
}

/* --- Components --------------------------------------------------------------------------------------------------- */

static int component(loader *l, const gx_yaml *item) {
    const gx_yaml *id;
    const gx_class *class_;
    gale_value values[GX_PARAMS_MAX];
    int rc = gx_shape_map(l->doc, item, "a component", OBJECT_KEYS, l->error);
    if (rc == 0) rc = unsupported(l, item, "factory factoryArgs");
    if (rc == 0) rc = gx_shape_text(l->doc, item, "a component", "id", &id, l->error);
    if (rc == 0) rc = gx_registry_class(l->registry, l->doc, item, "a component", GX_CLASS_VALUE, &class_, l->error);
    if (rc == 0) rc = gx_registry_values(class_, &l->refs, l->doc, item, values, l->error);
    if (rc < 0) return rc;
    for (size_t i = 0; i < l->refs.count; i++)
        if (gx_str_equal(l->refs.refs[i].id, id->text))
            return gx_yaml_error(l->doc, id, l->error, GALE_EXISTS, "there is a component '%.*s' already",
                                 GX_STR(id->text));
    l->refs.refs[l->refs.count++] = (gx_ref){ id->text, values[0] };
    return 0;
}

static int components(loader *l, const gx_yaml *root) {
    const gx_yaml *list;
    int rc = gx_shape_list(l->doc, root, "a topology", "components", &list, l->error);
    if (rc < 0 || !list) return rc;
    if (!(l->refs.refs = calloc(list->count, sizeof *l->refs.refs))) return no_memory(l);
    for (const gx_yaml *item = list->as.first; item && rc == 0; item = item->next) rc = component(l, item);
    return rc;
}

/* --- Spouts and bolts --------------------------------------------------------------------------------------------- */

static bool note_use(loader *l, const gx_class *class_, const char *id, const gale_value *values) {
    bool prints = class_->prints && class_->prints(values);
    if (prints && gx_class_reads_key(class_, "gale.output"))
        l->sink_prints = true;
    else if (prints)
        l->prints = true;
    if (l->used_count == l->used_capacity) {
        size_t capacity = l->used_capacity ? 2 * l->used_capacity : 16;
        gx_used *grown = realloc(l->used, capacity * sizeof *grown);
        if (!grown) return false;
        l->used = grown;
        l->used_capacity = capacity;
    }
    l->used[l->used_count++] = gx_used_of(class_, id, values);
    return true;
}

/* Notes a bolt that has a key. There is room for all bolts. */
static void note_key(loader *l, const gx_yaml *item, const gx_class *class_, const char *id, const gale_value *values) {
    if (!class_->key) return;
    const gx_yaml *name = gx_yaml_get(item, "className");
    const gale_value *key = &values[class_->key - 1];
    bool given = key->type == GALE_TYPE_STRING && key->size;
    l->keyed[l->keyed_count++] = (gx_keyed){ id, class_, given ? key->as.string : NULL,
                                             name && !gx_str_is(name->text, class_->name) };
}

static bool is_dry(const loader *l) {
    return l->options && l->options->dry;
}

/* What is not to be run is made without a state. */
static void take_values(const loader *l, const gx_class *class_, const gale_value given[GX_PARAMS_MAX],
                        gale_value values[GX_PARAMS_MAX]) {
    memcpy(values, given, GX_PARAMS_MAX * sizeof *values);
    if (class_->keeps && is_dry(l)) values[class_->keeps - 1] = gale_null();
}

/* Makes the component and adds it, which hands it over even when adding fails. */
static int add_vertex(loader *l, const gx_yaml *item, const gx_class *class_, const char *id,
                      const gale_value given[GX_PARAMS_MAX], uint32_t tasks) {
    gale_error inner = GALE_ERROR_INIT;
    gale_value values[GX_PARAMS_MAX];
    gale_spout spout;
    gale_bolt bolt;
    bool is_spout = class_->kind == GX_CLASS_SPOUT;
    take_values(l, class_, given, values);
    int code = is_spout ? class_->make_spout(values, &spout, &inner) : class_->make_bolt(values, &bolt, &inner);
    if (code < 0) {
        if (!inner.code) inner.code = code;
        return gx_yaml_error_at(l->doc, item, l->error, &inner);
    }
    code = is_spout ? gale_topology_add_spout(l->topology, id, spout, tasks)
                    : gale_topology_add_bolt(l->topology, id, bolt, tasks);
    return code < 0 ? builder_error(l, item, code) : 0;
}

/* numTasks, else parallelism, else 1. Storm's executors are not gale's: a component's parallelism is its tasks. */
static int task_count(const loader *l, const gx_yaml *item, const char *what, int64_t *ret_tasks) {
    int64_t parallelism;
    int rc = gx_shape_number(l->doc, item, what, "parallelism", 1, GALE_TASKS_MAX, 1, &parallelism, l->error);
    if (rc < 0) return rc;
    return gx_shape_number(l->doc, item, what, "numTasks", 1, GALE_TASKS_MAX, parallelism, ret_tasks, l->error);
}

/* The builder would refuse the name too, but does not know where it was given before. */
static int check_free(const loader *l, const gx_yaml *item, const gx_yaml *id) {
    static const char *const lists[] = { "spouts", "bolts" };
    if (!gx_topology_find(l->topology, id->text.data)) return 0;
    for (size_t i = 0; i < 2; i++) {
        const gx_yaml *list = gx_yaml_get(gx_yaml_root(l->doc), lists[i]);
        const gx_yaml *other = list && list->type == GALE_TYPE_LIST ? list->as.first : NULL;
        for (; other && other != item; other = other->next) {
            const gx_yaml *name = gx_yaml_get(other, "id");
            if (name && gx_yaml_is_scalar(name) && gx_str_equal(name->text, id->text))
                return gx_yaml_error(l->doc, id, l->error, GALE_TOPOLOGY, "the name '%.*s' is taken already (line %u)",
                                     GX_STR(id->text), name->line);
        }
    }
    return 0;
}

static void warn_loads(loader *l, const gx_yaml *item) {
    for (const gx_yaml *key = item->as.first; key && l->options; key = key->next->next)
        if (gx_str_is(key->text, "onHeapMemoryLoad") || gx_str_is(key->text, "offHeapMemoryLoad") ||
            gx_str_is(key->text, "cpuLoad"))
            gale_log(l->options->logger, GALE_LOG_WARN, NULL, "%s:%u:%u: %.*s has no effect here", gx_yaml_name(l->doc),
                     key->line, key->column, GX_STR(key->text));
}

static int vertex(loader *l, const gx_yaml *item, const char *what, int32_t kind) {
    const gx_yaml *id;
    const gx_class *class_;
    gale_value values[GX_PARAMS_MAX];
    int64_t tasks;
    int rc = gx_shape_map(l->doc, item, what, VERTEX_KEYS, l->error);
    if (rc == 0) rc = unsupported(l, item, "factory factoryArgs");
    if (rc == 0) rc = gx_shape_text(l->doc, item, what, "id", &id, l->error);
    if (rc == 0) rc = check_free(l, item, id);
    if (rc == 0) rc = gx_registry_class(l->registry, l->doc, item, what, kind, &class_, l->error);
    if (rc == 0) rc = gx_registry_values(class_, &l->refs, l->doc, item, values, l->error);
    if (rc == 0) rc = task_count(l, item, what, &tasks);
    if (rc == 0) rc = add_vertex(l, item, class_, id->text.data, values, (uint32_t)tasks);
    if (rc == 0) rc = config(l, gx_yaml_get(item, "config"), id->text.data);
    if (rc < 0) return rc;
    warn_loads(l, item);
    note_key(l, item, class_, id->text.data, values);
    return note_use(l, class_, id->text.data, values) ? 0 : no_memory(l);
}

static int vertices(loader *l, const gx_yaml *root, const char *key, const char *what, int32_t kind) {
    const gx_yaml *list;
    int rc = gx_shape_list(l->doc, root, "a topology", key, &list, l->error);
    if (rc == 0 && list && kind == GX_CLASS_BOLT && !(l->keyed = calloc(list->count, sizeof *l->keyed)))
        return no_memory(l);
    for (const gx_yaml *item = list && rc == 0 ? list->as.first : NULL; item && rc == 0; item = item->next)
        rc = vertex(l, item, what, kind);
    return rc;
}

/* --- Streams ------------------------------------------------------------------------------------------------------ */

static int find_component(const loader *l, const gx_yaml *name, gx_component **ret_component) {
    gx_nearest nearest = gx_nearest_to(name->text);
    char hint[GX_HINT_SIZE];
    if ((*ret_component = gx_topology_find(l->topology, name->text.data))) return 0;
    for (uint32_t i = 0; i < l->topology->component_count; i++)
        gx_nearest_offer(&nearest, gx_str(l->topology->components[i]->name));
    return gx_yaml_error(l->doc, name, l->error, GALE_NOT_FOUND, "there is no spout or bolt '%.*s'%s",
                         GX_STR(name->text), gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int find_source(const loader *l, const gx_yaml *name, const gx_component **ret_source) {
    gx_component *found = NULL;
    bool system = gx_str_is(name->text, GX_SYSTEM_COMPONENT);
    int rc = system ? 0 : find_component(l, name, &found);
    if (rc == 0) *ret_source = system ? gx_topology_system() : found;
    return rc;
}

/* Output `stream` (a node, or NULL for the default one) of `source`; `place` is for messages when there is no node. */
static int find_output(const loader *l, const gx_component *source, const gx_yaml *stream, const gx_yaml *place,
                       const gx_output **ret_output) {
    int index = gx_component_stream(source, stream ? stream->text.data : NULL);
    if (index >= 0) return *ret_output = &source->outputs[index], 0;
    if (source->output_count == 0)
        return gx_yaml_error(l->doc, place, l->error, GALE_TOPOLOGY, "'%s' has no output", source->name);
    gale_str name = stream ? stream->text : gx_str("default");
    gx_nearest nearest = gx_nearest_to(name);
    char hint[GX_HINT_SIZE];
    uint32_t count = source->output_count + (source->is_spout ? 1u : 0u); /* and its dead letters */
    for (uint32_t i = 0; i < count; i++) gx_nearest_offer(&nearest, gx_str(source->outputs[i].name));
    return gx_yaml_error(l->doc, stream ? stream : place, l->error, GALE_NOT_FOUND, "'%s' has no stream '%.*s'%s",
                         source->name, GX_STR(name), gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int grouping_kind(const loader *l, const gx_yaml *type, int32_t *ret_kind) {
    char upper[32] = "", hint[GX_HINT_SIZE];
    int kind = gx_grouping_parse(type->text);
    if (kind >= 0) return *ret_kind = kind, 0;
    for (size_t i = 0; i < type->text.size && i + 1 < sizeof upper; i++)
        upper[i] = (char)toupper((unsigned char)type->text.data[i]);
    return gx_yaml_error(l->doc, type, l->error, GALE_NOT_FOUND, "unknown grouping '%.*s'%s", GX_STR(type->text),
                         gx_shape_hint(gx_str(upper), GROUPINGS, hint));
}

/* The one class of Storm's that a CUSTOM grouping may name, and the fields that it is made with. */
static int partial_key_class(const loader *l, const gx_yaml *node, const gx_yaml **ret_fields) {
    const gx_yaml *class_ = gx_yaml_get(node, "customClass"), *name;
    char hint[GX_HINT_SIZE];
    if (!class_) return gx_yaml_error(l->doc, node, l->error, GALE_TOPOLOGY, "a CUSTOM grouping needs 'customClass'");
    int rc = gx_shape_map(l->doc, class_, "a customClass", OBJECT_KEYS, l->error);
    if (rc == 0) rc = unsupported(l, class_, "factory factoryArgs properties configMethods");
    if (rc == 0) rc = gx_shape_text(l->doc, class_, "a customClass", "className", &name, l->error);
    if (rc < 0) return rc;
    if (!gx_str_is(name->text, PARTIAL_KEY_CLASS))
        return gx_yaml_error(l->doc, name, l->error, GALE_NOT_FOUND,
                             "unknown grouping class '%.*s' (only %s can be named in a file; others are made with "
                             "gale_custom)%s",
                             GX_STR(name->text), PARTIAL_KEY_CLASS, gx_shape_hint(name->text, PARTIAL_KEY_CLASS, hint));
    return gx_shape_list(l->doc, class_, "a customClass", "constructorArgs", ret_fields, l->error);
}

/* What the grouping's `drop` says, if it is there. */
static int drop_policy(const loader *l, const gx_yaml *node, int32_t *ret_drop) {
    const gx_yaml *text;
    char hint[GX_HINT_SIZE];
    *ret_drop = GALE_DROP_NOTHING;
    if (!gx_yaml_get(node, "drop")) return 0;
    int rc = gx_shape_text(l->doc, node, "a grouping", "drop", &text, l->error);
    if (rc < 0) return rc;
    int drop = gx_drop_parse(text->text);
    if (drop >= 0) return *ret_drop = drop, 0;
    return gx_yaml_error(l->doc, text, l->error, GALE_NOT_FOUND,
                         "'drop' must be oldest, newest or nothing, not '%.*s'%s", GX_STR(text->text),
                         gx_shape_hint(text->text, "oldest newest nothing", hint));
}

static void warn_unused(const loader *l, const gx_yaml *node, const char *key, int32_t kind) {
    const gx_yaml *unused = gx_yaml_get(node, key);
    if (!unused || !l->options || unused->type == GALE_TYPE_NULL) return;
    gale_log(l->options->logger, GALE_LOG_WARN, NULL, "%s:%u:%u: '%s' has no effect in grouping %s",
             gx_yaml_name(l->doc), unused->line, unused->column, key, gale_grouping_name(kind));
}

/* The list of fields that a grouping goes by, or NULL. A known CUSTOM grouping becomes what it is. */
static int grouping_fields(const loader *l, const gx_yaml *node, int32_t *kind, const gx_yaml **ret_fields) {
    *ret_fields = NULL;
    if (*kind == GALE_GROUPING_CUSTOM) {
        *kind = GALE_GROUPING_PARTIAL_KEY;
        warn_unused(l, node, "args", GALE_GROUPING_CUSTOM);
        return partial_key_class(l, node, ret_fields);
    }
    warn_unused(l, node, "customClass", *kind);
    int rc = gx_shape_list(l->doc, node, "a grouping", "args", ret_fields, l->error);
    if (rc < 0 || *kind == GALE_GROUPING_PARTIAL_KEY) return rc;
    if (*kind == GALE_GROUPING_FIELDS && !*ret_fields)
        return gx_yaml_error(l->doc, node, l->error, GALE_TOPOLOGY,
                             "a FIELDS grouping needs 'args': the names of fields");
    if (*kind == GALE_GROUPING_FIELDS) return 0;
    if (*ret_fields) warn_unused(l, node, "args", *kind);
    *ret_fields = NULL;
    return 0;
}

static int add_field(const loader *l, const gx_component *source, const gx_output *output, const gx_yaml *field,
                     gx_buf *names) {
    if (!gx_yaml_is_scalar(field))
        return gx_yaml_error(l->doc, field, l->error, GALE_TYPE, "a field's name must be a string, not %s",
                             gx_yaml_type_text(field));
    gx_nearest nearest = gx_nearest_to(field->text);
    char hint[GX_HINT_SIZE];
    for (uint32_t i = 0; i < output->field_count; i++) {
        gx_nearest_offer(&nearest, gx_str(output->fields[i]));
        if (!gx_str_is(field->text, output->fields[i])) continue;
        gx_buf_format(names, "%s%s", names->size ? "," : "", output->fields[i]);
        return names->failed ? no_memory(l) : 0;
    }
    return gx_yaml_error(l->doc, field, l->error, GALE_NOT_FOUND, "'%s' has no field '%.*s' in stream '%s'%s",
                         source->name, GX_STR(field->text), output->name, gx_nearest_hint(&nearest, hint, sizeof hint));
}

/* The names in a list, with commas between them. The arguments of a constructor may be names, or one list of them. */
static int add_fields(const loader *l, const gx_component *source, const gx_output *output, const gx_yaml *list,
                      bool nested, gx_buf *names) {
    int rc = 0;
    for (const gx_yaml *item = list ? list->as.first : NULL; item && rc == 0; item = item->next)
        rc = nested && item->type == GALE_TYPE_LIST ? add_fields(l, source, output, item, false, names)
                                                    : add_field(l, source, output, item, names);
    return rc;
}

static void warn_replaced(const loader *l, const gx_yaml *from, const gx_component *bolt, const gx_output *output) {
    if (!l->options) return;
    gale_log(l->options->logger, GALE_LOG_WARN, NULL,
             "%s:%u:%u: '%s' subscribes again to stream '%s' of '%.*s': this grouping replaces the one before",
             gx_yaml_name(l->doc), from->line, from->column, bolt->name, output->name, GX_STR(from->text));
}

/* A file of Storm's runs as it does there: then it is only said. */
static int check_key(const loader *l, const gx_yaml *node, const gx_component *source, const gx_component *bolt,
                     const gx_output *output, const char *fields) {
    gale_error inner = GALE_ERROR_INIT;
    for (size_t i = 0; i < l->keyed_count; i++) {
        const gx_keyed *keyed = &l->keyed[i];
        if (strcmp(keyed->id, bolt->name) != 0) continue;
        if (gx_keyed_check(keyed, source->name, output, fields, &inner) == 0) return 0;
        if (!keyed->storms) return gx_yaml_error_at(l->doc, node, l->error, &inner);
        if (l->options)
            gale_log(l->options->logger, GALE_LOG_WARN, NULL, "%s:%u:%u: %s", gx_yaml_name(l->doc), node->line,
                     node->column, inner.text);
    }
    return 0;
}

static int grouping(loader *l, const gx_yaml *node, const gx_yaml *from, const gx_component *source,
                    const gx_component *bolt) {
    const gx_yaml *type, *stream = NULL, *fields = NULL;
    const gx_output *output = NULL;
    int32_t kind = GALE_GROUPING_SHUFFLE, drop;
    gx_buf names = GX_BUF_INIT(NULL);
    int code = gx_shape_map(l->doc, node, "a grouping", "type streamId args customClass drop", l->error);
    if (code == 0) code = gx_shape_text(l->doc, node, "a grouping", "type", &type, l->error);
    if (code == 0) code = grouping_kind(l, type, &kind);
    if (code == 0) code = drop_policy(l, node, &drop);
    bool custom = kind == GALE_GROUPING_CUSTOM;
    if (code == 0) code = grouping_fields(l, node, &kind, &fields);
    if (code == 0 && gx_yaml_get(node, "streamId"))
        code = gx_shape_text(l->doc, node, "a grouping", "streamId", &stream, l->error);
    if (code == 0) code = find_output(l, source, stream, from, &output);
    if (code == 0) code = add_fields(l, source, output, fields, custom, &names);
    if (code == 0 && names.size) code = check_key(l, node, source, bolt, output, gx_buf_text(&names));
    if (code == 0) {
        gale_grouping taken = gale_grouping_of(kind, fields ? gx_buf_text(&names) : NULL);
        taken.drop = drop;
        code = gale_topology_subscribe(l->topology, bolt->name, source->name, output->name, taken);
        if (code < 0) code = builder_error(l, node, code);
        if (code > 0) warn_replaced(l, from, bolt, output);
    }
    gx_buf_fini(&names);
    return code < 0 ? code : 0;
}

static int stream(loader *l, const gx_yaml *item) {
    const gx_yaml *from, *to;
    const gx_component *source = NULL;
    gx_component *bolt;
    int rc = gx_shape_map(l->doc, item, "a stream", "id name from to grouping", l->error);
    if (rc == 0) rc = gx_shape_text(l->doc, item, "a stream", "from", &from, l->error);
    if (rc == 0) rc = gx_shape_text(l->doc, item, "a stream", "to", &to, l->error);
    if (rc == 0) rc = find_source(l, from, &source);
    if (rc == 0) rc = find_component(l, to, &bolt);
    if (rc < 0) return rc;
    if (bolt->is_spout)
        return gx_yaml_error(l->doc, to, l->error, GALE_TOPOLOGY, "'%s' is a spout; a stream leads to a bolt",
                             bolt->name);
    const gx_yaml *node = gx_yaml_get(item, "grouping");
    if (!node) return gx_yaml_error(l->doc, item, l->error, GALE_TOPOLOGY, "a stream needs the field 'grouping'");
    return grouping(l, node, from, source, bolt);
}

/* Storm leaves out a bolt that no stream leads to, without a word. */
static int check_reached(const loader *l, const gx_yaml *root) {
    const gx_yaml *bolts = gx_yaml_get(root, "bolts");
    for (const gx_yaml *item = bolts && bolts->type == GALE_TYPE_LIST ? bolts->as.first : NULL; item;
         item = item->next) {
        const gx_yaml *id = gx_yaml_get(item, "id");
        const gx_component *bolt = gx_topology_find(l->topology, id->text.data);
        if (bolt && bolt->input_count == 0 && !bolt->ticks)
            return gx_yaml_error(l->doc, id, l->error, GALE_TOPOLOGY, "bolt '%s' has no input: no stream leads to it",
                                 bolt->name);
    }
    return 0;
}

static int streams(loader *l, const gx_yaml *root) {
    const gx_yaml *list;
    int rc = gx_shape_list(l->doc, root, "a topology", "streams", &list, l->error);
    for (const gx_yaml *item = list && rc == 0 ? list->as.first : NULL; item && rc == 0; item = item->next)
        rc = stream(l, item);
    return rc == 0 ? check_reached(l, root) : rc;
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static int begin(loader *l, const gx_yaml *root) {
    const gx_yaml *name;
    if (!root) return gx_yaml_error(l->doc, NULL, l->error, GALE_TOPOLOGY, "the file is empty");
    int rc = gx_shape_map(l->doc, root, "a topology", TOP_KEYS, l->error);
    if (rc == 0) rc = refuse_substitution(l, root);
    if (rc == 0) rc = unsupported(l, root, "includes topologySource workerHooks");
    if (rc == 0) rc = gx_shape_text(l->doc, root, "a topology", "name", &name, l->error);
    if (rc < 0) return rc;
    if (!gx_yaml_get(root, "spouts"))
        return gx_yaml_error(l->doc, root, l->error, GALE_TOPOLOGY, "a topology needs the field 'spouts'");
    if (!(l->topology = gale_topology_new(name->text.data))) return no_memory(l);
    return l->topology->error.code ? builder_error(l, name, l->topology->error.code) : 0;
}

static int finish(loader *l, const gx_yaml *root) {
    gale_error inner = GALE_ERROR_INIT;
    const gx_yaml *place = gx_yaml_get(root, "streams");
    int rc = gale_topology_check(l->topology, &inner);
    return rc < 0 ? gx_yaml_error_at(l->doc, place ? place : root, l->error, &inner) : 0;
}

static int check_overlap(const loader *l) {
    gale_error inner = GALE_ERROR_INIT;
    const gx_flux_options *o = l->options;
    const gx_files files = {
        l->topology, l->used, l->used_count, o ? o->files : NULL, o ? o->file_count : 0, is_dry(l)
    };
    int rc = gx_overlap_check(&files, &inner);
    return rc < 0 ? gx_yaml_error_at(l->doc, NULL, l->error, &inner) : 0;
}

static int build(loader *l) {
    const gx_yaml *root = gx_yaml_root(l->doc);
    int rc = begin(l, root);
    if (rc == 0) rc = config(l, gx_yaml_get(root, "config"), NULL);
    if (rc == 0) rc = components(l, root);
    if (rc == 0) rc = vertices(l, root, "spouts", "a spout", GX_CLASS_SPOUT);
    if (rc == 0) rc = vertices(l, root, "bolts", "a bolt", GX_CLASS_BOLT);
    if (rc == 0) rc = streams(l, root);
    if (rc == 0) rc = overlay(l);
    if (rc == 0) rc = check_overlap(l);
    return rc == 0 ? finish(l, root) : rc;
}

static bool prints(const loader *l) {
    gale_value output;
    bool led = gale_config_get(gale_topology_config(l->topology), "gale.output", &output);
    if (!led || output.type != GALE_TYPE_STRING) return l->prints || l->sink_prints;
    return l->prints || gx_str_is((gale_str){ output.as.string, output.size }, "-");
}

/* Takes the document. */
static int build_from(gx_yaml_doc *doc, const gx_registry *registry, const gx_flux_options *options,
                      gale_topology **ret_topology, gale_error *error) {
    loader l = { .doc = doc, .registry = registry, .options = options, .error = error };
    int rc = build(&l);
    if (rc == 0 && options && options->ret_prints) *options->ret_prints = prints(&l);
    if (rc < 0)
        gale_topology_free(l.topology);
    else
        *ret_topology = l.topology;
    free(l.refs.refs);
    free(l.used);
    free(l.keyed);
    gx_yaml_free(doc);
    return rc;
}

int gx_flux_load(const char *path, const gx_registry *registry, const gx_flux_options *options,
                 gale_topology **ret_topology, gale_error *error) {
    gx_yaml_doc *doc;
    int rc = gx_yaml_load(path, &doc, error);
    return rc < 0 ? rc : build_from(doc, registry, options, ret_topology, error);
}

int gx_flux_parse(const char *name, gale_str text, const gx_registry *registry, const gx_flux_options *options,
                  gale_topology **ret_topology, gale_error *error) {
    gx_yaml_doc *doc;
    int rc = gx_yaml_parse(name, text, NULL, &doc, error);
    return rc < 0 ? rc : build_from(doc, registry, options, ret_topology, error);
}
