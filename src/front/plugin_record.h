/* A plugin as this gale knows it: its classes as rows of a registry, and where they came from.
 *
 * Threads: what is in it is constant. References are counted by any thread.
 * Owner:   rows borrow the plugin's text, which is never unloaded. Who has a gx_plugin holds a reference; so does each
 *          component that was made of one of its classes, until its topology is freed.
 */
#ifndef GX_FRONT_PLUGIN_RECORD_H
#define GX_FRONT_PLUGIN_RECORD_H

#include "base/atomic.h"
#include "front/class.h"

#include <gale/plugin.h>

/* What stands behind a row (gx_class.made_by). */
typedef struct gx_made_by {
    struct gx_plugin *plugin;
    gale_class theirs; /* as far as this gale knows it */
} gx_made_by;

typedef struct gx_plugin {
    const char *name, *version, *license, *text;
    char *path;
    void *library; /* what was loaded: the same one is the same plugin */
    gx_class *classes;
    gx_made_by *makers; /* one a class */
    size_t class_count;
    gx_param *params; /* of all classes, one behind the other */
    char *aliases;    /* of all classes, each ended by a NUL */
    gx_atomic32 refs;
} gx_plugin;

void gx_plugin_ref(gx_plugin *plugin);
void gx_plugin_unref(gx_plugin *plugin); /* NULL is allowed */

#endif
