#include "front/typing.h"

#include "base/buf.h"
#include "kit/window_spec.h"

#include <stdio.h>

/* --- Where the file says it --- */

static gale_str word_of(gale_str *rest) {
    gale_str text = gx_str_trim(*rest);
    size_t end = 0;
    while (end < text.size && text.data[end] != ' ' && text.data[end] != '\t') end++;
    *rest = (gale_str){ text.data + end, text.size - end };
    return (gale_str){ text.data, end };
}

static gale_str last_part(gale_str path) {
    for (size_t i = path.size; i > 0; i--)
        if (path.data[i - 1] == '.') return (gale_str){ path.data + i, path.size - i };
    return path;
}

/* Does "user.name as name int", or "status int", name the field? Its type's word is empty where none stands there. */
static bool is_column(gale_str piece, gale_str field, gale_str *ret_type) {
    gale_str path = word_of(&piece), word = word_of(&piece), name = path;
    bool renamed = gx_str_is(word, "as");
    if (renamed) name = word_of(&piece), word = word_of(&piece);
    *ret_type = word;
    return gx_str_equal(name, field) || (!renamed && gx_str_equal(last_part(path), field));
}

/* The item of a list, or the value of a map, that is the field's; else the node itself. */
static const gx_yaml *item_of(const gx_yaml *node, gale_str field) {
    gale_str type;
    if (node && node->type == GALE_TYPE_LIST)
        for (const gx_yaml *item = node->as.first; item; item = item->next)
            if (gx_yaml_is_scalar(item) && is_column(item->text, field, &type)) return item;
    if (node && node->type == GALE_TYPE_MAP)
        for (const gx_yaml *key = node->as.first; key; key = key->next->next)
            if (gx_str_equal(key->text, field)) return key->next;
    return node;
}

static const char *text_at(const gx_args *args, size_t index) {
    const gale_value *value = &args->values[index];
    return value->type == GALE_TYPE_STRING && value->size ? value->as.string : NULL;
}

/* --- What a field has --- */

/* Is it in the list? */
static bool names(const char *list, gale_str field) {
    gale_str rest = gx_str(list), name;
    while (rest.size && gx_str_next(&rest, ',', &name))
        if (gx_str_equal(name, field)) return true;
    return false;
}

/* The field that a parameter names, or that stands for it: `nth` of the first input. */
static gale_str meant_by(const gx_args *args, const gx_param *param) {
    const char *text = text_at(args, (size_t)(param - args->class_->params));
    if (text) return gx_str(text);
    gale_str rest = gx_str(args->input_count ? args->inputs[0].fields : NULL), name = { NULL, 0 };
    for (uint32_t i = 0; i < param->nth; i++)
        if (!rest.size || !gx_str_next(&rest, ',', &name)) return (gale_str){ NULL, 0 };
    return name;
}

/* "count int" and, of another stream, "late.behind int float"; "word @key": as the field that the parameter `key`
 * names. */
static bool by_table(const gx_args *args, const char *stream, gx_typed_field *ret) {
    gale_str rest = gx_str(args->class_->types), row;
    bool is_default = strcmp(stream, "default") == 0;
    while (rest.size && gx_str_next(&rest, ',', &row)) {
        gale_str name = word_of(&row), before = { name.data, 0 };
        const char *point = memchr(name.data, '.', name.size);
        if (point) before.size = (size_t)(point - name.data);
        if (point) name = (gale_str){ point + 1, name.size - before.size - 1 };
        if (!gx_str_equal(name, ret->name) || !(point ? gx_str_is(before, stream) : is_default)) continue;
        row = gx_str_trim(row);
        if (row.data[0] != '@') return gx_types_read(row, &ret->types);
        for (size_t i = 0; i < args->class_->param_count; i++)
            if (gx_str_is((gale_str){ row.data + 1, row.size - 1 }, args->class_->params[i].name))
                gx_args_take_types(args, meant_by(args, &args->class_->params[i]), ret);
        return true;
    }
    return false;
}

static bool by_column(const gx_args *args, size_t index, gx_typed_field *ret) {
    const gx_param *param = &args->class_->params[index];
    gale_str rest = gx_str(text_at(args, index)), piece, type;
    while (rest.size && gx_str_next(&rest, ',', &piece)) {
        if (!is_column(piece, ret->name, &type)) continue;
        if (!type.size) type = gx_str(param->gives ? param->gives : "any");
        ret->place = item_of(args->places[index], ret->name);
        if (!gx_types_read(type, &ret->types)) ret->types = GX_TYPES_ANY;
        if (ret->types == GX_TYPES(GALE_TYPE_STRING)) ret->types = GX_TYPES_TEXT;
        return true;
    }
    return false;
}

