#include "front/plugin_record.h"

#include <stdlib.h>

void gx_plugin_ref(gx_plugin *plugin) {
    gx_add_relaxed(&plugin->refs, 1);
}

void gx_plugin_unref(gx_plugin *plugin) {
    if (!plugin || gx_sub_acq_rel(&plugin->refs, 1) > 1) return; /* R1 and A1: who frees has seen all that others did */
    free(plugin->path);
    free(plugin->classes);
    free(plugin->makers);
    free(plugin->params);
    free(plugin->aliases);
    free(plugin);
}
