#include "front/arguments.h"

#include "base/buf.h"
#include "base/nearest.h"
#include "base/str.h"
#include "connect/file/template.h"
#include "front/units.h"
#include "topology/config.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

/* One object's arguments on their way into its class's parameters. */
typedef struct filling {
    const gx_class *class_;
    const char *called; /* the class, as the file has it */
    const gx_refs *refs;
    gx_yaml_doc *doc;
    gale_error *error;
    gx_args *args;
    const char *beside; /* words that may be meant where no parameter is; NULL: none */
} filling;

/* --- Reading values ----------------------------------------------------------------------------------------------- */

static int no_memory(const filling *f) {
    return gale_error_set(f->error, GALE_NO_MEMORY, "%s: out of memory", gx_yaml_name(f->doc));
}

static int resolve(const filling *f, const gx_yaml *id, gale_value *ret_value) {
    gx_nearest nearest = gx_nearest_to(id->text);
    char hint[GX_HINT_SIZE];
    for (size_t i = 0; i < f->refs->count; i++) {
        if (gx_str_equal(f->refs->refs[i].id, id->text)) return *ret_value = f->refs->refs[i].value, 0;
        gx_nearest_offer(&nearest, f->refs->refs[i].id);
    }
    return gx_yaml_error(f->doc, id, f->error, GALE_NOT_FOUND, "no component '%.*s' is declared before this%s",
                         GX_STR(id->text), gx_nearest_hint(&nearest, hint, sizeof hint));
}

/* {reflist: [a, b]}: what they stand for, as a list. */
static int resolve_list(const filling *f, const gx_yaml *ids, gale_value *ret_value) {
    if (ids->type != GALE_TYPE_LIST)
        return gx_yaml_error(f->doc, ids, f->error, GALE_TYPE, "'reflist' must be a list of ids, not %s",
                             gx_yaml_type_text(ids));
    gale_value *values = gx_yaml_take(f->doc, (size_t)ids->count * sizeof *values + 1);
    if (!values) return no_memory(f);
    size_t i = 0;
    for (const gx_yaml *id = ids->as.first; id; id = id->next, i++) {
        if (!gx_yaml_is_scalar(id))
            return gx_yaml_error(f->doc, id, f->error, GALE_TYPE, "'reflist' must be a list of ids, not of %s",
                                 gx_yaml_type_text(id));
        int rc = resolve(f, id, &values[i]);
        if (rc < 0) return rc;
    }
    *ret_value = gale_list(values, ids->count);
    return 0;
}

static int read_value(const filling *f, const gx_yaml *node, gale_value *ret_value);

/* A map's keys are text whatever they look like. */
static int read_parts(const filling *f, const gx_yaml *node, gale_value *ret_value) {
    bool is_map = node->type == GALE_TYPE_MAP;
    size_t items = is_map ? 2 * (size_t)node->count : node->count, i = 0;
    gale_value *values = gx_yaml_take(f->doc, items * sizeof *values + 1);
    if (!values) return no_memory(f);
    for (const gx_yaml *child = node->as.first; child; child = child->next, i++) {
        int rc = 0;
        if (is_map && i % 2 == 0)
            values[i] = gale_string(child->text.data, child->text.size);
        else
            rc = read_value(f, child, &values[i]);
        if (rc < 0) return rc;
    }
    *ret_value = is_map ? gale_map(values, node->count) : gale_list(values, node->count);
    return 0;
}

/* A value; {ref: id}; {reflist: [ids]}. */
static int read_value(const filling *f, const gx_yaml *node, gale_value *ret_value) {
    const gx_yaml *ref = gx_yaml_get(node, "ref"), *reflist = gx_yaml_get(node, "reflist");
    if (ref && node->count == 1 && gx_yaml_is_scalar(ref)) return resolve(f, ref, ret_value);
    if (reflist && node->count == 1) return resolve_list(f, reflist, ret_value);
    switch (node->type) {
    case GALE_TYPE_NULL: *ret_value = gale_null(); return 0;
    case GALE_TYPE_BOOL: *ret_value = gale_bool(node->as.boolean); return 0;
    case GALE_TYPE_I64: *ret_value = gale_i64(node->as.i64); return 0;
    case GALE_TYPE_F64: *ret_value = gale_f64(node->as.f64); return 0;
    case GALE_TYPE_STRING: *ret_value = gale_string(node->text.data, node->text.size); return 0;
    default: return read_parts(f, node, ret_value);
    }
}

