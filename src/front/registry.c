#include "front/registry.h"

#include "base/nearest.h"
#include "base/str.h"
#include "front/connector.h"
#include "front/plugin_path.h"
#include "front/strangers.h"

#include <stdio.h>

const gx_class *gx_registry_at(const gx_registry *registry, size_t index) {
    for (size_t i = 0; i < registry->table_count; i++) {
        if (index < registry->tables[i].count) return &registry->tables[i].classes[index];
        index -= registry->tables[i].count;
    }
    return NULL;
}

const gx_class *gx_registry_find(const gx_registry *registry, gale_str name) {
    const gx_class *class_;
    for (size_t i = 0; (class_ = gx_registry_at(registry, i)); i++)
        if (gx_class_is_called(class_, name)) return class_;
    return NULL;
}

/* --- Tables from outside ------------------------------------------------------------------------------------------ */

static int refuse(const gx_class *class_, gale_error *error, const char *what) {
    return gale_error_set(error, GALE_INVALID, "class '%s' %s", class_->name ? class_->name : "", what);
}

static int check_param(const gx_class *class_, const gx_param *param, gale_error *error) {
    if (!param->name || !*param->name) return refuse(class_, error, "has a parameter without a name");
    if (!param->text || !*param->text) return refuse(class_, error, "has a parameter that nothing is said of");
    if (param->type < 0 || param->type >= GX_PARAM_TYPE_COUNT)
        return refuse(class_, error, "has a parameter of no known type");
    if ((param->type == GX_PARAM_WORD) != (param->words && !(param->roles & GX_PARAM_BRACES)))
        return refuse(class_, error, "has a parameter whose type and words do not fit");
    for (const gx_param *other = class_->params; other != param; other++)
        if (strcmp(other->name, param->name) == 0) return refuse(class_, error, "has a parameter twice");
    return 0;
}

static int check_class(const gx_class *class_, gale_error *error) {
    if (!class_->name || !*class_->name) return refuse(class_, error, "has no name");
    if (!class_->text || !*class_->text) return refuse(class_, error, "says nothing of itself");
    if (class_->param_count > GX_PARAMS_MAX) return refuse(class_, error, "has too many parameters");
    if (class_->kind < 0 || class_->kind >= GX_CLASS_KIND_COUNT) return refuse(class_, error, "is of no known kind");
    if (!class_->make_spout != (class_->kind != GX_CLASS_SPOUT) ||
        !class_->make_bolt != (class_->kind != GX_CLASS_BOLT) ||
        !class_->make_value != (class_->kind != GX_CLASS_VALUE))
        return refuse(class_, error, "is made otherwise than its kind says");
    for (size_t i = 0; i < class_->param_count; i++) {
        int rc = check_param(class_, &class_->params[i], error);
        if (rc < 0) return rc;
    }
    return 0;
}

/* The first of its names that another class has, or NULL. */
static const char *taken(const gx_registry *registry, const gx_class *class_) {
    if (gx_registry_find(registry, gx_str(class_->name))) return class_->name;
    for (size_t i = 0; i < GX_ALIASES_MAX && class_->aliases[i]; i++)
        if (gx_registry_find(registry, gx_str(class_->aliases[i]))) return class_->aliases[i];
    return NULL;
}

/* Classes are looked at one after the other, so that a table cannot have a name twice either. */
int gx_registry_add(gx_registry *registry, const gx_class *classes, size_t count, gale_error *error) {
    gx_registry more = *registry;
    if (more.table_count == GX_TABLES_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "more than %d tables of classes", GX_TABLES_MAX);
    gx_class_table *table = &more.tables[more.table_count++];
    *table = (gx_class_table){ classes, 0 };
    for (; table->count < count; table->count++) {
        const gx_class *class_ = &classes[table->count];
        int rc = check_class(class_, error);
        if (rc < 0) return rc;
        const char *name = taken(&more, class_);
        if (name) return gale_error_set(error, GALE_EXISTS, "there is a class '%s' already", name);
    }
    *registry = more;
    return 0;
}

/* --- Names -------------------------------------------------------------------------------------------------------- */

static gale_str last_part(gale_str name) {
    for (size_t i = name.size; i > 0; i--)
        if (name.data[i - 1] == '.') return (gale_str){ name.data + i, name.size - i };
    return name;
}

