#include "front/vertices.h"

#include "base/os/scratch.h"
#include "base/str.h"
#include "front/connecting.h"
#include "front/leading.h"
#include "front/shape.h"
#include "front/typing.h"
#include "topology/config.h"

#include <stdlib.h>

/* The class that the item names; one of gale's connectors is loaded for it. */
static int class_of(const gx_loading *l, const gx_yaml *item, const char *what, int32_t kind,
                    const gx_class **ret_class) {
    gale_error inner = GALE_ERROR_INIT;
    const gx_yaml *name = gx_yaml_get(item, "className");
    bool is_name = name && name->type == GALE_TYPE_STRING;
    int rc = is_name ? gx_connecting_class(l->options->plugins, name->text, &inner) : 0;
    if (rc < 0) return gx_yaml_error_at(l->doc, name, l->error, &inner);
    return gx_registry_class(l->registry, l->doc, item, what, kind, ret_class, l->error);
}

/* --- Components --------------------------------------------------------------------------------------------------- */

static int make_value(const gx_loading *l, const gx_yaml *item, const gx_args *args, gale_value *ret_value) {
    gale_error inner = GALE_ERROR_INIT;
    int rc = args->class_->make_value(args, ret_value, &inner);
    if (rc < 0 && !inner.code) inner.code = rc;
    return rc < 0 ? gx_yaml_error_at(l->doc, item, l->error, &inner) : 0;
}

/* Something to refer to where the value itself is wrong, so that one error is not told of twice. */
static void note_ref(gx_loading *l, const gx_yaml *id, gale_value value) {
    l->refs.refs[l->refs.count++] = (gx_ref){ id->text, value };
}

static int component(gx_loading *l, const gx_yaml *item, const gx_yaml **ret_id, gale_value *ret_value) {
    const gx_class *class_;
    gx_args args;
    int rc = gx_shape_map_with(l->doc, item, "a component", GX_OBJECT_KEYS, "id className", l->error);
    if (rc == 0) rc = gx_shape_text(l->doc, item, "a component", "id", ret_id, l->error);
    if (rc == 0) rc = class_of(l, item, "a component", GX_CLASS_VALUE, &class_);
    size_t before = gx_yaml_kept(l->doc);
    if (rc == 0) rc = gx_arguments_read(class_, &l->refs, l->doc, item, NULL, 0, &args, l->error);
    if (rc == 0 && gx_yaml_kept(l->doc) == before) rc = make_value(l, item, &args, ret_value);
    for (size_t i = 0; i < l->refs.count && rc == 0; i++)
        if (gx_str_equal(l->refs.refs[i].id, (*ret_id)->text))
            rc = gx_yaml_error(l->doc, *ret_id, l->error, GALE_EXISTS, "there is a component '%.*s' already",
                               GX_STR((*ret_id)->text));
    return rc;
}

int gx_loading_components(gx_loading *l, const gx_yaml *root) {
    const gx_yaml *list;
    int rc = gx_shape_list(l->doc, root, "a topology", "components", &list, l->error);
    if (rc < 0 || !list) return gx_loading_keep(l, rc);
    if (!(l->refs.refs = calloc(list->count, sizeof *l->refs.refs))) return gx_loading_no_memory(l);
    for (const gx_yaml *item = list->as.first; item && rc == 0; item = item->next) {
        const gx_yaml *id = NULL;
        gale_value value = gale_null();
        rc = gx_loading_keep(l, component(l, item, &id, &value));
        if (rc == 0 && id) note_ref(l, id, value);
    }
    return rc;
}

/* --- Reading spouts and bolts ------------------------------------------------------------------------------------- */

static int check_free(const gx_loading *l, const gx_yaml *id) {
    const gx_vertex *other = gx_loading_vertex(l, id->text);
    if (!other) return 0;
    return gx_yaml_error(l->doc, id, l->error, GALE_TOPOLOGY, "the name '%.*s' is taken already (line %u)",
                         GX_STR(id->text), other->id->line);
}

