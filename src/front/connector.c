#include "front/connector.h"

#include "base/os/library.h"
#include "base/str.h"

const gx_connector *gx_connector_named(gale_str name) {
    for (size_t i = 0; i < gx_connector_count; i++)
        if (gx_str_is(name, gx_connectors[i].name)) return &gx_connectors[i];
    return NULL;
}

bool gx_connector_brings(const gx_connector *connector, gale_str class_) {
    gale_str rest = gx_str(connector->classes), name;
    while (gx_str_next(&rest, ' ', &name))
        if (gx_str_equal(name, class_)) return true;
    return false;
}

const gx_connector *gx_connector_of(gale_str class_) {
    for (size_t i = 0; i < gx_connector_count; i++)
        if (gx_connector_brings(&gx_connectors[i], class_)) return &gx_connectors[i];
    return NULL;
}

void gx_connector_classes(const gx_connector *connector, gx_buf *out) {
    gale_str rest = gx_str(connector->classes), name;
    for (int i = 0; gx_str_next(&rest, ' ', &name); i++) gx_buf_format(out, "%s%.*s", i ? ", " : "", GX_STR(name));
}

void gx_connector_advice(const gx_connector *connector, gx_buf *out) {
    const char *name = connector->name;
    if (gx_library_can())
        gx_buf_format(out, "apt install gale-%s, or build it with -DGALE_CONNECTORS=%s", name, name);
    else
        gx_buf_format(out, "build gale with -DGALE_LINKED_CONNECTORS=%s", name);
}
