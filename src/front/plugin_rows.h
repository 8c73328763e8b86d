/* What a plugin says of itself (gale/plugin.h), as rows of a registry.
 *
 * What:    it comes from outside: every field is looked at, and copied into rows of this gale's own, so that its tables stay free
 *          to change. A plugin that was built with older headers has shorter structures, and what they do not have is zero; of one
 *          built with newer headers, what is behind the known end is not looked at: which gale it needs it says (`needs`).
 * Threads: one at a time.
 * Limits:  GX_PLUGIN_CLASSES_MAX classes, GX_PLUGIN_TEXT_MAX bytes of a name or a sentence.
 */
#ifndef GX_FRONT_PLUGIN_ROWS_H
#define GX_FRONT_PLUGIN_ROWS_H

#include "front/plugin_record.h"

enum { GX_PLUGIN_CLASSES_MAX = 256, GX_PLUGIN_TEXT_MAX = 500 };

/* The oldest plugin ABI that is understood. */
enum { GX_PLUGIN_ABI_OLDEST = 1 };

/* `path` is how reports call the plugin, and copied. GALE_INVALID, GALE_UNSUPPORTED for one that needs another gale, GALE_TOO_LARGE,
 * GALE_NO_MEMORY. */
int gx_plugin_new(const gale_plugin *described, const char *path, void *library, gx_plugin **ret_plugin,
                  gale_error *error);

#endif
