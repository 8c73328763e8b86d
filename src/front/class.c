#include "front/class.h"

#include "base/assert.h"
#include "base/str.h"
#include "front/units.h"
#include "topology/config.h"

const char *gx_class_kind_name(int32_t kind) {
    static const char *const names[GX_CLASS_KIND_COUNT] = { "spout", "bolt", "component" };
    return kind >= 0 && kind < GX_CLASS_KIND_COUNT ? names[kind] : "unknown";
}

bool gx_class_is_called(const gx_class *class_, gale_str name) {
    if (gx_str_is(name, class_->name)) return true;
    for (size_t i = 0; i < GX_ALIASES_MAX && class_->aliases[i]; i++)
        if (gx_str_is(name, class_->aliases[i])) return true;
    return false;
}

/* `list` has blanks between its words; NULL: none. */
static bool is_among(const char *list, const char *wanted) {
    gale_str rest = gx_str(list), word;
    while (rest.data && gx_str_next(&rest, ' ', &word))
        if (gx_str_is(word, wanted)) return true;
    return false;
}

bool gx_class_reads_key(const gx_class *class_, const char *key) {
    return is_among(class_->keys, key);
}

bool gx_class_is_apart(const gx_class *class_, const char *stream) {
    return is_among(class_->apart, stream);
}

/* --- Types -------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *text;
} types[GX_PARAM_TYPE_COUNT] = {
    [GX_PARAM_ANY] = { "any value", "a value" },
    [GX_PARAM_BOOL] = { "true or false", "true or false" },
    [GX_PARAM_WHOLE] = { "whole number", "a whole number" },
    [GX_PARAM_NUMBER] = { "number", "a number" },
    [GX_PARAM_SECONDS] = { "duration", "a number of seconds, or a duration such as 250ms, 10s or 1h30m" },
    [GX_PARAM_BYTES] = { "size", "a number of bytes, or a size such as 64 KB, 100 MB or 2 GiB" },
    [GX_PARAM_TEXT] = { "string", "a string" },
    [GX_PARAM_WORD] = { "word", "a string" },
    [GX_PARAM_FIELD] = { "field", "the name of a field" },
    [GX_PARAM_FIELDS] = { "fields", "names of fields, as a list or with commas between them" },
    [GX_PARAM_LIST] = { "list of strings", "a list of strings" },
    [GX_PARAM_MAP] = { "map", "a map" },
};

const char *gx_param_type_name(int32_t type) {
    return type >= 0 && type < GX_PARAM_TYPE_COUNT ? types[type].name : "unknown";
}

const char *gx_param_type_text(int32_t type) {
    return type >= 0 && type < GX_PARAM_TYPE_COUNT ? types[type].text : "unknown";
}

/* --- Arguments ---------------------------------------------------------------------------------------------------- */

static bool is_text(int32_t type) {
    return type == GX_PARAM_TEXT || type == GX_PARAM_WORD || type == GX_PARAM_FIELD || type == GX_PARAM_FIELDS;
}

gale_value gx_param_fallback(const gx_param *param) {
    gale_str text = gx_str(param->fallback);
    int64_t bytes;
    double seconds;
    if (!text.size) return gale_null();
    if (is_text(param->type)) return gale_string(text.data, text.size);
    if (param->type == GX_PARAM_BYTES && gx_size_read(text, &bytes)) return gale_i64(bytes);
    if (param->type == GX_PARAM_SECONDS && gx_duration_read(text, &seconds)) return gale_f64(seconds);
    gale_value value = gx_config_scalar(text);
    bool number = param->type == GX_PARAM_NUMBER || param->type == GX_PARAM_SECONDS;
    return number && value.type == GALE_TYPE_I64 ? gale_f64((double)value.as.i64) : value;
}

gx_args gx_args_of(const gx_class *class_) {
    gx_args args = { .class_ = class_ };
    for (size_t i = 0; i < class_->param_count; i++) args.values[i] = gx_param_fallback(&class_->params[i]);
    return args;
}

bool gx_class_has(const gx_class *class_, const char *name) {
    for (size_t i = 0; i < class_->param_count; i++)
        if (strcmp(class_->params[i].name, name) == 0) return true;
    return false;
}

static size_t index_of(const gx_class *class_, const char *name) {
    for (size_t i = 0; i < class_->param_count; i++)
        if (strcmp(class_->params[i].name, name) == 0) return i;
    GX_ASSERT(!"a class asks for a parameter that it has");
    return 0;
}

const gale_value *gx_args_value(const gx_args *args, const char *name) {
    return &args->values[index_of(args->class_, name)];
}

bool gx_args_given(const gx_args *args, const char *name) {
    return args->given[index_of(args->class_, name)];
}

static const char *text_of(const gale_value *value) {
    return value && value->type == GALE_TYPE_STRING ? value->as.string : NULL;
}

const char *gx_args_text(const gx_args *args, const char *name) {
    return text_of(gx_args_value(args, name));
}

bool gx_args_flag(const gx_args *args, const char *name) {
    const gale_value *value = gx_args_value(args, name);
    return value->type == GALE_TYPE_BOOL && value->as.boolean;
}

int64_t gx_args_whole(const gx_args *args, const char *name) {
    const gale_value *value = gx_args_value(args, name);
    return value->type == GALE_TYPE_I64 ? value->as.i64 : 0;
}

double gx_args_number(const gx_args *args, const char *name) {
    const gale_value *value = gx_args_value(args, name);
    return value->type == GALE_TYPE_F64 ? value->as.f64 : 0;
}

bool gx_args_is(const gx_args *args, const char *name, const char *word) {
    const char *text = gx_args_text(args, name);
    return text && strcmp(text, word) == 0;
}

void gx_args_take_types(const gx_args *args, gale_str field, gx_typed_field *ret) {
    uint32_t all = 0;
    for (size_t i = 0; i < args->input_count; i++) {
        const gx_input *input = &args->inputs[i];
        const gx_typed_field *found = gx_typed_find(input->typed, field);
        if (gx_class_is_apart(args->class_, input->stream) || (!found && input->typed)) continue;
        all |= found ? found->types : GX_TYPES_ANY;
        if (!found || ret->place) continue;
        ret->place = found->place;
        ret->giver = found->giver;
    }
    ret->types = all ? all : GX_TYPES_ANY;
}

const gx_param *gx_class_param_with(const gx_class *class_, uint32_t roles) {
    for (size_t i = 0; i < class_->param_count; i++)
        if (class_->params[i].roles & roles) return &class_->params[i];
    return NULL;
}

const gale_value *gx_args_with(const gx_args *args, uint32_t roles) {
    const gx_param *param = gx_class_param_with(args->class_, roles);
    return param ? &args->values[param - args->class_->params] : NULL;
}

const char *gx_args_text_with(const gx_args *args, uint32_t roles) {
    return text_of(gx_args_with(args, roles));
}
