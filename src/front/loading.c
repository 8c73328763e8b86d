#include "front/loading.h"

#include "base/str.h"
#include "topology/config.h"

int gx_loading_no_memory(const gx_loading *l) {
    return gale_error_set(l->error, GALE_NO_MEMORY, "%s: out of memory", gx_yaml_name(l->doc));
}

int gx_loading_builder_error(const gx_loading *l, const gx_yaml *place, int code) {
    gale_error inner = l->topology->error;
    if (!inner.code) inner.code = code;
    /* The builder's first error sticks. Where it goes on, the next one is to be told, too. */
    if (l->options->problems) l->topology->error = (gale_error)GALE_ERROR_INIT;
    return gx_yaml_error_at(l->doc, place, l->error, &inner);
}

int gx_loading_keep(const gx_loading *l, int rc) {
    return gx_yaml_keep(l->doc, rc, l->error);
}

/* --- Configuration ------------------------------------------------------------------------------------------------ */

bool gx_loading_first_time(gx_loading *l, gale_str name) {
    size_t count;
    const gx_key *keys = gx_config_keys(&count), *key = gx_config_find(name);
    size_t index = key ? (size_t)(key - keys) : GX_WARNED_MAX;
    if (index >= GX_WARNED_MAX) return true;
    bool first = !l->warned[index];
    l->warned[index] = true;
    return first;
}

static int set_key(gx_loading *l, const gx_yaml *key, const char *component) {
    gale_value value;
    if (memchr(key->text.data, 0, key->text.size))
        return gx_yaml_error(l->doc, key, l->error, GALE_CONFIG, "a key must not hold a NUL character");
    int rc = gx_yaml_value(l->doc, key->next, &value, l->error);
    if (rc < 0) return rc;
    rc = gale_topology_set(l->topology, component, key->text.data, value);
    if (rc < 0) return gx_loading_builder_error(l, key, rc);
    if (!component && gx_yaml_has_secret(key->next)) gx_config_hide(l->topology->config, key->text);
    if (rc > 0 && gx_loading_first_time(l, key->text))
        gx_yaml_warn(l->doc, key, l->options->logger, "%s has no effect here%s", key->text.data,
                     gx_config_why(key->text, (char[GX_CONFIG_WHY]){ 0 }));
    return 0;
}

int gx_loading_config(gx_loading *l, const gx_yaml *map, const char *component) {
    if (!map || map->type == GALE_TYPE_NULL) return 0;
    if (map->type != GALE_TYPE_MAP)
        return gx_loading_keep(l, gx_yaml_error(l->doc, map, l->error, GALE_TYPE, "'config' must be a map, not %s",
                                                gx_yaml_type_text(map)));
    int rc = 0;
    for (const gx_yaml *key = map->as.first; key && rc == 0; key = key->next->next)
        rc = gx_loading_keep(l, set_key(l, key, component));
    return rc;
}

gx_vertex *gx_loading_vertex(const gx_loading *l, gale_str id) {
    for (size_t i = 0; i < l->vertex_count; i++)
        if (l->vertices[i].id && gx_str_equal(l->vertices[i].id->text, id)) return &l->vertices[i];
    return NULL;
}
