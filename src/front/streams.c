#include "front/streams.h"

#include "base/buf.h"
#include "base/nearest.h"
#include "base/str.h"
#include "connect/file/template.h"
#include "front/shape.h"
#include "front/typing.h"
#include "kit/window_spec.h"
#include "topology/grouping.h"

#include <ctype.h>
#include <stdio.h>

#define GROUPINGS "SHUFFLE FIELDS ALL GLOBAL CUSTOM DIRECT LOCAL_OR_SHUFFLE NONE PARTIAL_KEY"

/* What something is wrong with has been told of: its streams are left out without a word. */
enum { LEFT_OUT = 1 };

/* For a report of what is still missing when it is to run. */
static int note_gap(const gx_loading *l, const gx_yaml *name) {
    char place[1000];
    snprintf(place, sizeof place, "%s:%u:%u", name->file, name->line, name->column);
    return gx_topology_note_gap(l->topology, name->text.data, place) < 0 ? gx_loading_no_memory(l) : 0;
}

/* NULL in an open topology: the caller adds it later. */
static int find_component(const gx_loading *l, const gx_yaml *name, gx_component **ret_component) {
    gx_nearest nearest = gx_nearest_to(name->text);
    char hint[GX_HINT_SIZE];
    if ((*ret_component = gx_topology_find(l->topology, name->text.data))) return 0;
    if (gx_loading_vertex(l, name->text) || (l->nameless && gx_yaml_kept(l->doc))) return LEFT_OUT;
    if (l->options->open) return note_gap(l, name);
    for (size_t i = 0; i < l->vertex_count; i++)
        if (l->vertices[i].id) gx_nearest_offer(&nearest, l->vertices[i].id->text);
    return gx_yaml_error(l->doc, name, l->error, GALE_NOT_FOUND, "there is no spout or bolt '%.*s'%s",
                         GX_STR(name->text), gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int find_source(const gx_loading *l, const gx_yaml *name, const gx_component **ret_source) {
    gx_component *found = NULL;
    bool system = gx_str_is(name->text, GX_SYSTEM_COMPONENT);
    int rc = system ? 0 : find_component(l, name, &found);
    if (rc == 0) *ret_source = system ? gx_topology_system() : found;
    return rc;
}

static int find_output(const gx_loading *l, const gx_component *source, const gx_yaml *stream, const gx_yaml *place,
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

static int grouping_kind(const gx_loading *l, const gx_yaml *type, int32_t *ret_kind) {
    char upper[32] = "", hint[GX_HINT_SIZE];
    int kind = gx_grouping_parse(type->text);
    if (kind >= 0) return *ret_kind = kind, 0;
    for (size_t i = 0; i < type->text.size && i + 1 < sizeof upper; i++)
        upper[i] = (char)toupper((unsigned char)type->text.data[i]);
    return gx_yaml_error(l->doc, type, l->error, GALE_NOT_FOUND, "unknown grouping '%.*s'%s", GX_STR(type->text),
                         gx_shape_hint(gx_str(upper), GROUPINGS, hint));
}

/* The classes that a CUSTOM grouping may name: what each is here, and whether fields make it. */
static const struct {
    const char *name;
    int32_t kind;
} custom_classes[] = {
    { "org.apache.storm.grouping.PartialKeyGrouping", GALE_GROUPING_PARTIAL_KEY },
    { "org.apache.storm.grouping.ShuffleGrouping", GALE_GROUPING_SHUFFLE },
    { "org.apache.storm.grouping.LoadAwareShuffleGrouping", GALE_GROUPING_SHUFFLE },
};

enum { CUSTOM_COUNT = sizeof custom_classes / sizeof *custom_classes };

static gale_str last_part(gale_str name) {
    for (size_t i = name.size; i > 0; i--)
        if (name.data[i - 1] == '.') return (gale_str){ name.data + i, name.size - i };
    return name;
}

static int unknown_custom(const gx_loading *l, const gx_yaml *name) {
    gx_nearest nearest = gx_nearest_to(last_part(name->text));
    const char *near = NULL;
    for (size_t i = 0; i < CUSTOM_COUNT; i++) {
        gale_str last = last_part(gx_str(custom_classes[i].name));
        gx_nearest_offer(&nearest, last);
        if (nearest.best.data == last.data) near = custom_classes[i].name;
    }
    bool is_near = near && gx_nearest_word(&nearest).size;
    return gx_yaml_error(
        l->doc, name, l->error, GALE_NOT_FOUND,
        "unknown grouping class '%.*s' (org.apache.storm.grouping has PartialKeyGrouping, ShuffleGrouping "
        "and LoadAwareShuffleGrouping; others are made with gale_custom)%s%s%s",
        GX_STR(name->text), is_near ? "; did you mean '" : "", is_near ? near : "", is_near ? "'?" : "");
}

static int no_keys(const gx_loading *l, const gx_yaml *map, const char *keys) {
    gale_str rest = gx_str(keys), word;
    while (gx_str_next(&rest, ' ', &word))
        for (const gx_yaml *key = map->as.first; key; key = key->next->next)
            if (gx_str_equal(key->text, word) && key->next->type != GALE_TYPE_NULL &&
                (gx_yaml_is_scalar(key->next) || key->next->count))
                return gx_yaml_error(l->doc, key, l->error, GALE_UNSUPPORTED,
                                     "a customClass has no '%.*s' here: fields are its constructorArgs", GX_STR(word));
    return 0;
}

/* What a CUSTOM grouping is, and the fields that it is made with. */
static int custom_class(const gx_loading *l, const gx_yaml *node, int32_t *ret_kind, const gx_yaml **ret_fields) {
    const gx_yaml *class_ = gx_yaml_get(node, "customClass"), *name;
    if (!class_) return gx_yaml_error(l->doc, node, l->error, GALE_TOPOLOGY, "a CUSTOM grouping needs 'customClass'");
    int rc = gx_shape_map(l->doc, class_, "a customClass", GX_OBJECT_KEYS, l->error);
    if (rc == 0) rc = no_keys(l, class_, "factory factoryArgs properties configMethods");
    if (rc == 0) rc = gx_shape_text(l->doc, class_, "a customClass", "className", &name, l->error);
    if (rc < 0) return rc;
    for (size_t i = 0; i < CUSTOM_COUNT; i++) {
        if (!gx_str_is(name->text, custom_classes[i].name)) continue;
        *ret_kind = custom_classes[i].kind;
        if (*ret_kind != GALE_GROUPING_PARTIAL_KEY) return no_keys(l, class_, "constructorArgs");
        return gx_shape_list(l->doc, class_, "a customClass", "constructorArgs", ret_fields, l->error);
    }
    return unknown_custom(l, name);
}

/* What the grouping's `drop` says, if it is there. */
static int drop_policy(const gx_loading *l, const gx_yaml *node, int32_t *ret_drop) {
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

static void warn_unused(const gx_loading *l, const gx_yaml *node, const char *key, int32_t kind) {
    const gx_yaml *unused = gx_yaml_get(node, key);
    if (!unused || unused->type == GALE_TYPE_NULL) return;
    gx_yaml_warn(l->doc, unused, l->options->logger, "'%s' has no effect in grouping %s", key,
                 gale_grouping_name(kind));
}

/* The list of fields that a grouping goes by, or NULL. A known CUSTOM grouping becomes what it is. */
static int grouping_fields(const gx_loading *l, const gx_yaml *node, int32_t *kind, const gx_yaml **ret_fields) {
    *ret_fields = NULL;
    if (*kind == GALE_GROUPING_CUSTOM) {
        warn_unused(l, node, "args", GALE_GROUPING_CUSTOM);
        return custom_class(l, node, kind, ret_fields);
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

static int put_name(const gx_loading *l, gale_str name, gx_buf *names) {
    gx_buf_format(names, "%s%.*s", names->size ? "," : "", GX_STR(name));
    return names->failed ? gx_loading_no_memory(l) : 0;
}

/* `output` NULL: of a component that is added later, it is not known yet. */
static int add_field(const gx_loading *l, const gx_component *source, const gx_output *output, const gx_yaml *field,
                     gx_buf *names) {
    if (!gx_yaml_is_scalar(field))
        return gx_yaml_error(l->doc, field, l->error, GALE_TYPE, "a field's name must be a string, not %s",
                             gx_yaml_type_text(field));
    if (!output) return put_name(l, field->text, names);
    gx_nearest nearest = gx_nearest_to(field->text);
    char hint[GX_HINT_SIZE];
    for (uint32_t i = 0; i < output->field_count; i++) {
        gx_nearest_offer(&nearest, gx_str(output->fields[i]));
        if (gx_str_is(field->text, output->fields[i])) return put_name(l, field->text, names);
    }
    return gx_yaml_error(l->doc, field, l->error, GALE_NOT_FOUND, "'%s' has no field '%.*s' in stream '%s'%s",
                         source->name, GX_STR(field->text), output->name, gx_nearest_hint(&nearest, hint, sizeof hint));
}

/* The names in a list, with commas between them. The arguments of a constructor may be names, or one list of them. */
static int add_fields(const gx_loading *l, const gx_component *source, const gx_output *output, const gx_yaml *list,
                      bool nested, gx_buf *names) {
    int rc = 0;
    for (const gx_yaml *item = list ? list->as.first : NULL; item && rc == 0; item = item->next)
        rc = nested && item->type == GALE_TYPE_LIST ? add_fields(l, source, output, item, false, names)
                                                    : add_field(l, source, output, item, names);
    return rc;
}

static void warn_replaced(const gx_loading *l, const gx_yaml *from, const gx_component *bolt, const gx_output *output) {
    gx_yaml_warn(l->doc, from, l->options->logger,
                 "'%s' subscribes again to stream '%s' of '%.*s': this grouping replaces the one before", bolt->name,
                 output->name, GX_STR(from->text));
}

/* Is the class called by a name of Storm's? There the same counts come out, in parts. */
static bool has_storms_name(const gx_loading *l, const gx_keyed *keyed) {
    const gx_vertex *v = gx_loading_vertex(l, gx_str(keyed->id));
    const gx_yaml *name = v ? gx_yaml_get(v->item, "className") : NULL;
    return name && !gx_str_is(name->text, keyed->class_->name);
}

/* A key that the file names may be meant to differ: a field may decide the other one, as a city decides its country. A key that nobody named is the
 * first field that comes in, and a bolt that is grouped by another one counts what was not asked for. */
static int check_key(const gx_loading *l, const gx_yaml *node, const gx_component *source, const gx_component *bolt,
                     const gx_output *output, const char *fields) {
    gale_error inner = GALE_ERROR_INIT;
    int rc = 0;
    for (size_t i = 0; i < l->keyed_count && rc == 0; i++) {
        const gx_keyed *keyed = &l->keyed[i];
        if (strcmp(keyed->id, bolt->name) != 0 || gx_keyed_check(keyed, source->name, output, fields, &inner) == 0)
            continue;
        if (keyed->fields || has_storms_name(l, keyed))
            gx_yaml_warn(l->doc, node, l->options->logger, "%s", inner.text);
        else
            rc = gx_loading_keep(l, gx_yaml_error_at(l->doc, node, l->error, &inner));
    }
    return rc;
}

/* What a bolt's own parameters say of an input: the parameter, and where the file gives it. */
typedef struct looking {
    const gx_loading *l;
    const gx_vertex *bolt;
    const gx_component *source;
    const gx_output *output;
    const gx_typed_stream *typed; /* NULL: not known */
    const gx_param *param;
    const gx_yaml *place;
} looking;

/* Every tuple would fail whose field is of another type. `what` is how the text of the parameter calls it. */
static int check_type(const looking *at, gale_str field, const char *what, uint32_t taken) {
    char use[400];
    snprintf(use, sizeof use, "%s of '%.*s' %s '%.*s', which", what, GX_STR(at->bolt->id->text),
             at->param->roles & (GX_PARAM_AGGREGATES | GX_PARAM_TEMPLATE) ? "takes" : "is", GX_STR(field));
    return gx_typing_check(at->l, at->place, use, at->param, gx_typed_find(at->typed, field), taken);
}

/* The fields that a bolt's own parameters name must come in. */
static int check_field(const looking *at, gale_str field) {
    const gx_loading *l = at->l;
    const gx_output *output = at->output;
    gx_nearest nearest = gx_nearest_to(field);
    char hint[GX_HINT_SIZE];
    for (uint32_t i = 0; i < output->field_count; i++) {
        if (gx_str_is(field, output->fields[i])) return 0;
        gx_nearest_offer(&nearest, gx_str(output->fields[i]));
    }
    return gx_yaml_error(l->doc, at->place, l->error, GALE_NOT_FOUND,
                         "'%s' of '%.*s' %s '%.*s', which '%s' does not have in stream '%s'%s", at->param->name,
                         GX_STR(at->bolt->id->text),
                         at->param->roles & (GX_PARAM_AGGREGATES | GX_PARAM_BRACES) ? "names" : "is", GX_STR(field),
                         at->source->name, output->name, gx_nearest_hint(&nearest, hint, sizeof hint));
}

/* What a path names between braces: a field, or one whose time is written. A path that is none has been told of. */
static int check_template(const looking *at, gale_str path) {
    gx_template made;
    const gx_loading *l = at->l;
    int rc = gx_template_parse(path, at->param->name, &made, NULL) < 0 ? LEFT_OUT : 0;
    for (uint32_t i = 0; rc == 0 && i < made.fields.count; i++)
        rc = gx_loading_keep(l, check_field(at, gx_fields_name(&made.fields, i)));
    for (uint32_t i = 0; rc == 0 && i < made.count; i++)
        if (made.parts[i].kind == GX_TEMPLATE_TIME)
            rc = gx_loading_keep(l, check_type(at, gx_fields_name(&made.fields, made.parts[i].field),
                                               "a time in 'path'", GX_TYPES_NUMBER));
    return rc < 0 ? rc : 0;
}

static int check_names(const looking *at, gale_str names) {
    char what[80];
    uint32_t taken = gx_typing_takes(at->bolt->args, at->param);
    gale_str field;
    int rc = 0;
    snprintf(what, sizeof what, "'%s'", at->param->name);
    while (rc == 0 && gx_str_next(&names, ',', &field)) {
        rc = gx_loading_keep(at->l, check_field(at, field));
        if (rc == 0) rc = gx_loading_keep(at->l, check_type(at, field, what, taken));
    }
    return rc;
}

/* The first field, or the second, where the parameter names none and stands for it. */
static int check_place(const looking *at) {
    uint32_t nth = at->param->nth, taken = gx_typing_takes(at->bolt->args, at->param);
    char what[80];
    if (!nth || nth > at->output->field_count) return 0;
    snprintf(what, sizeof what, "'%s', which is not given,", at->param->name);
    return gx_loading_keep(at->l, check_type(at, gx_str(at->output->fields[nth - 1]), what, taken));
}

static int check_call(const looking *at, const gx_window_spec *spec, uint32_t index) {
    const gx_window_call *call = &spec->calls[index];
    const char *name = gx_window_function_name(call->function);
    int rc = 0;
    if (call->weighted)
        rc = gx_loading_keep(
            at->l, check_type(at, gx_fields_name(&spec->fields, call->weight), name, GX_TYPES(GALE_TYPE_I64)));
    if (rc == 0 && gx_window_function_counts(call->function))
        rc = gx_loading_keep(at->l, check_type(at, gx_fields_name(&spec->fields, call->field), name, GX_TYPES_NUMBER));
    return rc;
}

/* What cannot be read, the class refuses. */
static int check_aggregates(const looking *at, gale_str text) {
    gx_window_spec spec = { .count = 0 };
    int rc = gx_window_spec_parse(text.data, "", at->param->name, &spec, NULL) < 0 ? LEFT_OUT : 0;
    for (uint32_t i = 0; rc == 0 && i < spec.fields.count; i++)
        rc = gx_loading_keep(at->l, check_field(at, gx_fields_name(&spec.fields, i)));
    for (uint32_t i = 0; rc == 0 && i < spec.count; i++) rc = check_call(at, &spec, i);
    return rc < 0 ? rc : 0;
}

static bool is_among(const char *words, gale_str wanted) {
    gale_str rest = gx_str(words ? words : ""), word;
    while (gx_str_next(&rest, ' ', &word))
        if (gx_str_equal(word, wanted)) return true;
    return false;
}

/* The next brace that does not stand twice, as one of the text's own does. */
static const char *next_brace(gale_str text) {
    const char *open = memchr(text.data, '{', text.size), *end = text.data + text.size;
    while (open && open + 1 < end && open[1] == '{') open = memchr(open + 2, '{', (size_t)(end - open - 2));
    return open;
}

/* The next name in braces; false: there is none, or the class refuses the rest. */
static bool next_in_braces(gale_str *text, gale_str *ret_name) {
    const char *open = next_brace(*text);
    const char *end = open ? memchr(open, '}', text->size - (size_t)(open - text->data)) : NULL;
    if (!end) return false;
    const char *name = open[1] == '+' ? open + 2 : open + 1;
    *ret_name = (gale_str){ name, (size_t)(end - name) };
    *text = (gale_str){ end + 1, text->size - (size_t)(end + 1 - text->data) };
    return ret_name->size > 0;
}

static int check_braces(const looking *at, gale_str text) {
    gale_str field;
    int rc = 0;
    while (rc == 0 && next_in_braces(&text, &field))
        if (!is_among(at->param->words, field)) rc = gx_loading_keep(at->l, check_field(at, field));
    return rc;
}

/* A text without braces that is a field's name is the same for every tuple. */
static void look_at_bare_name(const looking *at, gale_str text) {
    for (uint32_t i = 0; i < at->output->field_count; i++)
        if (gx_str_is(text, at->output->fields[i]))
            gx_yaml_warn(at->l->doc, at->place, at->l->options->logger,
                         "'%s' of '%.*s' is the text '%.*s' for every tuple; '{%.*s}' is the field of this name",
                         at->param->name, GX_STR(at->bolt->id->text), GX_STR(text), GX_STR(text));
}

static int check_parameter(const looking *at, const gale_value *value) {
    uint32_t roles = at->param->roles;
    int rc = 0;
    if (value->type == GALE_TYPE_NULL) return check_place(at);
    if (value->type != GALE_TYPE_STRING || !value->size) return 0;
    gale_str text = { value->as.string, value->size };
    if (roles & GX_PARAM_INPUT) rc = check_names(at, text);
    if (roles & GX_PARAM_AGGREGATES) rc = check_aggregates(at, text);
    if (roles & GX_PARAM_BRACES) rc = check_braces(at, text);
    if (roles & GX_PARAM_TEMPLATE) rc = check_template(at, text);
    if (roles & (GX_PARAM_BRACES | GX_PARAM_TEMPLATE)) look_at_bare_name(at, text);
    return rc;
}

static int check_fields(const gx_loading *l, const gx_yaml *item, const gx_vertex *bolt, const gx_component *source,
                        const gx_output *output) {
    int rc = 0;
    if (gx_class_is_apart(bolt->class_, output->name)) return 0;
    const gx_typed_stream *typed = gx_typing_stream(gx_loading_vertex(l, gx_str(source->name)), output->name);
    for (size_t i = 0; rc == 0 && i < bolt->class_->param_count; i++) {
        const gx_yaml *place = bolt->args->places[i] ? bolt->args->places[i] : item;
        const looking at = { l, bolt, source, output, typed, &bolt->class_->params[i], place };
        rc = check_parameter(&at, &bolt->args->values[i]);
    }
    return rc;
}

/* A stream's two ends, as the file names them, and what they are; NULL: a component that is added later. */
typedef struct ends {
    const gx_yaml *from, *to;
    const gx_component *source;
    gx_component *bolt;
    bool lost; /* the bolt is not there, or was not made, perhaps since this stream is wrong */
} ends;

/* What a grouping says, as far as that can be told without its source. */
typedef struct said {
    int32_t kind, drop;
    bool custom;
    const gx_yaml *stream, *fields; /* NULL: none */
} said;

/* "grouping: SHUFFLE" */
static int read_grouping_word(const gx_loading *l, const gx_yaml *word, said *ret) {
    int rc = grouping_kind(l, word, &ret->kind);
    if (rc < 0 || (ret->kind != GALE_GROUPING_FIELDS && ret->kind != GALE_GROUPING_CUSTOM)) return rc;
    return gx_yaml_error(l->doc, word, l->error, GALE_TOPOLOGY, "a %.*s grouping is a map: {type: %.*s, %s}",
                         GX_STR(word->text), GX_STR(word->text),
                         ret->kind == GALE_GROUPING_FIELDS ? "args: [field]" : "customClass: {className: ...}");
}

static int read_grouping(const gx_loading *l, const gx_yaml *node, said *ret) {
    const gx_yaml *type;
    *ret = (said){ .kind = GALE_GROUPING_SHUFFLE };
    if (node->type == GALE_TYPE_STRING) return read_grouping_word(l, node, ret);
    int rc = gx_shape_map_with(l->doc, node, "a grouping", "type streamId args customClass drop", "type", l->error);
    if (rc == 0) rc = gx_shape_text(l->doc, node, "a grouping", "type", &type, l->error);
    if (rc == 0) rc = grouping_kind(l, type, &ret->kind);
    if (rc == 0) rc = drop_policy(l, node, &ret->drop);
    ret->custom = ret->kind == GALE_GROUPING_CUSTOM;
    if (rc == 0) rc = grouping_fields(l, node, &ret->kind, &ret->fields);
    if (rc == 0 && gx_yaml_get(node, "streamId"))
        rc = gx_shape_text(l->doc, node, "a grouping", "streamId", &ret->stream, l->error);
    return rc;
}

/* What is looked at where both ends are known. */
static int check_subscription(gx_loading *l, const gx_yaml *node, const gx_yaml *from, const gx_component *source,
                              const gx_component *bolt, const gx_output *output, gx_buf *names) {
    size_t kept = gx_yaml_kept(l->doc);
    if (!output || !bolt) return 0;
    int rc = check_fields(l, from, gx_loading_vertex(l, gx_str(bolt->name)), source, output);
    if (rc == 0 && names->size && gx_yaml_kept(l->doc) == kept)
        rc = check_key(l, node, source, bolt, output, gx_buf_text(names));
    return rc;
}

static int subscribe(gx_loading *l, const gx_yaml *node, const said *what, const ends *of) {
    const gx_output *output = NULL;
    gx_buf names = GX_BUF_INIT(NULL);
    int rc = of->source ? find_output(l, of->source, what->stream, of->from, &output) : 0;
    if (rc == 0) rc = add_fields(l, of->source, output, what->fields, what->custom, &names);
    if (rc == 0) rc = check_subscription(l, node, of->from, of->source, of->bolt, output, &names);
    if (rc == 0 && !of->lost) {
        gale_grouping taken = gale_grouping_of(what->kind, what->fields ? gx_buf_text(&names) : NULL);
        const char *stream = output ? output->name : what->stream ? what->stream->text.data : NULL;
        taken.drop = what->drop;
        rc = gale_topology_subscribe(l->topology, of->to->text.data, of->from->text.data, stream, taken);
        if (rc < 0) rc = gx_loading_builder_error(l, node, rc);
        if (rc > 0 && output && of->bolt) warn_replaced(l, of->from, of->bolt, output);
    }
    gx_buf_fini(&names);
    return rc < 0 ? rc : 0;
}

static int find_target(const gx_loading *l, const gx_yaml *name, gx_component **ret_bolt) {
    int rc = find_component(l, name, ret_bolt);
    if (rc != 0 || !*ret_bolt || !(*ret_bolt)->is_spout) return rc;
    return gx_yaml_error(l->doc, name, l->error, GALE_TOPOLOGY, "'%s' is a spout; a stream leads to a bolt",
                         (*ret_bolt)->name);
}

static bool is_blind(const gx_loading *l, gale_str id) {
    const gx_vertex *v = gx_loading_vertex(l, id);
    return v && v->blind;
}

/* Where one end is wrong, the other and the grouping are looked at all the same. */
static int stream(gx_loading *l, const gx_yaml *item) {
    const gx_yaml *node = gx_yaml_get(item, "grouping");
    ends of = { .source = NULL };
    said what;
    int rc = gx_shape_stream_with(l->doc, item, GX_STREAM_KEYS, "from to grouping", l->error);
    if (rc == 0) rc = gx_shape_text(l->doc, item, "a stream", "from", &of.from, l->error);
    if (rc == 0) rc = gx_shape_text(l->doc, item, "a stream", "to", &of.to, l->error);
    if (rc != 0) return l->lost = true, rc;
    int from_rc = find_source(l, of.from, &of.source);
    if (from_rc < 0 && (rc = gx_loading_keep(l, from_rc)) < 0) return rc;
    int to_rc = find_target(l, of.to, &of.bolt);
    if (to_rc < 0 && (rc = gx_loading_keep(l, to_rc)) < 0) return rc;
    of.lost = to_rc != 0;
    l->lost |= of.lost && !is_blind(l, of.to->text);
    if (!node) return gx_yaml_error(l->doc, item, l->error, GALE_TOPOLOGY, "a stream needs the field 'grouping'");
    rc = read_grouping(l, node, &what);
    return rc == 0 && from_rc == 0 ? subscribe(l, node, &what, &of) : rc;
}

/* A stream is what it is to a bolt, even where something is wrong with it. */
static void note_reached(gx_loading *l, const gx_yaml *item) {
    const gx_yaml *to = gx_yaml_get(item, "to");
    gx_vertex *bolt = to && gx_yaml_is_scalar(to) ? gx_loading_vertex(l, to->text) : NULL;
    if (bolt) bolt->reached = true;
}

/* Storm leaves out a bolt that no stream leads to, without a word. */
static int check_reached(const gx_loading *l) {
    int rc = 0;
    if (l->lost) return 0; /* it may have been meant */
    for (size_t i = l->spout_count; i < l->vertex_count && rc == 0; i++) {
        const gx_vertex *v = &l->vertices[i];
        if (!v->id || v->reached) continue;
        if (l->options->open) {
            rc = note_gap(l, v->id);
            continue;
        }
        rc = gx_loading_keep(l, gx_yaml_error(l->doc, v->id, l->error, GALE_TOPOLOGY,
                                              "bolt '%.*s' has no input: no stream leads to it", GX_STR(v->id->text)));
    }
    return rc;
}

int gx_loading_streams(gx_loading *l, const gx_yaml *root) {
    const gx_yaml *list = NULL;
    int rc = gx_loading_keep(l, gx_shape_list(l->doc, root, "a topology", "streams", &list, l->error));
    l->lost = !list && gx_yaml_kept(l->doc);
    for (const gx_yaml *item = list && rc == 0 ? list->as.first : NULL; item && rc == 0; item = item->next) {
        note_reached(l, item);
        rc = gx_loading_keep(l, stream(l, item));
    }
    return rc == 0 ? check_reached(l) : rc;
}
