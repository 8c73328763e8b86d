/* Plugins that a program has in it, of CMake's GALE_LINKED_PLUGINS: found by their names before any file is, also where nothing can be
 * loaded.
 *
 * Threads: set once, before plugins are loaded; any thread then. Owner: the table is borrowed for ever.
 */
#ifndef GX_FRONT_LINKED_PLUGINS_H
#define GX_FRONT_LINKED_PLUGINS_H

#include "base/buf.h"

#include <gale/plugin.h>

typedef const gale_plugin *gx_plugin_entry_fn(void);

typedef struct gx_linked_plugin {
    const char *name;
    gx_plugin_entry_fn *entry;
} gx_linked_plugin;

void gx_linked_plugins_set(const gx_linked_plugin *list, size_t count);

/* The one of this name, or NULL; the one at `index`, or NULL behind the last. */
const gx_linked_plugin *gx_linked_plugins_find(const char *name);
const gx_linked_plugin *gx_linked_plugins_at(size_t index);

/* Their names, "a, b". */
void gx_linked_plugins_names(gx_buf *out);

#endif