static const gx_yaml *set_for(const gx_loading *l, const gx_yaml *id, const char *name) {
    const gx_yaml *value = NULL;
    for (size_t i = 0; i < l->setting_count; i++)
        if (gx_str_equal(l->settings[i].id->text, id->text) && gx_str_is(l->settings[i].name, name))
            value = l->settings[i].value;
    return value;
}

/* numTasks, else parallelism, else 1. Storm's executors are not gale's: a component's parallelism is its tasks. What the
 * command line says of one goes over the file. */
static int task_count(const gx_loading *l, const gx_yaml *item, const char *what, const gx_yaml *id,
                      int64_t *ret_tasks) {
    static const char *const keys[] = { "parallelism", "numTasks" };
    int64_t tasks = 1;
    const gx_yaml *fixed = gx_yaml_get(item, "numTasks");
    for (size_t i = 0; i < 2; i++) {
        const gx_yaml *set = set_for(l, id, keys[i]);
        gx_yaml key = { .type = GALE_TYPE_STRING, .text = gx_str(keys[i]), .next = (gx_yaml *)set };
        gx_yaml map = { .type = GALE_TYPE_MAP, .count = 1, .as.first = &key };
        int rc = gx_shape_number(l->doc, set ? &map : item, what, keys[i], 1, GALE_TASKS_MAX, tasks, &tasks, l->error);
        if (rc < 0) return rc;
        if (i == 0 && set && fixed && fixed->type == GALE_TYPE_I64 && !set_for(l, id, "numTasks"))
            return gx_yaml_error(l->doc, set, l->error, GALE_INVALID,
                                 "%s:%u:%u says numTasks, which goes over parallelism; set %.*s.numTasks", fixed->file,
                                 fixed->line, fixed->column, GX_STR(id->text));
    }
    *ret_tasks = tasks;
    return 0;
}

static void warn_loads(const gx_loading *l, const gx_yaml *item) {
    for (const gx_yaml *key = item->as.first; key; key = key->next->next)
        if (gx_str_is(key->text, "onHeapMemoryLoad") || gx_str_is(key->text, "offHeapMemoryLoad") ||
            gx_str_is(key->text, "cpuLoad"))
            gx_yaml_warn(l->doc, key, l->options->logger, "%.*s has no effect here", GX_STR(key->text));
}

/* What --set says of the component's own properties: neither of its tasks nor of its configuration. */
static bool is_property(const gx_setting *setting, const gx_yaml *id) {
    return gx_str_equal(setting->id->text, id->text) && !gx_str_is(setting->name, "parallelism") &&
           !gx_str_is(setting->name, "numTasks") && !gx_config_find(setting->name);
}

static int read_arguments(const gx_loading *l, const gx_vertex *v) {
    gx_override *overrides = calloc(l->setting_count + 1, sizeof *overrides);
    size_t count = 0;
    if (!overrides) return gx_loading_no_memory(l);
    for (size_t i = 0; i < l->setting_count; i++)
        if (is_property(&l->settings[i], v->id))
            overrides[count++] = (gx_override){ l->settings[i].name, l->settings[i].value };
    int rc = gx_arguments_read(v->class_, &l->refs, l->doc, v->item, overrides, count, v->args, l->error);
    free(overrides);
    return rc;
}

static int read_vertex(gx_loading *l, gx_vertex *v, const char *what, int32_t kind) {
    const gx_yaml *id;
    int64_t tasks = 1;
    if (v->item->type != GALE_TYPE_MAP) return gx_shape_map(l->doc, v->item, what, GX_VERTEX_KEYS, l->error);
    int rc = gx_shape_map_with(l->doc, v->item, what, GX_VERTEX_KEYS, "id className", l->error);
    if (rc == 0) rc = gx_shape_text(l->doc, v->item, what, "id", &id, l->error);
    if (rc == 0) rc = check_free(l, id);
    if (rc != 0) return rc;
    v->id = id;
    rc = class_of(l, v->item, what, kind, &v->class_);
    if (rc == GALE_NOT_FOUND && l->lacks_plugins) return *l->error = (gale_error)GALE_ERROR_INIT, 0;
    if (rc < 0) return rc;
    if (!(v->args = malloc(sizeof *v->args))) return gx_loading_no_memory(l);
    rc = read_arguments(l, v);
    if (rc == 0) rc = task_count(l, v->item, what, id, &tasks);
    v->tasks = (uint32_t)tasks;
    if (rc == 0) warn_loads(l, v->item);
    return rc;
}

