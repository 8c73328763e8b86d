#include "front/registry.h"

#include "base/nearest.h"
#include "base/str.h"
#include "topology/config.h"

#include <ctype.h>
#include <stdio.h>

const char *gx_class_kind_name(int32_t kind) {
    static const char *const names[GX_CLASS_KIND_COUNT] = { "spout", "bolt", "component" };
    return kind >= 0 && kind < GX_CLASS_KIND_COUNT ? names[kind] : "unknown";
}

/* --- Classes ------------------------------------------------------------------------------------------------------ */

static bool is_called(const gx_class *class_, gale_str name) {
    if (gx_str_is(name, class_->name)) return true;
    for (size_t i = 0; i < GX_ALIASES_MAX && class_->aliases[i]; i++)
        if (gx_str_is(name, class_->aliases[i])) return true;
    return false;
}

const gx_class *gx_registry_find(const gx_registry *registry, gale_str name) {
    for (size_t i = 0; i < registry->class_count; i++)
        if (is_called(&registry->classes[i], name)) return &registry->classes[i];
    return NULL;
}

static gale_str last_part(gale_str name) {
    for (size_t i = name.size; i > 0; i--)
        if (name.data[i - 1] == '.') return (gale_str){ name.data + i, name.size - i };
    return name;
}

/* Offers what is near by its whole name; a Java name from another package is near when its last part is. */
const char *gx_registry_hint(const gx_registry *registry, gale_str wanted, int32_t kind, char out[GX_HINT_SIZE]) {
    gx_nearest whole = gx_nearest_to(wanted), last = gx_nearest_to(last_part(wanted));
    const char *by_last = NULL;
    for (size_t i = 0; i < registry->class_count; i++) {
        const gx_class *class_ = &registry->classes[i];
        if (class_->kind != kind && kind != GX_CLASS_KIND_COUNT) continue;
        gx_nearest_offer(&whole, gx_str(class_->name));
        for (size_t a = 0; a < GX_ALIASES_MAX && class_->aliases[a]; a++)
            gx_nearest_offer(&whole, gx_str(class_->aliases[a]));
        for (size_t a = 0; a <= GX_ALIASES_MAX; a++) {
            const char *name = a == 0 ? class_->name : class_->aliases[a - 1];
            if (!name) break;
            gale_str before = last.best;
            gx_nearest_offer(&last, last_part(gx_str(name)));
            if (last.best.data != before.data) by_last = name;
        }
    }
    if (gx_nearest_word(&whole).size) return gx_nearest_hint(&whole, out, GX_HINT_SIZE);
    if (!gx_nearest_word(&last).size || !by_last) return "; `gale help classes` lists them";
    snprintf(out, GX_HINT_SIZE, "; did you mean '%s'?", by_last);
    return out;
}

