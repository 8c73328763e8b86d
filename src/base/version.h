/* Is libgale of the version that a library beside it was built with? What is opaque, as a topology, is laid out alike in one
 * version alone. Threads: any. */
#ifndef GX_BASE_VERSION_H
#define GX_BASE_VERSION_H

#include "base/port.h"

#include <gale/error.h>
#include <string.h>

/* GALE_UNSUPPORTED when not; `library` is the one that asks. */
GX_INLINE int gx_version_check(const char *library, gale_error *error) {
    if (strcmp(gale_version(), GALE_VERSION_TEXT) == 0) return GALE_OK;
    return gale_error_set(error, GALE_UNSUPPORTED,
                          "%s is version %s, but the libgale that is loaded is version %s: "
                          "install both of one version",
                          library, GALE_VERSION_TEXT, gale_version());
}

#endif
