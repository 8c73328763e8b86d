/* Files of cases below folders.
 * Threads: one. Limits: GX_CASE_PATHS_DEPTH levels of folders. */
#ifndef GX_CASES_CASE_PATHS_H
#define GX_CASES_CASE_PATHS_H

#include "base/port.h"

#include <gale/error.h>

enum { GX_CASE_PATHS_DEPTH = 32 };

typedef struct gx_case_paths {
    char **list;
    size_t count, room;
} gx_case_paths;

/* Adds `path`, or, when it is a folder, all NAME.test.yaml below it in order of their names; what begins with a dot is left out, and
 * folders behind links are not entered. GALE_NOT_FOUND when a folder has none, GALE_IO, GALE_NO_MEMORY. */
int gx_case_paths_add(gx_case_paths *paths, const char *path, gale_error *error);

void gx_case_paths_fini(gx_case_paths *paths);

#endif