static int read_list(gx_loading *l, const gx_yaml *list, const char *what, int32_t kind) {
    int rc = 0;
    for (const gx_yaml *item = list ? list->as.first : NULL; item && rc == 0; item = item->next) {
        gx_vertex *v = &l->vertices[l->vertex_count];
        size_t before = gx_yaml_kept(l->doc);
        v->item = item;
        rc = gx_loading_keep(l, read_vertex(l, v, what, kind));
        v->whole = rc == 0 && gx_yaml_kept(l->doc) == before && v->class_;
        l->nameless |= !v->id;
        l->vertex_count++;
    }
    return rc;
}

/* --- Making them -------------------------------------------------------------------------------------------------- */

static bool is_dry(const gx_loading *l) {
    return l->options->dry;
}

/* The file that it writes, below the folder that is given for that. */
static int lead_below(const gx_loading *l, gx_args *args, gale_error *error) {
    enum { ROOM = GX_SCRATCH_PATH };
    const gx_param *writes = gx_class_param_with(args->class_, GX_PARAM_WRITES);
    gale_value *path = writes ? &args->values[writes - args->class_->params] : NULL;
    if (!l->options->below || !path || path->type != GALE_TYPE_STRING) return 0;
    char *led = gx_yaml_take(l->doc, ROOM);
    int rc = led ? gx_scratch_lead(l->options->below, path->as.string, led, ROOM, error) : GALE_NO_MEMORY;
    if (rc >= 0) *path = gale_text(led);
    return rc;
}

/* What is not to be run is made without a state. */
static gx_args made_of(const gx_loading *l, const gx_vertex *v) {
    gx_args args = *v->args;
    const gx_param *keeps = gx_class_param_with(v->class_, GX_PARAM_KEEPS);
    if (keeps && is_dry(l)) args.values[keeps - v->class_->params] = gale_null();
    return args;
}

static gale_str word_at(const char *text) {
    return (gale_str){ text, strcspn(text, " :,") };
}

/* The parameter that a text begins with, where a map follows with its key: "map: set kb:1:7: ...". NULL: it does not. */
static const gx_yaml *place_named(const gx_vertex *v, const char *text) {
    gale_str name = word_at(text), key;
    for (size_t i = 0; name.size && i < v->class_->param_count; i++) {
        const gx_yaml *place = v->args->places[i];
        if (!place || !gx_str_is(name, v->class_->params[i].name)) continue;
        key = name.data[name.size] == ' ' ? word_at(name.data + name.size + 1) : (gale_str){ NULL, 0 };
        for (const gx_yaml *item = place->type == GALE_TYPE_MAP ? place->as.first : NULL; item; item = item->next->next)
            if (gx_str_equal(item->text, key)) return item->next;
        return place;
    }
    return NULL;
}

/* Reports of classes begin with the parameter, or with "who: " before it. */
static const gx_yaml *place_of(const gx_vertex *v, const char *report) {
    const char *after = strstr(report, ": ");
    const gx_yaml *place = place_named(v, report);
    if (!place && after) place = place_named(v, after + 2);
    return place ? place : v->item;
}

static int refused(const gx_loading *l, const gx_vertex *v, gale_error *inner, int code) {
    if (!inner->code) inner->code = code;
    return gx_yaml_error_at(l->doc, place_of(v, inner->text), l->error, inner);
}

/* What the topology's builder said of one that was to be added; one that was says what it is made of. */
static int added(const gx_loading *l, const gx_vertex *v, int rc) {
    if (rc < 0) return gx_loading_builder_error(l, v->item, rc);
    return gx_topology_set_class(l->topology, v->id->text.data, v->class_->name) < 0 ? gx_loading_no_memory(l) : 0;
}

