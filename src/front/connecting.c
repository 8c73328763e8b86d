#include "front/connecting.h"

#include "base/os/library.h"
#include "base/str.h"
#include "front/linked_plugins.h"
#include "front/plugin_folders.h"
#include "front/plugin_path.h"

bool gx_connecting_has(const gx_connector *connector) {
    return gx_linked_plugins_find(connector->name) || (gx_library_can() && gx_plugin_path_has(gx_str(connector->name)));
}

static void say_missing(const gx_connector *connector, gx_buf *out) {
    if (!gx_library_can()) {
        gx_buf_add_text(out, "which is not in this program, and that can load none, as it is linked statically: ");
    } else {
        gx_buf_format(out, "which is not installed (no gale-%s.so in ", connector->name);
        gx_plugin_folders_describe(out);
        gx_buf_add_text(out, "): ");
    }
    gx_connector_advice(connector, out);
}

static int refuse_missing(const gx_connector *connector, gale_str class_, gale_error *error) {
    gx_buf why = GX_BUF_INIT(NULL);
    say_missing(connector, &why);
    const char *text = gx_buf_text(&why);
    int rc = gale_error_set(error, GALE_NOT_FOUND, "class %.*s is brought by the plugin gale-%s, %s", GX_STR(class_),
                            connector->name, text ? text : "which is missing");
    gx_buf_fini(&why);
    return rc;
}

static bool knows(const gx_plugins *plugins, gale_str class_) {
    return gx_registry_find(gx_plugins_registry(plugins), class_);
}

int gx_connecting_class(gx_plugins *plugins, gale_str name, gale_error *error) {
    gale_error inner = GALE_ERROR_INIT;
    const gx_connector *connector = gx_connector_of(name);
    if (!connector || (plugins && knows(plugins, name))) return 0;
    if (!plugins)
        return gale_error_set(error, GALE_UNSUPPORTED,
                              "class %.*s is brought by the plugin gale-%s, and who reads this file does not load "
                              "plugins",
                              GX_STR(name), connector->name);
    if (!gx_connecting_has(connector)) return refuse_missing(connector, name, error);
    int rc = gx_plugins_load(plugins, connector->name, NULL, &inner);
    if (rc < 0) return gale_error_set(error, rc, "class %.*s: %s", GX_STR(name), inner.text);
    if (knows(plugins, name)) return 0;
    return gale_error_set(error, GALE_NOT_FOUND,
                          "class %.*s is to be brought by the plugin gale-%s, and the one that is there does not have "
                          "it (gale plugins %s): it is older than this gale, or another plugin of that name",
                          GX_STR(name), connector->name, connector->name);
}

void gx_connecting_all(gx_plugins *plugins) {
    for (size_t i = 0; i < gx_connector_count; i++)
        if (gx_connecting_has(&gx_connectors[i])) (void)gx_plugins_load(plugins, gx_connectors[i].name, NULL, NULL);
}