/* "acme.bolt.Upper" may be of the plugin "acme", which is there and was not loaded. */
static const char *plugin_hint(gale_str wanted, char out[GX_HINT_SIZE]) {
    const char *point = memchr(wanted.data, '.', wanted.size);
    gale_str name = { wanted.data, point ? (size_t)(point - wanted.data) : 0 };
    bool own = strncmp(wanted.data, "gale.", strlen("gale.")) != 0 &&
               strncmp(wanted.data, "org.apache.storm.", strlen("org.apache.storm.")) != 0;
    if (!gx_plugin_path_has(name) && point && own)
        return "; `gale help classes` lists them, and a plugin may bring a class of your own under this name "
               "(`aliases`, docs/plugins.md)";
    if (!gx_plugin_path_has(name)) return "; `gale help classes` lists them";
    snprintf(out, GX_HINT_SIZE, "; is it of the plugin '%.*s'? Then `plugins: [%.*s]`, or --plugin %.*s", GX_STR(name),
             GX_STR(name), GX_STR(name));
    return out;
}

/* What is near by its whole name; a Java name from another package is near when its last part is. */
typedef struct near {
    gx_nearest whole, last;
    gale_str by_last;
} near;

static void offer(near *n, gale_str name) {
    gale_str before = n->last.best;
    gx_nearest_offer(&n->whole, name);
    gx_nearest_offer(&n->last, last_part(name));
    if (n->last.best.data != before.data) n->by_last = name;
}

/* A name of a class that is not loaded says its kind, if it is gale's. */
static bool may_be(gale_str name, int32_t kind) {
    char begin[32];
    if (kind == GX_CLASS_KIND_COUNT || strncmp(name.data, "gale.", strlen("gale.")) != 0) return true;
    int size = snprintf(begin, sizeof begin, "gale.%s.", gx_class_kind_name(kind));
    return name.size > (size_t)size && memcmp(name.data, begin, (size_t)size) == 0;
}

static void offer_connectors(near *n, int32_t kind) {
    gale_str name;
    for (size_t i = 0; i < gx_connector_count; i++) {
        gale_str rest = gx_str(gx_connectors[i].classes);
        while (gx_str_next(&rest, ' ', &name))
            if (may_be(name, kind)) offer(n, name);
    }
}

const char *gx_registry_hint(const gx_registry *registry, gale_str wanted, int32_t kind, char out[GX_HINT_SIZE]) {
    near n = { gx_nearest_to(wanted), gx_nearest_to(last_part(wanted)), { NULL, 0 } };
    const gx_class *class_;
    for (size_t c = 0; (class_ = gx_registry_at(registry, c)); c++) {
        if (class_->kind != kind && kind != GX_CLASS_KIND_COUNT) continue;
        offer(&n, gx_str(class_->name));
        for (size_t a = 0; a < GX_ALIASES_MAX && class_->aliases[a]; a++) offer(&n, gx_str(class_->aliases[a]));
    }
    offer_connectors(&n, kind);
    if (gx_nearest_word(&n.whole).size) return gx_nearest_hint(&n.whole, out, GX_HINT_SIZE);
    if (!gx_nearest_word(&n.last).size) return plugin_hint(wanted, out);
    snprintf(out, GX_HINT_SIZE, "; did you mean '%.*s'?", GX_STR(n.by_last));
    return out;
}

/* Is it one of Storm's that gale has not? */
static bool refuse_stranger(const gx_yaml_doc *doc, const gx_yaml *name, gale_error *error) {
    gx_buf text = GX_BUF_INIT(NULL);
    const char *stranger = gx_stranger(name->text, &text);
    if (stranger)
        gx_yaml_error(doc, name, error, GALE_NOT_FOUND, "gale has no counterpart of '%.*s': %s", GX_STR(name->text),
                      stranger);
    gx_buf_fini(&text);
    return stranger;
}

int gx_registry_class(const gx_registry *registry, const gx_yaml_doc *doc, const gx_yaml *object, const char *what,
                      int32_t kind, const gx_class **ret_class, gale_error *error) {
    const gx_yaml *name;
    char hint[GX_HINT_SIZE];
    int rc = gx_shape_text(doc, object, what, "className", &name, error);
    if (rc < 0) return rc;
    const gx_class *class_ = gx_registry_find(registry, name->text);
    if (!class_ && refuse_stranger(doc, name, error)) return GALE_NOT_FOUND;
    if (!class_)
        return gx_yaml_error(doc, name, error, GALE_NOT_FOUND, "unknown class '%.*s'%s", GX_STR(name->text),
                             gx_registry_hint(registry, name->text, kind, hint));
    if (class_->kind != kind)
        return gx_yaml_error(doc, name, error, GALE_TYPE, "%.*s is a %s, not a %s", GX_STR(name->text),
                             gx_class_kind_name(class_->kind), gx_class_kind_name(kind));
    *ret_class = class_;
    return 0;
}