static int add_spout(const gx_loading *l, gx_vertex *v) {
    gale_error inner = GALE_ERROR_INIT;
    gx_args args = made_of(l, v);
    gale_spout spout;
    int rc = v->class_->make_spout(&args, &spout, &inner);
    if (rc < 0) return refused(l, v, &inner, rc);
    rc = gx_typing_note(l, v, &args, spout.outputs, spout.output_count);
    if (rc < 0) return rc;
    return added(l, v, gale_topology_add_spout(l->topology, v->id->text.data, spout, v->tasks));
}

static void note_blind(gx_loading *l, gx_vertex *v, const gale_error *why) {
    if (!l->blind) l->blindness = *why, l->blind = v;
    v->blind = true;
    v->whole = false;
}

/* One of which it is not known what comes in is left out, as most often a stream is wrong, which is told later. */
static int make_bolt(gx_loading *l, gx_vertex *v, const gx_input *inputs, size_t input_count) {
    gale_error inner = GALE_ERROR_INIT;
    gx_args args = made_of(l, v);
    args.inputs = inputs;
    args.input_count = input_count;
    int rc = lead_below(l, &args, &inner);
    if (rc == 0) rc = v->class_->make_bolt(&args, &v->bolt, &inner);
    if (rc == GALE_FIELDS) {
        note_blind(l, v, &inner);
        return 0;
    }
    if (rc < 0) return refused(l, v, &inner, rc);
    v->made = true;
    return gx_typing_note(l, v, &args, v->bolt.outputs, v->bolt.output_count);
}

/* Adding takes it, also when that fails. */
static int add_bolt(const gx_loading *l, gx_vertex *v) {
    v->made = false;
    return added(l, v, gale_topology_add_bolt(l->topology, v->id->text.data, v->bolt, v->tasks));
}

/* --- Making one with what leads to it ---------------------------------------------------------------------------------- */

/* What comes out of a topic, or of a folder, has the fields of what goes in. With a wrong one, both ends are left out. */
static int take_shape(gx_loading *l, const gx_link *from) {
    gale_error unknown = GALE_ERROR_INIT;
    gx_vertex *pack = from->via ? gx_loading_vertex(l, from->via->pack) : NULL, *to = from->to;
    const char *fields = gx_link_fields(l, from);
    if (!fields) {
        gale_error_set(&unknown, GALE_FIELDS, "%s: it is not known what '%s' emits", from->via ? "via" : "buffer",
                       from->source);
        return note_blind(l, to, &unknown), 0;
    }
    int rc = from->via ? gx_via_shape(l->doc, from->via, fields, l->error) : 0;
    for (size_t i = 0; rc == 0 && i < to->class_->param_count; i++)
        if (strcmp(to->class_->params[i].name, "fields") == 0) to->args->values[i] = gale_text(fields);
    if (rc == 0) return 0;
    to->whole = false;
    if (pack) pack->whole = false;
    return gx_loading_keep(l, rc);
}

static int make_with_inputs(gx_loading *l, const gx_links *all, gx_vertex *v) {
    size_t first = gx_links_first(all, v), count = 0;
    int rc = 0;
    gx_input *inputs = calloc(all->count - first + 1, sizeof *inputs);
    if (!inputs) return gx_loading_no_memory(l);
    for (size_t i = first; i < all->count && all->list[i].to == v && rc == 0; i++) {
        const gx_link *from = &all->list[i];
        if (from->via)
            rc = take_shape(l, from);
        else
            inputs[count++] = (gx_input){ from->source, from->stream, gx_link_fields(l, from),
                                          gx_typing_stream(from->from, from->stream) };
    }
    if (rc < 0 || !v->whole) return free(inputs), rc;
    rc = make_bolt(l, v, inputs, count);
    free(inputs);
    return rc;
}

/* --- Adding one ---------------------------------------------------------------------------------------------------- */

static void note_use(gx_loading *l, const gx_vertex *v) {
    bool prints = v->class_->prints && v->class_->prints(v->args);
    bool led = prints && gx_class_reads_key(v->class_, "gale.output");
    l->sink_prints |= led;
    l->prints |= prints && !led;
    l->used[l->used_count++] = gx_used_of(v->args, v->id->text.data);
}