/* How many parts a value has, or more than `most`: lists of references to lists of references double quickly. */
static size_t count_parts(const gale_value *value, size_t most) {
    size_t items = value->type == GALE_TYPE_LIST  ? value->size
                   : value->type == GALE_TYPE_MAP ? 2 * (size_t)value->size
                                                  : 0;
    size_t parts = 1;
    for (size_t i = 0; i < items && parts <= most; i++) parts += count_parts(&value->as.items[i], most - parts);
    return parts;
}

static int read_whole(const filling *f, const gx_yaml *node, gale_value *ret_value) {
    int rc = read_value(f, node, ret_value);
    if (rc == 0 && count_parts(ret_value, GX_VALUE_PARTS) > GX_VALUE_PARTS)
        rc = gx_yaml_error(f->doc, node, f->error, GALE_TOO_LARGE, "more than %d parts, references spelled out",
                           GX_VALUE_PARTS);
    return rc;
}

/* --- Checking and converting -------------------------------------------------------------------------------------- */

static const char *type_text(const gale_value *value) {
    gx_yaml node = { .type = value->type };
    return gx_yaml_type_text(&node);
}

/* "a whole number (12); put it in quotes"; of a number, "4.5" says it all. */
static void say_type(const gx_yaml *node, const gx_param *param, const gale_value *value, char *out, size_t size) {
    gale_str text = gx_yaml_is_scalar(node) ? gx_yaml_shown(node) : (gale_str){ "", 0 };
    if (text.size > 60) text.size = 60;
    bool single = value->type < GALE_TYPE_LIST;
    bool wants_text = param->type == GX_PARAM_TEXT || param->type == GX_PARAM_WORD || param->type == GX_PARAM_FIELD;
    if (value->type == GALE_TYPE_F64 && param->type == GX_PARAM_WHOLE && text.size)
        snprintf(out, size, "%.*s", GX_STR(text));
    else
        snprintf(out, size, "%s%s%.*s%s%s", type_text(value), text.size ? " (" : "", GX_STR(text), text.size ? ")" : "",
                 !wants_text ? ""
                 : single    ? "; put it in quotes"
                             : "; put a text with [ ] { } in quotes");
}

static int wrong_type(const filling *f, const gx_param *param, const gx_yaml *node, const gale_value *value) {
    char given[160];
    say_type(node, param, value, given, sizeof given);
    return gx_yaml_error(f->doc, node, f->error, GALE_TYPE, "'%s' of %s must be %s, not %s", param->name, f->called,
                         gx_param_type_text(param->type), given);
}

/* The names in a list or in a text, with ", " between them, as text of the document. */
static int join(const filling *f, const gx_param *param, const gx_yaml *node, const gale_value *value,
                gale_value *ret_value) {
    gx_buf names = GX_BUF_INIT(NULL);
    bool right = true;
    for (uint32_t i = 0; i < value->size && right; i++) {
        const gale_value *item = &value->as.items[i];
        right = item->type == GALE_TYPE_STRING && item->size && !memchr(item->as.string, ',', item->size);
        if (right) gx_buf_format(&names, "%s%.*s", names.size ? ", " : "", (int)item->size, item->as.string);
    }
    const char *text = gx_buf_text(&names);
    char *kept = text ? gx_yaml_take(f->doc, names.size + 1) : NULL;
    if (kept) memcpy(kept, text, names.size + 1);
    if (kept) *ret_value = gale_string(kept, names.size);
    gx_buf_fini(&names);
    return !right ? wrong_type(f, param, node, value) : kept ? 0 : no_memory(f);
}

