/* A folder for what is not to last, and paths that stay in it.
 * Threads: any. Owner: whoever made the folder removes it. */
#ifndef GX_BASE_OS_SCRATCH_H
#define GX_BASE_OS_SCRATCH_H

#include "base/port.h"

#include <gale/error.h>

enum { GX_SCRATCH_PATH = 4096 };

/* Makes a folder of its own, for its owner alone, in $TMPDIR or /tmp; its name begins with `name`. GALE_IO, GALE_TOO_LARGE. */
int gx_scratch_make(const char *name, char ret_path[GX_SCRATCH_PATH], gale_error *error);

/* Removes it with all that is in it; links are not followed. GALE_IO. */
int gx_scratch_remove(const char *path, gale_error *error);

/* `path` as it is below `folder`: from the root or not, and ".." is a folder called "up". False: it is longer than `room`. */
bool gx_scratch_below(const char *folder, const char *path, char *out, size_t room);

/* The same, and makes the folders that the file is to be in; what may be the name of a field ({name}) is left to who writes it.
 * GALE_TOO_LARGE, GALE_IO. */
int gx_scratch_lead(const char *folder, const char *path, char *out, size_t room, gale_error *error);

#endif
