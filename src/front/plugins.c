#include "front/plugins.h"

#include "base/os/library.h"
#include "base/str.h"
#include "front/connector.h"
#include "front/linked_plugins.h"
#include "front/plugin_note.h"
#include "front/plugin_path.h"
#include "front/plugin_rows.h"

#include <stdio.h>
#include <stdlib.h>

struct gx_plugins {
    gx_registry registry;
    gx_plugin *list[GX_TABLES_MAX];
    size_t count;
};

gx_plugins *gx_plugins_new(const gx_registry *base) {
    gx_plugins *plugins = calloc(1, sizeof *plugins);
    if (plugins) plugins->registry = *base;
    return plugins;
}

void gx_plugins_free(gx_plugins *plugins) {
    for (size_t i = 0; plugins && i < plugins->count; i++) gx_plugin_unref(plugins->list[i]);
    free(plugins);
}

const gx_registry *gx_plugins_registry(const gx_plugins *plugins) {
    return &plugins->registry;
}

const gx_plugin *gx_plugins_at(const gx_plugins *plugins, size_t index) {
    return index < plugins->count ? plugins->list[index] : NULL;
}

/* --- Adding ------------------------------------------------------------------------------------------------------- */

/* Whose class has one of `class_`'s names. */
static int check_taken(const gx_plugins *plugins, const gx_plugin *plugin, const gx_class *class_, gale_error *error) {
    for (size_t i = 0; i <= GX_ALIASES_MAX; i++) {
        const char *name = i == 0 ? class_->name : class_->aliases[i - 1];
        const gx_class *other = name ? gx_registry_find(&plugins->registry, gx_str(name)) : NULL;
        if (!name) return 0;
        if (other && other->made_by)
            return gale_error_set(error, GALE_EXISTS,
                                  "'%s' has a class '%s', which the plugin '%s' ('%s') has already: load one of them",
                                  plugin->path, name, other->made_by->plugin->name, other->made_by->plugin->path);
    }
    return 0;
}

static int check_name(const gx_plugins *plugins, const gx_plugin *plugin, gale_error *error) {
    for (size_t i = 0; i < plugins->count; i++)
        if (strcmp(plugins->list[i]->name, plugin->name) == 0)
            return gale_error_set(error, GALE_EXISTS, "'%s' is the plugin '%s', and so is '%s': load one of them",
                                  plugin->path, plugin->name, plugins->list[i]->path);
    return 0;
}

static int add(gx_plugins *plugins, gx_plugin *plugin, gale_error *error) {
    gale_error inner = GALE_ERROR_INIT;
    int rc = check_name(plugins, plugin, error);
    for (size_t i = 0; i < plugin->class_count && rc == 0; i++)
        rc = check_taken(plugins, plugin, &plugin->classes[i], error);
    if (rc < 0) return rc;
    if (plugins->registry.table_count == GX_TABLES_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "'%s' is one plugin too many: %zu are loaded", plugin->path,
                              plugins->count);
    rc = gx_registry_add(&plugins->registry, plugin->classes, plugin->class_count, &inner);
    if (rc < 0) return gale_error_set(error, rc, "'%s' is not whole: %s", plugin->path, inner.text);
    plugins->list[plugins->count++] = plugin;
    return 0;
}

int gx_plugins_add(gx_plugins *plugins, const gale_plugin *described, const char *path, void *library,
                   gale_error *error) {
    gx_plugin *plugin;
    int rc = gx_plugin_new(described, path, library, &plugin, error);
    if (rc < 0) return rc;
    rc = add(plugins, plugin, error);
    if (rc < 0) gx_plugin_unref(plugin);
    return rc;
}

/* --- Loading ------------------------------------------------------------------------------------------------------ */

/* The function of this version; where there is none, that of another says what is to be done. */
static int find_entry(void *library, const char *path, gx_plugin_entry_fn **ret_entry, gale_error *error) {
    gx_library_fn *found = gx_library_function(library, "gale_plugin_v1");
    *ret_entry = (gx_plugin_entry_fn *)found;
    if (found) return 0;
    for (int version = 2; version < 10; version++) {
        char name[32];
        snprintf(name, sizeof name, "gale_plugin_v%d", version);
        if (gx_library_function(library, name))
            return gale_error_set(
                error, GALE_UNSUPPORTED,
                "'%s' is made for a newer gale (it has %s, gale %s looks for gale_plugin_v1): update gale", path, name,
                GALE_VERSION_TEXT);
    }
    if (gx_library_function(library, "gale_plugin_v0"))
        return gale_error_set(
            error, GALE_UNSUPPORTED,
            "'%s' is made for a gale before the first (gale_plugin_v0): build it again with the headers of "
            "gale %s",
            path, GALE_VERSION_TEXT);
    return gale_error_set(
        error, GALE_INVALID,
        "'%s' is no plugin of gale: it has no function gale_plugin_v1 (GALE_PLUGIN_ENTRY of gale/plugin.h)", path);
}

static bool is_loaded(const gx_plugins *plugins, const void *library) {
    for (size_t i = 0; i < plugins->count; i++)
        if (plugins->list[i]->library == library) return true;
    return false;
}

static int load(gx_plugins *plugins, const char *path, gale_error *error) {
    void *library = NULL;
    gx_plugin_entry_fn *entry = NULL;
    int rc = gx_library_look(path, error);
    if (rc == 0) rc = gx_library_load(path, &library, error);
    if (rc < 0 || is_loaded(plugins, library)) return rc;
    rc = find_entry(library, path, &entry, error);
    return rc < 0 ? rc : gx_plugins_add(plugins, entry(), path, library, error);
}

/* Its row stands for the file that there is none of. */
static int load_linked(gx_plugins *plugins, const gx_linked_plugin *linked, gale_error *error) {
    char path[100];
    void *library = (void *)linked;
    if (is_loaded(plugins, library)) return 0;
    snprintf(path, sizeof path, "%s, in this program", linked->name);
    return gx_plugins_add(plugins, linked->entry(), path, library, error);
}

static int refuse_loading(const char *word, gale_error *error) {
    gx_buf names = GX_BUF_INIT(NULL);
    const gx_connector *own = gx_connector_named(gx_str(word));
    gx_linked_plugins_names(&names);
    if (!names.size) gx_buf_add_text(&names, "none");
    if (own) gx_buf_add_text(&names, "; ");
    if (own) gx_connector_advice(own, &names);
    const char *text = gx_buf_text(&names);
    int rc = gale_error_set(
        error, GALE_UNSUPPORTED,
        "'%s' cannot be loaded: this gale has no loader, as it is linked statically; the plugins in it: %s", word,
        text ? text : "");
    gx_buf_fini(&names);
    return rc;
}

int gx_plugins_load(gx_plugins *plugins, const char *word, const char *beside, gale_error *error) {
    gx_buf path = GX_BUF_INIT(NULL);
    const gx_linked_plugin *linked = gx_linked_plugins_find(word);
    if (linked) return load_linked(plugins, linked, error);
    if (!gx_library_can()) return refuse_loading(word, error);
    int rc = gx_plugin_path_of(word, beside, &path, error);
    if (rc == 0) {
        gx_plugin_note_begin(gx_buf_text(&path), "it was loaded", "");
        rc = load(plugins, gx_buf_text(&path), error);
        gx_plugin_note_end();
    }
    gx_buf_fini(&path);
    return rc;
}