/* "a, b" as a list. */
static int split(const filling *f, const gale_value *value, gale_value *ret_value) {
    gale_str rest = { value->as.string, value->size }, piece;
    size_t commas = 0, n = 0;
    for (size_t i = 0; i < rest.size; i++) commas += rest.data[i] == ',';
    gale_value *items = gx_yaml_take(f->doc, (commas + 1) * sizeof *items);
    if (!items) return no_memory(f);
    while (rest.size && gx_str_next(&rest, ',', &piece)) {
        char *kept = gx_yaml_take(f->doc, piece.size + 1); /* with a NUL behind it, as every text has */
        if (!kept) return no_memory(f);
        memcpy(kept, piece.data, piece.size);
        items[n++] = gale_string(kept, piece.size);
    }
    *ret_value = gale_list(items, (uint32_t)n);
    return 0;
}

static bool is_list_of_text(const gale_value *value) {
    for (uint32_t i = 0; i < value->size; i++)
        if (value->as.items[i].type != GALE_TYPE_STRING) return false;
    return true;
}

static bool same_but_case(gale_str a, gale_str b) {
    for (size_t i = 0; i < a.size && i < b.size; i++)
        if (tolower((unsigned char)a.data[i]) != tolower((unsigned char)b.data[i])) return false;
    return a.size == b.size;
}

/* Java's enums are in capitals. The words of a table are constant text: what follows one is a blank or the end. */
static int choose(const filling *f, const gx_param *param, const gx_yaml *node, gale_value *value) {
    gale_str rest = gx_str(param->words), word, text = { value->as.string, value->size };
    char hint[GX_HINT_SIZE];
    while (gx_str_next(&rest, ' ', &word)) {
        if (!same_but_case(word, text)) continue;
        char *kept = gx_yaml_take(f->doc, word.size + 1);
        if (!kept) return no_memory(f);
        memcpy(kept, word.data, word.size);
        *value = gale_string(kept, word.size);
        return 0;
    }
    text = gx_yaml_is_scalar(node) ? gx_yaml_shown(node) : text;
    return gx_yaml_error(f->doc, node, f->error, GALE_INVALID, "'%s' of %s must be one of: %s; not '%.*s'%s",
                         param->name, f->called, param->words, GX_STR(text), gx_shape_hint(text, param->words, hint));
}

static int check_template(const filling *f, const gx_param *param, const gx_yaml *node, const gale_value *value) {
    gale_error inner = GALE_ERROR_INIT;
    gx_template made;
    char what[200];
    if (!value->size) return 0;
    snprintf(what, sizeof what, "'%s' of %s", param->name, f->called);
    int rc = gx_template_parse((gale_str){ value->as.string, value->size }, what, &made, &inner);
    return rc < 0 ? gx_yaml_error_at(f->doc, node, f->error, &inner) : 0;
}

static int check_text(const filling *f, const gx_param *param, const gx_yaml *node, gale_value *value) {
    if (memchr(value->as.string, 0, value->size))
        return gx_yaml_error(f->doc, node, f->error, GALE_INVALID, "'%s' of %s must not hold a NUL character",
                             param->name, f->called);
    if (param->roles & GX_PARAM_TEMPLATE) return check_template(f, param, node, value);
    return param->type == GX_PARAM_WORD ? choose(f, param, node, value) : 0;
}

static int check_range(const filling *f, const gx_param *param, const gx_yaml *node, const gale_value *value) {
    bool above = (param->roles & GX_PARAM_ABOVE) != 0;
    double number = value->type == GALE_TYPE_I64 ? (double)value->as.i64 : value->as.f64;
    bool ranged = param->min < param->max, low = above ? number <= (double)param->min : number < (double)param->min;
    if (value->type == GALE_TYPE_I64 && ranged) low = above ? value->as.i64 <= param->min : value->as.i64 < param->min;
    bool high = value->type == GALE_TYPE_I64 ? value->as.i64 > param->max : number > (double)param->max;
    if (isfinite(number) && (!ranged || (!low && !high))) return 0;
    gale_str text = gx_yaml_is_scalar(node) ? gx_yaml_shown(node) : gx_str("that");
    if (text.size > 60) text.size = 60;
    if (!ranged)
        return gx_yaml_error(f->doc, node, f->error, GALE_INVALID, "'%s' of %s must be finite, not %.*s", param->name,
                             f->called, GX_STR(text));
    return gx_yaml_error(f->doc, node, f->error, GALE_INVALID, "'%s' of %s must be %s %lld %s %lld, not %.*s",
                         param->name, f->called, above ? "above" : "in", (long long)param->min,
                         above ? "and at most" : "to", (long long)param->max, GX_STR(text));
}

