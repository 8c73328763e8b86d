#include "front/plugin_key.h"

#include "front/plugins.h"
#include "front/shape.h"

static int load_one(const gx_loading *l, const gx_yaml *item) {
    gale_error inner = GALE_ERROR_INIT;
    if (item->type != GALE_TYPE_STRING || memchr(item->text.data, 0, item->text.size))
        return gx_yaml_error(l->doc, item, l->error, GALE_TYPE, "a plugin must be a name or a path, not %s",
                             gx_yaml_type_text(item));
    if (!l->options->plugins)
        return gx_yaml_error(l->doc, item, l->error, GALE_UNSUPPORTED,
                             "who reads this file does not load plugins: take out '%s'", item->text.data);
    int rc = gx_plugins_load(l->options->plugins, item->text.data, item->file, &inner);
    return rc < 0 ? gx_yaml_error_at(l->doc, item, l->error, &inner) : 0;
}

int gx_loading_plugins(gx_loading *l, const gx_yaml *root) {
    const gx_yaml *list;
    if (l->options->plugins) l->registry = gx_plugins_registry(l->options->plugins);
    int rc = gx_shape_list(l->doc, root, "a topology", "plugins", &list, l->error);
    if (rc < 0 || !list) return gx_loading_keep(l, rc);
    for (const gx_yaml *item = list->as.first; item && rc == 0; item = item->next) {
        rc = load_one(l, item);
        l->lacks_plugins |= rc < 0;
        rc = gx_loading_keep(l, rc);
    }
    return rc;
}
