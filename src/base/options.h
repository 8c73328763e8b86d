/* Structures that begin with their size, taken as this version of the library knows them: options, and the handles in
 * them. Who was built with an older header gives a shorter structure, and what it does not have is zero; who was built
 * with a newer one may set only what is known here.
 * Threads: any. */
#ifndef GX_BASE_OPTIONS_H
#define GX_BASE_OPTIONS_H

#include "base/port.h"

#include <gale/error.h>

/* No structure of any version is larger: a size above it was never set, and what lies behind it is not read. */
enum { GX_OPTIONS_SIZE_MAX = 4096 };

/* Copies `from` (NULL: all zero), whose first field is its size, to `to`, whose size is `size` from then on. `what` is
 * how a report calls it: "split bolt: options". GALE_INVALID when the size was not set, GALE_UNSUPPORTED when something
 * is set that is not known here; `to` is untouched then. */
int gx_options_take(void *to, size_t size, const void *from, const char *what, gale_error *error);

#endif