int gx_registry_class(const gx_registry *registry, const gx_yaml_doc *doc, const gx_yaml *object, const char *what,
                      int32_t kind, const gx_class **ret_class, gale_error *error) {
    const gx_yaml *name;
    char hint[GX_HINT_SIZE];
    int rc = gx_shape_text(doc, object, what, "className", &name, error);
    if (rc < 0) return rc;
    const gx_class *class_ = gx_registry_find(registry, name->text);
    if (!class_)
        return gx_yaml_error(doc, name, error, GALE_NOT_FOUND, "unknown class '%.*s'%s", GX_STR(name->text),
                             gx_registry_hint(registry, name->text, kind, hint));
    if (class_->kind != kind)
        return gx_yaml_error(doc, name, error, GALE_TYPE, "%.*s is a %s, not a %s", GX_STR(name->text),
                             gx_class_kind_name(class_->kind), gx_class_kind_name(kind));
    *ret_class = class_;
    return 0;
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

/* One object's arguments on their way into its class's parameters. */
typedef struct filling {
    const gx_class *class_;
    const char *called; /* the class, as the file has it */
    const gx_refs *refs;
    const gx_yaml_doc *doc;
    gale_error *error;
    gale_value values[GX_PARAMS_MAX];
    bool given[GX_PARAMS_MAX];
} filling;

static const char *type_text(int32_t type) {
    gx_yaml node = { .type = type };
    return gx_yaml_type_text(&node);
}

/* "a whole number (12); put it in quotes"; of a number, "4.5" says it all. */
static void say_type(const gx_yaml *node, const gx_param *param, int32_t type, char *out, size_t size) {
    gale_str text = gx_yaml_is_scalar(node) ? node->text : (gale_str){ "", 0 };
    if (text.size > 60) text.size = 60;
    const char *advice = param->type == GALE_TYPE_STRING ? "; put it in quotes" : "";
    if (type == GALE_TYPE_F64 && param->type == GALE_TYPE_I64 && text.size)
        snprintf(out, size, "%.*s", GX_STR(text));
    else
        snprintf(out, size, "%s%s%.*s%s%s", type_text(type), text.size ? " (" : "", GX_STR(text), text.size ? ")" : "",
                 advice);
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

/* A scalar, or {ref: id}. */
static int read_value(const filling *f, const gx_yaml *node, gale_value *ret_value) {
    const gx_yaml *ref = gx_yaml_get(node, "ref"), *reflist = gx_yaml_get(node, "reflist");
    if (ref && node->count == 1 && gx_yaml_is_scalar(ref)) return resolve(f, ref, ret_value);
    if (reflist)
        return gx_yaml_error(f->doc, node, f->error, GALE_UNSUPPORTED,
                             "reflist is not supported yet: no class takes one");
    switch (node->type) {
    case GALE_TYPE_NULL: *ret_value = gale_null(); return 0;
    case GALE_TYPE_BOOL: *ret_value = gale_bool(node->as.boolean); return 0;
    case GALE_TYPE_I64: *ret_value = gale_i64(node->as.i64); return 0;
    case GALE_TYPE_F64: *ret_value = gale_f64(node->as.f64); return 0;
    case GALE_TYPE_STRING: *ret_value = gale_string(node->text.data, node->text.size); return 0;
    default:
        return gx_yaml_error(f->doc, node, f->error, GALE_TYPE, "an argument of %s must be a single value, not %s",
                             f->called, gx_yaml_type_text(node));
    }
}

static int check_choice(const filling *f, const gx_param *param, const gx_yaml *node, gale_str text) {
    gale_str rest = gx_str(param->choices), word;
    char hint[GX_HINT_SIZE];
    while (gx_str_next(&rest, ' ', &word))
        if (gx_str_equal(word, text)) return 0;
    return gx_yaml_error(f->doc, node, f->error, GALE_INVALID, "'%s' of %s must be one of: %s; not '%.*s'%s",
                         param->name, f->called, param->choices, GX_STR(text),
                         gx_shape_hint(text, param->choices, hint));
}

static int check_value(const filling *f, const gx_param *param, const gx_yaml *node, const gale_value *value) {
    if (param->type == GALE_TYPE_NULL) return 0;
    if (value->type != param->type) {
        char given[120];
        say_type(node, param, value->type, given, sizeof given);
        return gx_yaml_error(f->doc, node, f->error, GALE_TYPE, "'%s' of %s must be %s, not %s", param->name, f->called,
                             type_text(param->type), given);
    }
    if (value->type == GALE_TYPE_I64 && param->min < param->max &&
        (value->as.i64 < param->min || value->as.i64 > param->max))
        return gx_yaml_error(f->doc, node, f->error, GALE_INVALID, "'%s' of %s must be in %lld to %lld, not %lld",
                             param->name, f->called, (long long)param->min, (long long)param->max,
                             (long long)value->as.i64);
    if (value->type == GALE_TYPE_STRING && memchr(value->as.string, 0, value->size))
        return gx_yaml_error(f->doc, node, f->error, GALE_INVALID, "'%s' of %s must not hold a NUL character",
                             param->name, f->called);
    if (param->choices) return check_choice(f, param, node, (gale_str){ value->as.string, value->size });
    return 0;
}

/* Null leaves an optional parameter at its default. */
static int set_param(filling *f, size_t index, const gx_yaml *node) {
    const gx_param *param = &f->class_->params[index];
    gale_value value;
    int rc = read_value(f, node, &value);
    if (rc < 0) return rc;
    if (f->given[index])
        return gx_yaml_error(f->doc, node, f->error, GALE_EXISTS, "'%s' of %s is given twice", param->name, f->called);
    if (value.type == GALE_TYPE_NULL && param->fallback) return 0;
    if ((rc = check_value(f, param, node, &value)) < 0) return rc;
    f->values[index] = value;
    f->given[index] = true;
    return 0;
}

/* "path, maxAttempts, repeat" */
static const char *param_names(const gx_class *class_, char *out, size_t size) {
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < class_->param_count && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s", i ? ", " : "", class_->params[i].name);
    return out;
}

static int constructor_args(filling *f, const gx_yaml *object) {
    const gx_yaml *list;
    char names[200];
    int code = gx_shape_list(f->doc, object, f->called, "constructorArgs", &list, f->error);
    if (code < 0 || !list) return code;
    size_t i = 0;
    for (const gx_yaml *item = list->as.first; item; item = item->next, i++) {
        if (i == f->class_->param_count)
            return gx_yaml_error(f->doc, item, f->error, GALE_INVALID,
                                 "%s takes at most %zu constructorArgs%s%s%s, not %u", f->called, i, i ? " (" : "",
                                 param_names(f->class_, names, sizeof names), i ? ")" : "", list->count);
        if ((code = set_param(f, i, item)) < 0) return code;
    }
    return 0;
}

static bool same_but_first_case(const char *param, gale_str name) {
    return name.size && tolower((unsigned char)param[0]) == tolower((unsigned char)name.data[0]) &&
           gx_str_equal(gx_str(param + 1), (gale_str){ name.data + 1, name.size - 1 });
}

static gale_str first_lower(gale_str name, char *out, size_t size) {
    if (name.size == 0 || name.size > size) return name;
    memcpy(out, name.data, name.size);
    out[0] = (char)tolower((unsigned char)out[0]);
    return (gale_str){ out, name.size };
}

/* The nearest parameter, or all that there are. */
static const char *param_hint(const filling *f, const gx_nearest *nearest, char *out, size_t size) {
    char names[200];
    if (gx_nearest_word(nearest).size) return gx_nearest_hint(nearest, out, size);
    if (f->class_->param_count == 0) return "; it has none";
    snprintf(out, size, "; it has: %s", param_names(f->class_, names, sizeof names));
    return out;
}

/* The parameter that `name` (of a property, or of a method without its prefix) means. `place` is where it stands. */
static int find_param(const filling *f, const char *what, gale_str name, const gx_yaml *place, size_t *ret_index) {
    char lower[64], hint[240];
    gx_nearest nearest = gx_nearest_to(first_lower(name, lower, sizeof lower));
    for (size_t i = 0; i < f->class_->param_count; i++) {
        if (same_but_first_case(f->class_->params[i].name, name)) return *ret_index = i, 0;
        gx_nearest_offer(&nearest, gx_str(f->class_->params[i].name));
    }
    return gx_yaml_error(f->doc, place, f->error, GALE_NOT_FOUND, "%s has no %s '%.*s'%s", f->called, what,
                         GX_STR(place->text), param_hint(f, &nearest, hint, sizeof hint));
}

static int property(filling *f, const gx_yaml *item) {
    const gx_yaml *name;
    size_t index;
    int rc = gx_shape_map(f->doc, item, "a property", "name value ref", f->error);
    if (rc == 0) rc = gx_shape_text(f->doc, item, "a property", "name", &name, f->error);
    if (rc == 0) rc = find_param(f, "property", name->text, name, &index);
    if (rc < 0) return rc;
    const gx_yaml *value = gx_yaml_get(item, "value"), *ref = gx_yaml_get(item, "ref");
    if (!value == !ref)
        return gx_yaml_error(f->doc, item, f->error, GALE_INVALID, "a property needs either 'value' or 'ref'%s",
                             value ? ", not both" : "");
    if (value) return set_param(f, index, value);
    gx_yaml wrapped = *item; /* {name, ref: id} reads like {ref: id} */
    wrapped.count = 1;
    return set_param(f, index, &wrapped);
}

static int properties(filling *f, const gx_yaml *object) {
    const gx_yaml *list;
    int rc = gx_shape_list(f->doc, object, f->called, "properties", &list, f->error);
    for (const gx_yaml *item = list && rc == 0 ? list->as.first : NULL; item && rc == 0; item = item->next)
        rc = property(f, item);
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
    int rc = gx_shape_map(f->doc, item, "a configMethod", "name args", f->error);
    if (rc == 0) rc = gx_shape_text(f->doc, item, "a configMethod", "name", &name, f->error);
    if (rc == 0) rc = find_param(f, "method", without_prefix(name->text), name, &index);
    if (rc == 0) rc = gx_shape_list(f->doc, item, "a configMethod", "args", &args, f->error);
    if (rc < 0) return rc;
    if (!args || args->count != 1)
        return gx_yaml_error(f->doc, args ? args : item, f->error, GALE_INVALID, "%.*s takes one argument, not %u",
                             GX_STR(name->text), args ? args->count : 0);
    return set_param(f, index, args->as.first);
}

static int config_methods(filling *f, const gx_yaml *object) {
    const gx_yaml *list;
    int rc = gx_shape_list(f->doc, object, f->called, "configMethods", &list, f->error);
    for (const gx_yaml *item = list && rc == 0 ? list->as.first : NULL; item && rc == 0; item = item->next)
        rc = config_method(f, item);
    return rc;
}

static gale_value fallback_value(const gx_param *param) {
    gale_str text = gx_str(param->fallback);
    if (!text.size) return gale_null();
    return param->type == GALE_TYPE_STRING ? gale_string(text.data, text.size) : gx_config_scalar(text);
}

static int fallbacks(filling *f, const gx_yaml *object) {
    for (size_t i = 0; i < f->class_->param_count; i++) {
        const gx_param *param = &f->class_->params[i];
        if (f->given[i]) continue;
        if (!param->fallback)
            return gx_yaml_error(f->doc, object, f->error, GALE_INVALID, "%s needs '%s': %s", f->called, param->name,
                                 param->text);
        f->values[i] = fallback_value(param);
    }
    return 0;
}

int gx_registry_values(const gx_class *class_, const gx_refs *refs, const gx_yaml_doc *doc, const gx_yaml *object,
                       gale_value ret_values[GX_PARAMS_MAX], gale_error *error) {
    filling f = { .class_ = class_, .called = class_->name, .refs = refs, .doc = doc, .error = error };
    const gx_yaml *name = gx_yaml_get(object, "className");
    if (name && gx_yaml_is_scalar(name) && name->text.size) f.called = name->text.data;
    int rc = constructor_args(&f, object);
    if (rc == 0) rc = properties(&f, object);
    if (rc == 0) rc = config_methods(&f, object);
    if (rc == 0) rc = fallbacks(&f, object);
    if (rc == 0) memcpy(ret_values, f.values, sizeof f.values);
    return rc;
}