/* Notes a bolt that has a key. */
static void note_key(gx_loading *l, const gx_vertex *v) {
    const gale_value *key = gx_args_with(v->args, GX_PARAM_KEY);
    if (!key) return;
    bool given = key->type == GALE_TYPE_STRING && key->size;
    if (!given && gx_class_param_with(v->class_, GX_PARAM_KEY)->roles & GX_PARAM_KEYLESS) return; /* one for all */
    l->keyed[l->keyed_count++] = (gx_keyed){ v->id->text.data, v->class_, given ? key->as.string : NULL };
}

/* Its configuration, with what --set says of it. */
static int configure(gx_loading *l, const gx_vertex *v) {
    int rc = gx_loading_config(l, gx_yaml_get(v->item, "config"), v->id->text.data);
    for (size_t i = 0; i < l->setting_count && rc == 0; i++) {
        const gx_setting *setting = &l->settings[i];
        if (!gx_str_equal(setting->id->text, v->id->text) || !gx_config_find(setting->name)) continue;
        gx_yaml key = *setting->value;
        key.type = GALE_TYPE_STRING;
        key.text = setting->name;
        key.next = (gx_yaml *)setting->value;
        gx_yaml map = { .type = GALE_TYPE_MAP, .count = 1, .as.first = &key, .file = key.file };
        char name[200];
        if (setting->name.size >= sizeof name) continue;
        memcpy(name, setting->name.data, setting->name.size);
        name[setting->name.size] = 0;
        key.text = gx_str(name);
        rc = gx_loading_config(l, &map, v->id->text.data);
    }
    return rc;
}

static int add_vertex(gx_loading *l, gx_vertex *v) {
    bool spout = v < l->vertices + l->spout_count;
    if (!v->whole || (!spout && !v->made)) return v->whole = false, 0;
    int rc = spout ? add_spout(l, v) : add_bolt(l, v);
    if (rc < 0) return v->whole = false, gx_loading_keep(l, rc);
    note_use(l, v);
    if (!spout) note_key(l, v);
    return configure(l, v);
}

/* --- In which order ----------------------------------------------------------------------------------------------- */

/* Sources come first; where there is a cycle, the file's order decides. */
typedef struct order {
    const gx_links *all;
    size_t *waits;     /* by vertex: how many bolts lead to it that have not had their turn */
    gx_link **from;    /* the links, by source */
    gx_vertex **ready; /* whose turn has come */
    size_t ready_count;
    bool *seen;
} order;

static int by_source(const void *a, const void *b) {
    const gx_link *x = *(gx_link *const *)a, *y = *(gx_link *const *)b;
    return (x->from > y->from) - (x->from < y->from);
}

static void get_ready(const gx_loading *l, order *o, gx_vertex *v) {
    if (o->seen[v - l->vertices]) return;
    o->seen[v - l->vertices] = true;
    o->ready[o->ready_count++] = v;
}

static void had_turn(const gx_loading *l, order *o, const gx_vertex *v, size_t from_count) {
    size_t low = 0, high = from_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (o->from[middle]->from < v)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < from_count && o->from[low]->from == v; low++)
        if (--o->waits[o->from[low]->to - l->vertices] == 0) get_ready(l, o, o->from[low]->to);
}

/* Is it made when it is known what comes in: a bolt, or the spout of a buffer? */
static bool is_late(const gx_loading *l, const gx_vertex *v) {
    if (!v || !v->id) return v && v >= l->vertices + l->spout_count;
    return v >= l->vertices + l->spout_count || gx_buffer_of_spout(l->buffers, v->id->text);
}

static int make_late(gx_loading *l, const gx_links *all, gx_vertex *v) {
    if (v >= l->vertices + l->spout_count) return make_with_inputs(l, all, v);
    size_t first = gx_links_first(all, v);
    bool led = first < all->count && all->list[first].to == v;
    int rc = led ? take_shape(l, &all->list[first]) : 0;
    return rc == 0 ? add_vertex(l, v) : rc;
}

