/* Classes that Storm has and gale has not, as people's files name them, and names by which people look for what gale
 * lacks: what to use instead, and what is missing. */
#ifndef GX_FRONT_STRANGERS_H
#define GX_FRONT_STRANGERS_H

#include "base/buf.h"

#include <gale/base.h>

/* A sentence that may follow "gale has no counterpart of x: ", in `out`, or NULL for a name that is not known. What a connector stands for, its
 * own table says (front/connector.h). */
const char *gx_stranger(gale_str class_name, gx_buf *out);

#endif