/* 5.0 is as whole as 5. */
static bool make_whole(gale_value *value) {
    if (value->type == GALE_TYPE_I64) return true;
    if (value->type != GALE_TYPE_F64 || fabs(value->as.f64) > 9e15 || value->as.f64 != floor(value->as.f64))
        return false;
    *value = gale_i64((int64_t)value->as.f64);
    return true;
}

static bool make_number(gale_value *value) {
    if (value->type == GALE_TYPE_I64) *value = gale_f64((double)value->as.i64);
    return value->type == GALE_TYPE_F64;
}

static bool make_seconds(gale_value *value) {
    double seconds;
    if (value->type != GALE_TYPE_STRING) return make_number(value);
    if (!gx_duration_read((gale_str){ value->as.string, value->size }, &seconds)) return false;
    *value = gale_f64(seconds);
    return true;
}

static bool make_bytes(gale_value *value) {
    int64_t bytes;
    if (value->type != GALE_TYPE_STRING) return make_whole(value);
    if (!gx_size_read((gale_str){ value->as.string, value->size }, &bytes)) return false;
    *value = gale_i64(bytes);
    return true;
}

static int convert_list(const filling *f, const gx_param *param, const gx_yaml *node, gale_value *value) {
    if (param->type == GX_PARAM_FIELDS && value->type == GALE_TYPE_LIST) {
        gale_value list = *value;
        return join(f, param, node, &list, value);
    }
    if (param->type == GX_PARAM_LIST && value->type == GALE_TYPE_STRING) {
        gale_value text = *value;
        return split(f, &text, value);
    }
    bool right = param->type == GX_PARAM_LIST ? value->type == GALE_TYPE_LIST && is_list_of_text(value)
                                              : value->type == GALE_TYPE_STRING;
    return right ? 0 : wrong_type(f, param, node, value);
}

static int convert(const filling *f, const gx_param *param, const gx_yaml *node, gale_value *value) {
    bool right = true;
    switch (param->type) {
    case GX_PARAM_ANY: return 0;
    case GX_PARAM_BOOL: right = value->type == GALE_TYPE_BOOL; break;
    case GX_PARAM_MAP: right = value->type == GALE_TYPE_MAP; break;
    case GX_PARAM_WHOLE: right = make_whole(value); break;
    case GX_PARAM_NUMBER: right = make_number(value); break;
    case GX_PARAM_SECONDS: right = make_seconds(value); break;
    case GX_PARAM_BYTES: right = make_bytes(value); break;
    case GX_PARAM_FIELDS:
    case GX_PARAM_LIST: {
        int rc = convert_list(f, param, node, value);
        if (rc < 0) return rc;
        break;
    }
    default: right = value->type == GALE_TYPE_STRING;
    }
    if (!right) return wrong_type(f, param, node, value);
    if (value->type == GALE_TYPE_STRING) return check_text(f, param, node, value);
    if (value->type == GALE_TYPE_I64 || value->type == GALE_TYPE_F64) return check_range(f, param, node, value);
    return 0;
}

/* Null leaves an optional parameter at its default. */
static int set_param(filling *f, size_t index, const gx_yaml *node) {
    const gx_param *param = &f->class_->params[index];
    gale_value value = gale_null();
    if (f->args->given[index])
        return gx_yaml_error(f->doc, node, f->error, GALE_EXISTS, "'%s' of %s is given twice", param->name, f->called);
    int rc = read_whole(f, node, &value);
    if (rc == 0 && value.type == GALE_TYPE_NULL && param->fallback) return 0;
    f->args->given[index] = true; /* also what is wrong: it is not missing */
    f->args->places[index] = node;
    if (rc < 0) return rc;
    if ((rc = convert(f, param, node, &value)) < 0) return rc;
    f->args->values[index] = value;
    return 0;
}

