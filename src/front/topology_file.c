#include "base/options.h"
#include "base/str.h"
#include "base/version.h"
#include "front/builtin.h"
#include "front/flux.h"
#include "front/plugins.h"

#include <gale_front.h>

/* A file, or a text that has a name. */
typedef struct origin {
    const char *name;
    const gale_str *text; /* NULL: a file */
} origin;

static int check(const origin *from, const gale_topology_file_options *o, gale_topology **ret_topology,
                 gale_error *error) {
    if (!from->name || !ret_topology || (from->text && !from->text->data && from->text->size))
        return gale_error_set(error, GALE_INVALID,
                              "a topology file: a name, a text or a place for the topology is NULL");
    if ((o->setting_count && !o->settings) || (o->set_count && !o->sets))
        return gale_error_set(error, GALE_INVALID, "topology file options: settings are counted that are NULL");
    for (size_t i = 0; i < o->setting_count; i++)
        if (!o->settings[i].key)
            return gale_error_set(error, GALE_INVALID, "topology file options: the key of setting %zu is NULL", i);
    for (size_t i = 0; i < o->set_count; i++)
        if (!o->sets[i] || !strchr(o->sets[i], '='))
            return gale_error_set(error, GALE_INVALID, "topology file options: set %zu wants id.name=value, not '%s'",
                                  i, o->sets[i] ? o->sets[i] : "NULL");
    if (o->plugin_count && !o->plugins)
        return gale_error_set(error, GALE_INVALID, "topology file options: plugins are counted that are NULL");
    for (size_t i = 0; i < o->plugin_count; i++)
        if (!o->plugins[i])
            return gale_error_set(error, GALE_INVALID, "topology file options: the name of plugin %zu is NULL", i);
    return GALE_OK;
}

/* The names in `options`, then those of the file. */
static int load_plugins(const gale_topology_file_options *o, gx_plugins *plugins, gale_error *error) {
    int rc = plugins ? 0 : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < o->plugin_count && rc == 0; i++) rc = gx_plugins_load(plugins, o->plugins[i], NULL, error);
    return rc;
}

static int read(const origin *from, const gx_flux_options *flux, gale_topology **ret_topology, gale_error *error) {
    const gx_registry *registry = gx_registry_builtin();
    return from->text ? gx_flux_parse(from->name, *from->text, registry, flux, ret_topology, error)
                      : gx_flux_load(from->name, registry, flux, ret_topology, error);
}

static int load(const origin *from, const gale_topology_file_options *options, gale_topology **ret_topology,
                gale_error *error) {
    gale_topology_file_options o;
    gx_properties properties = { .count = 0 };
    int rc = gx_version_check("libgale-front", error);
    if (rc == 0) rc = gx_options_take(&o, sizeof o, options, "topology file options", error);
    if (rc == 0) rc = check(from, &o, ret_topology, error);
    if (rc == 0 && o.properties) rc = gx_properties_load(o.properties, &properties, error);
    if (rc < 0) return rc;
    const gx_variables variables = { o.properties ? &properties : NULL, o.environment };
    const gx_flux_options flux = { .settings = o.settings,
                                   .setting_count = o.setting_count,
                                   .sets = o.sets,
                                   .set_count = o.set_count,
                                   .variables = &variables,
                                   .logger = o.logger,
                                   .open = o.open,
                                   .plugins = gx_plugins_new(gx_registry_builtin()) };
    rc = load_plugins(&o, flux.plugins, error);
    if (rc == 0) rc = read(from, &flux, ret_topology, error);
    gx_plugins_free(flux.plugins);
    gx_properties_fini(&properties);
    return rc;
}

int gale_topology_from_file(const char *path, const gale_topology_file_options *options, gale_topology **ret_topology,
                            gale_error *error) {
    return load(&(origin){ path, NULL }, options, ret_topology, error);
}

int gale_topology_from_text(const char *name, gale_str text, const gale_topology_file_options *options,
                            gale_topology **ret_topology, gale_error *error) {
    return load(&(origin){ name, &text }, options, ret_topology, error);
}
