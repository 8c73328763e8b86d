/* Where a plugin is: a path, or a name that is looked for.
 *
 * What:    a word with a '/' in it, or that ends with ".so", is a path. Another one is a name, of small letters, digits, '-' and '_': the file gale-NAME.so is looked for
 *          in the folders of front/plugin_folders.h.
 * Threads: any; the environment is read. Owner: the caller.
 */
#ifndef GX_FRONT_PLUGIN_PATH_H
#define GX_FRONT_PLUGIN_PATH_H

#include "base/buf.h"

#include <gale/error.h>

/* The file that `word` means. `beside`: a relative path begins in the folder of this file (NULL: in the working directory).
 * GALE_NOT_FOUND for a name that is nowhere, with where it was looked for and the nearest one that is there. */
int gx_plugin_path_of(const char *word, const char *beside, gx_buf *ret_path, gale_error *error);

/* Is there a plugin of this name? */
bool gx_plugin_path_has(gale_str name);

/* Calls `each` with the path of every plugin that a name can find, the first of those of one name, in the order of their names; what it
 * returns but 0 ends it, and is returned. */
typedef int gx_plugin_path_fn(void *user, const char *path);
int gx_plugin_path_each(gx_plugin_path_fn *each, void *user);

#endif