/* --- Where arguments stand ---------------------------------------------------------------------------------------- */

/* "path, maxAttempts, repeat" */
static const char *param_names(const gx_class *class_, char *out, size_t size) {
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < class_->param_count && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s", i ? ", " : "", class_->params[i].name);
    return out;
}

static int fill_in_order(filling *f, const gx_yaml *object, const char *key) {
    const gx_yaml *list;
    char names[200];
    int code = gx_shape_list(f->doc, object, f->called, key, &list, f->error);
    if (code < 0 || !list) return gx_yaml_keep(f->doc, code, f->error);
    size_t i = 0;
    for (const gx_yaml *item = list->as.first; item; item = item->next, i++) {
        bool room = i < f->class_->param_count;
        code = room ? set_param(f, i, item)
                    : gx_yaml_error(f->doc, item, f->error, GALE_INVALID, "%s takes at most %zu %s%s%s%s, not %u",
                                    f->called, i, key, i ? " (" : "", param_names(f->class_, names, sizeof names),
                                    i ? ")" : "", list->count);
        if ((code = gx_yaml_keep(f->doc, code, f->error)) < 0 || !room) return code;
    }
    return 0;
}

static bool has_word(const char *words, gale_str wanted) {
    gale_str rest = gx_str(words), word;
    while (rest.data && gx_str_next(&rest, ' ', &word))
        if (gx_str_equal(word, wanted)) return true;
    return false;
}

/* A factory method is known by its name; constructorArgs, where there are some, are taken instead, as in Storm. */
static int factory_args(filling *f, const gx_yaml *object) {
    const gx_yaml *factory = gx_yaml_get(object, "factory"), *name;
    char hint[GX_HINT_SIZE];
    if (!factory || factory->type == GALE_TYPE_NULL) {
        const gx_yaml *args = gx_yaml_get(object, "factoryArgs");
        if (!args || (args->type == GALE_TYPE_LIST && !args->count) || args->type == GALE_TYPE_NULL) return 0;
        return gx_yaml_error(f->doc, args, f->error, GALE_TOPOLOGY,
                             "'factoryArgs' are of no use without 'factory', the method that takes them");
    }
    int rc = gx_shape_text(f->doc, object, f->called, "factory", &name, f->error);
    if (rc < 0) return rc;
    if (has_word(f->class_->factories, name->text)) return fill_in_order(f, object, "factoryArgs");
    if (f->class_->factories)
        return gx_yaml_error(f->doc, name, f->error, GALE_NOT_FOUND, "%s has no factory '%.*s' (it has: %s)%s",
                             f->called, GX_STR(name->text), f->class_->factories,
                             gx_shape_hint(name->text, f->class_->factories, hint));
    return gx_yaml_error(f->doc, name, f->error, GALE_NOT_FOUND,
                         "%s has no factory '%.*s'; it is made by its constructorArgs or properties", f->called,
                         GX_STR(name->text));
}

static int constructor_args(filling *f, const gx_yaml *object) {
    const gx_yaml *list = gx_yaml_get(object, "constructorArgs");
    bool there = list && list->type != GALE_TYPE_NULL && !(list->type == GALE_TYPE_LIST && !list->count);
    if (there) return fill_in_order(f, object, "constructorArgs");
    return gx_yaml_keep(f->doc, factory_args(f, object), f->error);
}

static bool same_but_first_case(const char *param, gale_str name) {
    return param && name.size && tolower((unsigned char)param[0]) == tolower((unsigned char)name.data[0]) &&
           gx_str_equal(gx_str(param + 1), (gale_str){ name.data + 1, name.size - 1 });
}

static gale_str first_lower(gale_str name, char *out, size_t size) {
    if (name.size == 0 || name.size > size) return name;
    memcpy(out, name.data, name.size);
    out[0] = (char)tolower((unsigned char)out[0]);
    return (gale_str){ out, name.size };
}

