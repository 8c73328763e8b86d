#include "front/linked_plugins.h"

#include <string.h>

static const gx_linked_plugin *linked;
static size_t linked_count;

void gx_linked_plugins_set(const gx_linked_plugin *list, size_t count) {
    linked = list;
    linked_count = count;
}

const gx_linked_plugin *gx_linked_plugins_at(size_t index) {
    return index < linked_count ? &linked[index] : NULL;
}

const gx_linked_plugin *gx_linked_plugins_find(const char *name) {
    for (size_t i = 0; i < linked_count; i++)
        if (strcmp(linked[i].name, name) == 0) return &linked[i];
    return NULL;
}

void gx_linked_plugins_names(gx_buf *out) {
    for (size_t i = 0; i < linked_count; i++) gx_buf_format(out, "%s%s", i ? ", " : "", linked[i].name);
}