static uint32_t of_call(const gx_window_call *call, uint32_t types) {
    switch (call->function) {
    case GX_WINDOW_COUNT:
    case GX_WINDOW_DISTINCT: return GX_TYPES(GALE_TYPE_I64);
    case GX_WINDOW_AVG:
    case GX_WINDOW_PERCENTILE: return GX_TYPES(GALE_TYPE_F64);
    case GX_WINDOW_TOP: return GX_TYPES(GALE_TYPE_LIST);
    case GX_WINDOW_FIRST:
    case GX_WINDOW_LAST: return types;
    default: return types & GX_TYPES_NUMBER ? types & GX_TYPES_NUMBER : GX_TYPES_NUMBER;
    }
}

static bool by_aggregate(const gx_args *args, size_t index, gx_typed_field *ret) {
    gx_window_spec spec = { .count = 0 };
    const char *text = text_at(args, index);
    if (!text || gx_window_spec_parse(text, "", "aggregates", &spec, NULL) < 0) return false;
    for (uint32_t i = 0; i < spec.count; i++) {
        gx_typed_field field = { .types = GX_TYPES_ANY };
        if (!gx_str_equal(gx_window_call_name(&spec, i), ret->name)) continue;
        if (spec.calls[i].has_field)
            gx_args_take_types(args, gx_fields_name(&spec.fields, spec.calls[i].field), &field);
        ret->types = of_call(&spec.calls[i], field.types);
        ret->place = args->places[index];
        return true;
    }
    return false;
}

/* What a parameter says of a field that goes out on the default stream. */
static bool by_parameter(const gx_args *args, size_t index, gx_typed_field *ret) {
    const gx_param *param = &args->class_->params[index];
    if (param->roles & GX_PARAM_COLUMNS) return by_column(args, index, ret);
    if (param->roles & GX_PARAM_AGGREGATES) return by_aggregate(args, index, ret);
    if (!param->gives || !names(text_at(args, index), ret->name)) return false;
    ret->place = args->places[index];
    return gx_types_read(gx_str(param->gives), &ret->types);
}

static bool is_made(const gx_args *args, gx_typed_field *ret, gale_str *from) {
    for (size_t i = 0; i < args->class_->param_count; i++)
        if (by_parameter(args, i, ret)) return true;
    if (!args->class_->gives || !args->class_->gives(args, from, &ret->types)) return false;
    for (size_t i = 0; i < args->class_->param_count; i++)
        if (args->values[i].type == GALE_TYPE_MAP) ret->place = item_of(args->places[i], ret->name);
    return true;
}

/* A field that goes through: a parameter names it among those, or, where it names none, all do. */
static bool passes(const gx_args *args, gale_str field) {
    for (size_t i = 0; i < args->class_->param_count; i++) {
        const char *text = text_at(args, i);
        if (!(args->class_->params[i].roles & GX_PARAM_PASSES)) continue;
        if (text ? names(text, field) : strcmp(args->class_->params[i].name, "fields") == 0) return true;
    }
    return false;
}

static void find_types(const gx_vertex *v, const gx_args *args, const char *stream, gx_typed_field *ret) {
    gale_str from = ret->name;
    ret->types = GX_TYPES_ANY;
    ret->giver = v;
    if (by_table(args, stream, ret)) return;
    if (strcmp(stream, "default") == 0 && is_made(args, ret, &from)) return;
    ret->types = GX_TYPES_ANY;
    if (passes(args, from)) gx_args_take_types(args, from, ret);
}

/* --- Noting --- */

static uint32_t count_names(const char *fields) {
    uint32_t count = fields && *fields ? 1 : 0;
    for (const char *at = fields; at && *at; at++) count += *at == ',';
    return count;
}