static int make_in_order(gx_loading *l, order *o) {
    size_t next = l->spout_count, turn = 0, from_count = 0;
    for (size_t i = 0; i < o->all->count; i++)
        if (is_late(l, o->all->list[i].from)) {
            o->from[from_count++] = &o->all->list[i];
            o->waits[o->all->list[i].to - l->vertices]++;
        }
    qsort(o->from, from_count, sizeof *o->from, by_source);
    for (size_t i = 0; i < l->vertex_count; i++)
        if (o->waits[i] == 0 && is_late(l, &l->vertices[i])) get_ready(l, o, &l->vertices[i]);
    int rc = 0;
    while (rc == 0) {
        while (turn == o->ready_count && next < l->vertex_count) get_ready(l, o, &l->vertices[next++]);
        if (turn == o->ready_count) break;
        gx_vertex *v = o->ready[turn++];
        if (v->whole) rc = gx_loading_keep(l, make_late(l, o->all, v));
        had_turn(l, o, v, from_count);
    }
    return rc;
}

static int make_bolts(gx_loading *l, const gx_links *all) {
    size_t count = l->vertex_count + 1;
    order o = { .all = all,
                .waits = calloc(count, sizeof *o.waits),
                .from = calloc(all->count + 1, sizeof *o.from),
                .ready = calloc(count, sizeof *o.ready),
                .seen = calloc(count, sizeof *o.seen) };
    int rc = o.waits && o.from && o.ready && o.seen ? make_in_order(l, &o) : gx_loading_no_memory(l);
    free(o.waits);
    free(o.from);
    free(o.ready);
    free(o.seen);
    return rc;
}

/* --- All of them -------------------------------------------------------------------------------------------------- */

static int add_spouts(gx_loading *l) {
    int rc = 0;
    for (size_t i = 0; i < l->spout_count && rc == 0; i++)
        if (!is_late(l, &l->vertices[i])) rc = add_vertex(l, &l->vertices[i]);
    return rc;
}

static int add_bolts(gx_loading *l) {
    int rc = 0;
    for (size_t i = l->spout_count; i < l->vertex_count && rc == 0; i++) rc = add_vertex(l, &l->vertices[i]);
    return rc;
}

static int add_all(gx_loading *l, const gx_yaml *root) {
    gx_links all = { .count = 0 };
    int rc = add_spouts(l);
    if (rc == 0) rc = gx_links_find(l, root, &all);
    if (rc == 0) rc = make_bolts(l, &all);
    if (rc == 0) rc = add_bolts(l);
    gx_links_free(&all);
    return rc;
}

static int make_room(gx_loading *l, const gx_yaml *place, size_t count) {
    if (count > GALE_TASKS_MAX)
        return gx_yaml_error(l->doc, place, l->error, GALE_TOO_LARGE, "more than %d spouts and bolts", GALE_TASKS_MAX);
    l->vertices = calloc(count + 1, sizeof *l->vertices);
    l->used = calloc(count + 1, sizeof *l->used);
    l->keyed = calloc(count + 1, sizeof *l->keyed);
    return l->vertices && l->used && l->keyed ? 0 : gx_loading_no_memory(l);
}

int gx_loading_vertices(gx_loading *l, const gx_yaml *root) {
    const gx_yaml *spouts = NULL, *bolts = NULL;
    size_t kept = gx_yaml_kept(l->doc);
    int rc = gx_loading_keep(l, gx_shape_list(l->doc, root, "a topology", "spouts", &spouts, l->error));
    if (rc == 0) rc = gx_loading_keep(l, gx_shape_list(l->doc, root, "a topology", "bolts", &bolts, l->error));
    if (rc < 0) return rc;
    l->nameless = gx_yaml_kept(l->doc) != kept || !gx_yaml_get(root, "spouts") || !gx_yaml_get(root, "bolts");
    spouts = spouts && spouts->type == GALE_TYPE_LIST ? spouts : NULL;
    bolts = bolts && bolts->type == GALE_TYPE_LIST ? bolts : NULL;
    rc = make_room(l, bolts ? bolts : spouts, (spouts ? spouts->count : 0) + (size_t)(bolts ? bolts->count : 0));
    if (rc == 0) rc = read_list(l, spouts, "a spout", GX_CLASS_SPOUT);
    l->spout_count = l->vertex_count;
    if (rc == 0) rc = read_list(l, bolts, "a bolt", GX_CLASS_BOLT);
    return rc == 0 ? add_all(l, root) : rc;
}
