/* The folders that plugins are looked for in, in this order:
 *
 *          1. those of GALE_PLUGIN_PATH, with colons between them; a relative one begins in the working directory
 *          2. the one beside this program or library, where `cmake --install` puts plugins: it moves with them
 *          3. in a build folder, the folder `plugins` of that
 *          4. the one that this gale was configured with
 *
 * What:    2 and 3 count only where nobody can put code whom this user does not trust (gx_folder_check_trusted). Where a program has rights that
 *          its user has not, neither the environment nor the place of the program says anything: only 4 is left.
 * Threads: any; the environment is read. Owner: the caller.
 */
#ifndef GX_FRONT_PLUGIN_FOLDERS_H
#define GX_FRONT_PLUGIN_FOLDERS_H

#include "base/buf.h"

#include <gale/error.h>

/* Adds those that plugins are taken from, with a colon between two. A folder with a colon in its path is left out. */
void gx_plugin_folders(gx_buf *out);

/* Adds all of them, for people: "a, b (GALE_PLUGIN_PATH), c", with the reason where one was left out. */
void gx_plugin_folders_describe(gx_buf *out);

#endif
