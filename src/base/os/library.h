/* Shared objects that are loaded while the program runs.
 *
 * What:    a file is looked at before the loader sees it, which says little, and stumbles over what is cut off; what the loader
 *          says then is put into one sentence that says what to do.
 * Threads: any.
 * Owner:   nobody: what is loaded stays until the process ends. Code that is unloaded would take along what it has made (threads,
 *          handlers, tables of functions that are in use, the names by which a sanitizer tells of a leak), and nothing is gained.
 * Limits:  a program without a loader (linked statically with the C library) can load nothing: gx_library_can.
 */
#ifndef GX_BASE_OS_LIBRARY_H
#define GX_BASE_OS_LIBRARY_H

#include "base/port.h"

#include <gale/error.h>

/* Can this program load any? */
bool gx_library_can(void);

/* Is the file at `path` a shared object for this machine, whole as far as its head says, that not everybody may change, and that
 * belongs, as does a link to it, to root, this user or who owns the folder of this program? GALE_OK, GALE_NOT_FOUND, GALE_IO, GALE_INVALID; reports begin with "'path' ". */
int gx_library_look(const char *path, gale_error *error);

/* Loads it, with all that it needs, and runs what it has to begin with; the same file again is the same `*ret_library`. GALE_UNSUPPORTED
 * where nothing can be loaded, GALE_NOT_FOUND when something that it needs is not there, GALE_INVALID for what the loader refuses
 * otherwise. To be looked at before. A name without a '/' is looked for where the system has its libraries. */
int gx_library_load(const char *path, void **ret_library, gale_error *error);

/* The function that it shows under `name`, or NULL. */
typedef void gx_library_fn(void);
gx_library_fn *gx_library_function(void *library, const char *name);

/* What the loader said of the object at `path`, as a sentence; returns the code that goes with it. A function of gale's that is not found is one
 * that is not there, or one that this program does not show. */
int gx_library_explain(const char *path, const char *said, gale_error *error);

#endif