static bool is_torn(const gx_yaml *key) {
    return key && key->next && key->next->type == GALE_TYPE_NULL && !gx_yaml_shown(key->next).size;
}

/* The nearest parameter, or all that there are. `is_torn`: a comma may have cut the name off a text, as in
 * {where: f(a, b)}, whose key "b)" has no value. */
static const char *param_hint(const filling *f, const gx_nearest *nearest, bool is_torn, char *out, size_t size) {
    char names[200];
    if (gx_nearest_word(nearest).size) return gx_nearest_hint(nearest, out, size);
    if (f->class_->param_count == 0) return "; it has none";
    snprintf(out, size, "; it has: %s%s", param_names(f->class_, names, sizeof names),
             is_torn ? "; a text with a comma is put in quotes" : "");
    return out;
}

/* The parameter that `name` (of a property, or of a method without its prefix) means. `place` is where it stands, called
 * `said`. */
static int find_param(const filling *f, const char *what, gale_str name, const gx_yaml *place, gale_str said,
                      size_t *ret_index) {
    char lower[64], hint[300];
    gx_nearest nearest = gx_nearest_to(first_lower(name, lower, sizeof lower));
    for (size_t i = 0; i < f->class_->param_count; i++) {
        const gx_param *param = &f->class_->params[i];
        if (same_but_first_case(param->name, name) || same_but_first_case(param->also, name)) return *ret_index = i, 0;
        gx_nearest_offer(&nearest, gx_str(param->name));
    }
    gale_str rest = gx_str(f->beside ? f->beside : ""), word;
    while (gx_str_next(&rest, ' ', &word)) gx_nearest_offer(&nearest, word);
    return gx_yaml_error(f->doc, place, f->error, GALE_NOT_FOUND, "%s has no %s '%.*s'%s", f->called, what,
                         GX_STR(said), param_hint(f, &nearest, is_torn(place), hint, sizeof hint));
}

static int property(filling *f, const gx_yaml *item) {
    const gx_yaml *name;
    size_t index;
    int rc = gx_shape_map_with(f->doc, item, "a property", "name value ref", "name", f->error);
    if (rc == 0) rc = gx_shape_text(f->doc, item, "a property", "name", &name, f->error);
    if (rc == 0) rc = find_param(f, "property", name->text, name, name->text, &index);
    if (rc != 0) return rc;
    const gx_yaml *value = gx_yaml_get(item, "value"), *ref = gx_yaml_get(item, "ref");
    if (!value == !ref)
        return gx_yaml_error(f->doc, item, f->error, GALE_INVALID, "a property needs either 'value' or 'ref'%s",
                             value ? ", not both" : "");
    if (value) return set_param(f, index, value);
    gx_yaml wrapped = *item; /* {name, ref: id} reads like {ref: id} */
    wrapped.count = 1;
    rc = set_param(f, index, &wrapped);
    if (f->args->places[index] == &wrapped) f->args->places[index] = ref;
    return rc;
}

/* {path: a.txt, repeat: true}: shorter than Storm's list, and the same. */
static int property_map(filling *f, const gx_yaml *map) {
    size_t index;
    for (const gx_yaml *key = map->as.first; key; key = key->next->next) {
        int rc = find_param(f, "property", key->text, key, key->text, &index);
        if (rc == 0) rc = set_param(f, index, key->next);
        if ((rc = gx_yaml_keep(f->doc, rc, f->error)) < 0) return rc;
    }
    return 0;
}

static int properties(filling *f, const gx_yaml *object) {
    const gx_yaml *list = gx_yaml_get(object, "properties");
    if (list && list->type == GALE_TYPE_MAP) return property_map(f, list);
    int rc = gx_yaml_keep(f->doc, gx_shape_list(f->doc, object, f->called, "properties", &list, f->error), f->error);
    for (const gx_yaml *item = list && list->type == GALE_TYPE_LIST ? list->as.first : NULL; item && rc == 0;
         item = item->next)
        rc = gx_yaml_keep(f->doc, property(f, item), f->error);
    return rc;
}