static int note_stream(const gx_loading *l, const gx_vertex *v, const gx_args *args, const gale_output *output,
                       gx_typed_stream *ret) {
    gale_str rest = gx_str(output->fields), name;
    uint32_t count = count_names(output->fields);
    ret->name = output->stream ? output->stream : "default";
    if (!count) return 0;
    if (!(ret->fields = gx_yaml_take(l->doc, count * sizeof *ret->fields))) return gx_loading_no_memory(l);
    while (ret->count < count && gx_str_next(&rest, ',', &name)) {
        gx_typed_field *field = &ret->fields[ret->count++];
        char *kept = gx_yaml_take(l->doc, name.size + 1);
        if (!kept) return gx_loading_no_memory(l);
        memcpy(kept, name.data, name.size);
        field->name = (gale_str){ kept, name.size };
        find_types(v, args, ret->name, field);
    }
    return 0;
}

int gx_typing_note(const gx_loading *l, gx_vertex *v, const gx_args *args, const gale_output *outputs, size_t count) {
    int rc = 0;
    if (count && !(v->typed = gx_yaml_take(l->doc, count * sizeof *v->typed))) return gx_loading_no_memory(l);
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = note_stream(l, v, args, &outputs[i], &v->typed[i]);
        v->typed_count++;
    }
    return rc;
}

const gx_typed_stream *gx_typing_stream(const gx_vertex *v, const char *stream) {
    for (uint32_t i = 0; v && i < v->typed_count; i++)
        if (strcmp(v->typed[i].name, stream) == 0) return &v->typed[i];
    return NULL;
}

/* --- Checking --- */

uint32_t gx_typing_takes(const gx_args *args, const gx_param *param) {
    uint32_t types = GX_TYPES_ANY;
    if (!param->takes) return GX_TYPES_ANY;
    if (args->class_->takes) return args->class_->takes(args, param);
    return gx_types_read(gx_str(param->takes), &types) ? types : GX_TYPES_ANY;
}

/* May the file give the field another type where it names it? */
static bool is_declared(const gx_typed_field *field) {
    const gx_class *class_ = field->giver->class_;
    for (size_t i = 0; i < class_->param_count; i++)
        if (class_->params[i].roles & GX_PARAM_COLUMNS && field->place) return true;
    return false;
}

/* How gale.bolt.Map makes one of `taken` of it; NULL: it cannot. */
static const char *conversion(uint32_t types, uint32_t taken) {
    if (!(taken & GX_TYPES_NUMBER)) return "text of it (tostring(%.*s))";
    if (types & GX_TYPES_NUMBER) return "it whole (math.floor(%.*s))";
    if (types & GX_TYPES_TEXT) return "a number of it (tonumber(%.*s))";
    return types & GX_TYPES(GALE_TYPE_BOOL) ? "a number of it (%.*s and 1 or 0)" : NULL;
}

static void add_way_out(const gx_param *param, const gx_typed_field *field, uint32_t taken, gx_buf *text) {
    bool declared = is_declared(field), time = param->roles & GX_PARAM_TIME && field->types & GX_TYPES_TEXT;
    const char *how = conversion(field->types, taken);
    const char *word = !(taken & GX_TYPES_NUMBER) ? "string" : taken & GX_TYPES(GALE_TYPE_F64) ? "int or float" : "int";
    char made[80] = "";
    if (declared) gx_buf_format(text, "; give it the type %s there", word);
    if (!declared && !time && !how) gx_buf_add_text(text, "; name another field");
    if (!time && !how) return;
    gx_buf_format(text, "%s gale.bolt.%s make ", declared ? ", or let" : "; let", time ? "Timestamp" : "Map");
    if (!time) snprintf(made, sizeof made, how, field->name.size < 40 ? (int)field->name.size : 1, field->name.data);
    gx_buf_add_text(text, time ? "a time of it" : made);
}

int gx_typing_check(const gx_loading *l, const gx_yaml *place, const char *use, const gx_param *param,
                    const gx_typed_field *field, uint32_t taken) {
    char is[GX_TYPES_WORDS], must[GX_TYPES_WORDS];
    if (!field || !gx_types_exclude(field->types, taken)) return 0;
    const gx_yaml *given = field->place ? field->place : field->giver->item;
    gx_buf text = GX_BUF_INIT(NULL);
    gx_buf_format(&text, "%s must be %s, and is %s: '%.*s' gives it so at %s:%u:%u", use, gx_types_text(taken, must),
                  gx_types_text(field->types, is), GX_STR(field->giver->id->text), given->file, given->line,
                  given->column);
    add_way_out(param, field, taken, &text);
    const char *said = gx_buf_text(&text);
    int rc = said ? gx_yaml_error(l->doc, place, l->error, GALE_TYPE, "%s", said) : gx_loading_no_memory(l);
    gx_buf_fini(&text);
    return rc;
}
