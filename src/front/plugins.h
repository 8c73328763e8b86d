/* The plugins that a topology file, or a command, has loaded: gale's own classes and theirs, in one registry.
 *
 * Threads: one at a time. Two sets may be used by two threads.
 * Owner:   the caller frees the set, also while components that were made of it go on; what is loaded stays in the process, and
 *          what was refused does, too.
 * Errors:  one sentence that says what to do, without a place: the caller adds it.
 */
#ifndef GX_FRONT_PLUGINS_H
#define GX_FRONT_PLUGINS_H

#include "front/plugin_record.h"
#include "front/registry.h"

typedef struct gx_plugins gx_plugins;

/* None yet: the classes of `base`. NULL when memory is out. */
gx_plugins *gx_plugins_new(const gx_registry *base);
void gx_plugins_free(gx_plugins *plugins); /* NULL is allowed */

/* gale's classes and those that were loaded; the same registry, whatever is loaded later. */
const gx_registry *gx_plugins_registry(const gx_plugins *plugins);

/* Loads what `word` means: one that is linked in (front/linked_plugins.h), or a file (front/plugin_path.h). The same one again is none the second time. */
int gx_plugins_load(gx_plugins *plugins, const char *word, const char *beside, gale_error *error);

/* The one at `index`, in the order of loading; NULL behind the last. */
const gx_plugin *gx_plugins_at(const gx_plugins *plugins, size_t index);

/* Takes what is described, as loaded from `path`; `library` is what tells it from others. */
int gx_plugins_add(gx_plugins *plugins, const gale_plugin *described, const char *path, void *library,
                   gale_error *error);

#endif
