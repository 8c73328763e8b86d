#include "cli/flux_file.h"

#include "base/str.h"
#include "front/builtin.h"
#include "front/plugin_note.h"

static int check_equals(const gx_words *words, const char *option, const char *wants, gale_error *error) {
    for (size_t i = 0; i < words->count; i++)
        if (!strchr(words->items[i], '='))
            return gale_error_set(error, GALE_INVALID, "%s wants %s; '%s' has no '='", option, wants, words->items[i]);
    return 0;
}

int gx_flux_file_plugins(const gx_words *words, gx_plugins *plugins, gale_error *error) {
    gale_error inner = GALE_ERROR_INIT;
    gx_plugin_note_on_crash();
    for (size_t i = 0; i < words->count; i++) {
        int rc = gx_plugins_load(plugins, words->items[i], NULL, &inner);
        if (rc < 0) return gale_error_set(error, rc, "--plugin %s: %s", words->items[i], inner.text);
    }
    return 0;
}

static int load(const char *path, const gx_flux_choices *choices, gx_flux_options *flux, gale_topology **ret_topology,
                gale_error *error) {
    gx_plugins *plugins = gx_plugins_new(gx_registry_builtin());
    if (!plugins) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    flux->plugins = plugins;
    int rc = gx_flux_file_plugins(&choices->plugins, plugins, error);
    if (rc == 0) rc = gx_flux_load(path, gx_registry_builtin(), flux, ret_topology, error);
    gx_plugins_free(plugins);
    return rc;
}

int gx_flux_file_load(const char *path, const gx_flux_choices *choices, gx_flux_options flux,
                      gale_topology **ret_topology, gale_error *error) {
    gx_properties properties = { .count = 0 };
    int rc = check_equals(&choices->assignments, "-c", "key=value", error);
    if (rc == 0) rc = check_equals(&choices->sets, "--set", "id.name=value", error);
    if (rc == 0 && choices->filter) rc = gx_properties_load(choices->filter, &properties, error);
    if (rc < 0) return rc;
    const gx_variables variables = { choices->filter ? &properties : NULL, choices->environment };
    flux.assignments = choices->assignments.items;
    flux.assignment_count = choices->assignments.count;
    flux.sets = choices->sets.items;
    flux.set_count = choices->sets.count;
    flux.variables = &variables;
    rc = load(path, choices, &flux, ret_topology, error);
    gx_properties_fini(&properties);
    return rc;
}
