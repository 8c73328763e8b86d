/* What is said of trees that are still open when a drain gives up: the oldest, and where they are. */
#ifndef GX_CLI_OPEN_TREES_H
#define GX_CLI_OPEN_TREES_H

#include "base/buf.h"

#include <gale/runtime.h>

/* Appends nothing when there are none, or when no executor answers. */
void gx_open_trees_text(gale_runtime *runtime, gx_buf *out);

#endif