/* withPath, setPath and path all mean the parameter path. */
static gale_str without_prefix(gale_str name) {
    static const char *const prefixes[] = { "with", "set" };
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(prefixes[i]);
        if (name.size > n && memcmp(name.data, prefixes[i], n) == 0 && isupper((unsigned char)name.data[n]))
            return (gale_str){ name.data + n, name.size - n };
    }
    return name;
}

static int config_method(filling *f, const gx_yaml *item) {
    const gx_yaml *name, *args;
    size_t index;
    int rc = gx_shape_map_with(f->doc, item, "a configMethod", "name args", "name", f->error);
    if (rc == 0) rc = gx_shape_text(f->doc, item, "a configMethod", "name", &name, f->error);
    if (rc == 0) rc = find_param(f, "method", without_prefix(name->text), name, name->text, &index);
    if (rc == 0) rc = gx_shape_list(f->doc, item, "a configMethod", "args", &args, f->error);
    if (rc != 0) return rc;
    if (!args || args->count != 1)
        return gx_yaml_error(f->doc, args ? args : item, f->error, GALE_INVALID, "%.*s takes one argument, not %u",
                             GX_STR(name->text), args ? args->count : 0);
    return set_param(f, index, args->as.first);
}

static int config_methods(filling *f, const gx_yaml *object) {
    const gx_yaml *list;
    int rc = gx_shape_list(f->doc, object, f->called, "configMethods", &list, f->error);
    if (rc < 0) return gx_yaml_keep(f->doc, rc, f->error);
    for (const gx_yaml *item = list ? list->as.first : NULL; item && rc == 0; item = item->next)
        rc = gx_yaml_keep(f->doc, config_method(f, item), f->error);
    return rc;
}

/* What the command line says goes over what the file says, however it says it. */
static int override(filling *f, const gx_override *one) {
    size_t index;
    f->beside = "parallelism numTasks"; /* which are set there, too */
    int rc = find_param(f, "property", one->name, one->node, one->name, &index);
    f->beside = NULL;
    if (rc < 0) return rc;
    f->args->given[index] = false; /* null is the class's own, not the file's */
    f->args->values[index] = gx_param_fallback(&f->class_->params[index]);
    f->args->places[index] = NULL;
    return set_param(f, index, one->node);
}

/* Where something is wrong, what is missing may be there under another name, or in another shape. */
static int check_needed(filling *f, const gx_yaml *object, size_t kept) {
    if (gx_yaml_kept(f->doc) != kept) return 0;
    for (size_t i = 0; i < f->class_->param_count; i++) {
        const gx_param *param = &f->class_->params[i];
        if (f->args->given[i] || param->fallback) continue;
        int rc = gx_yaml_error(f->doc, object, f->error, GALE_INVALID, "%s needs '%s': %s", f->called, param->name,
                               param->text);
        if ((rc = gx_yaml_keep(f->doc, rc, f->error)) < 0) return rc;
    }
    return 0;
}

int gx_arguments_read(const gx_class *class_, const gx_refs *refs, gx_yaml_doc *doc, const gx_yaml *object,
                      const gx_override *overrides, size_t override_count, gx_args *ret_args, gale_error *error) {
    gx_args args = gx_args_of(class_);
    filling f = { .class_ = class_, .called = class_->name, .refs = refs, .doc = doc, .error = error, .args = &args };
    const gx_yaml *name = gx_yaml_get(object, "className");
    if (name && gx_yaml_is_scalar(name) && name->text.size) f.called = name->text.data;
    size_t kept = gx_yaml_kept(doc);
    int rc = constructor_args(&f, object);
    if (rc == 0) rc = properties(&f, object);
    if (rc == 0) rc = config_methods(&f, object);
    for (size_t i = 0; i < override_count && rc == 0; i++) rc = gx_yaml_keep(doc, override(&f, &overrides[i]), error);
    if (rc == 0) rc = check_needed(&f, object, kept);
    if (rc == 0) *ret_args = args;
    return rc;
}
