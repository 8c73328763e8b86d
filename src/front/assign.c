#include "front/assign.h"

#include "base/nearest.h"
#include "base/str.h"
#include "front/shape.h"
#include "topology/builder.h"
#include "topology/config.h"

gale_str gx_assign_key(const char *assignment) {
    const char *equals = strchr(assignment, '=');
    return gx_str_trim((gale_str){ assignment, equals ? (size_t)(equals - assignment) : strlen(assignment) });
}

/* Does the file give this key a value, for the topology or one of its components? */
static bool is_files(const gale_topology *topology, const char *key) {
    gale_value value;
    bool found = gale_config_get(topology->config, key, &value);
    for (uint32_t i = 0; i < topology->component_count && !found; i++)
        found = gale_config_get(topology->components[i]->config, key, &value);
    return found;
}

/* --- What is refused ---------------------------------------------------------------------------------------------- */

/* Where a spout or bolt stands: the longest name that `key` begins with, followed by a dot. */
static const gx_yaml *find_vertex(const gx_yaml_doc *doc, gale_str key, const gx_yaml **ret_id) {
    static const char *const lists[] = { "spouts", "bolts" };
    const gx_yaml *found = NULL;
    *ret_id = NULL;
    for (size_t i = 0; i < 2; i++) {
        const gx_yaml *list = gx_yaml_get(gx_yaml_root(doc), lists[i]);
        for (const gx_yaml *item = list && list->type == GALE_TYPE_LIST ? list->as.first : NULL; item;
             item = item->next) {
            const gx_yaml *id = gx_yaml_get(item, "id");
            bool begins = id && gx_yaml_is_scalar(id) && id->text.size && id->text.size < key.size &&
                          key.data[id->text.size] == '.' && memcmp(key.data, id->text.data, id->text.size) == 0;
            if (begins && (!found || id->text.size > (*ret_id)->text.size)) found = item, *ret_id = id;
        }
    }
    return found;
}

/* "count.parallelism" is for --set. */
static int refuse_vertex(const gx_yaml_doc *doc, gale_str key, const gx_yaml *id, gale_error *error) {
    return gale_error_set(
        error, GALE_CONFIG,
        "unknown key '%.*s': -c sets keys of the whole topology; what is '%.*s's own (%s:%u:%u) is set "
        "with --set %.*s=...",
        GX_STR(key), GX_STR(id->text), gx_yaml_name(doc), id->line, id->column, GX_STR(key));
}

static int check_key(const gx_yaml_doc *doc, const gale_topology *topology, const char *key, gale_error *error) {
    const gx_yaml *id;
    gale_str name = gx_str(key);
    if (gx_config_find(name) || is_files(topology, key)) return 0;
    if (find_vertex(doc, name, &id)) return refuse_vertex(doc, name, id, error);
    return gx_config_is_daemons(name) ? 1 : gx_config_refuse(name, error);
}

/* --- Setting ------------------------------------------------------------------------------------------------------ */

static int set(const gx_yaml_doc *doc, gale_topology *topology, const gale_config *one, gale_error *error) {
    gale_str key;
    gale_value value;
    if (!gale_config_at(one, 0, &key, &value)) return 0;
    int no_effect = check_key(doc, topology, key.data, error);
    if (no_effect < 0) return no_effect;
    int rc = gale_topology_set(topology, NULL, key.data, value);
    if (rc < 0) *error = topology->error;
    return rc != 0 ? rc : no_effect;
}

int gx_assign(const gx_yaml_doc *doc, gale_topology *topology, const char *assignment, gale_error *error) {
    gale_config *one = gale_config_new();
    if (!one) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = gale_config_set_text(one, assignment, error);
    if (rc >= 0) rc = set(doc, topology, one, error);
    gale_config_free(one);
    return rc;
}
