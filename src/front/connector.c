#include "front/connector.h"

#include "base/os/folder.h"
#include "base/os/library.h"
#include "base/str.h"

#include <stdio.h>
#include <unistd.h>

enum { PATH_ROOM = 2048 };

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

void gx_connector_stand_ins(void (*each)(void *user, const gx_stand_in *one), void *user) {
    for (size_t i = 0; i < gx_connector_count; i++) {
        gale_str rest = gx_str(gx_connectors[i].stands_for), line;
        while (gx_str_next(&rest, '\n', &line)) {
            gx_stand_in one = { .connector = &gx_connectors[i], .text = line };
            if (!gx_str_next(&one.text, ' ', &one.name) || !gx_str_next(&one.text, ' ', &one.class_)) continue;
            if (gx_str_is(one.class_, "-")) one.class_.size = 0;
            each(user, &one);
        }
    }
}

void gx_connector_classes(const gx_connector *connector, gx_buf *out) {
    gale_str rest = gx_str(connector->classes), name;
    for (int i = 0; gx_str_next(&rest, ' ', &name); i++) gx_buf_format(out, "%s%.*s", i ? ", " : "", GX_STR(name));
}

/* In a build folder plugins are in a folder beside the program. */
static bool is_built_beside(const char *name, char *folder, size_t size) {
    char program[PATH_ROOM], file[2 * PATH_ROOM];
    if (!gx_folder_of_program(program, sizeof program)) return false;
    snprintf(folder, size, "%s/plugins", program);
    snprintf(file, sizeof file, "%s/gale-%s.so", folder, name);
    return access(file, R_OK) == 0;
}

void gx_connector_advice(const gx_connector *connector, gx_buf *out) {
    const char *name = connector->name;
    char folder[PATH_ROOM + 16];
    if (gx_library_can() && is_built_beside(name, folder, sizeof folder))
        gx_buf_format(out, "it is built, in %s: the environment's GALE_PLUGIN_PATH=%s has gale find it", folder,
                      folder);
    else if (gx_library_can())
        gx_buf_format(out, "apt install gale-%s, or build it with -DGALE_CONNECTORS=%s", name, name);
    else
        gx_buf_format(out, "build gale with -DGALE_LINKED_CONNECTORS=%s", name);
}
