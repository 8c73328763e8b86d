/* gale's own REST, what is set of a component while it runs: POST /api/gale/v1/set. */
#ifndef GX_SERVE_GALE_SET_H
#define GX_SERVE_GALE_SET_H

#include "serve/served.h"

/* {"component":text, and one of "pending":n, "rate":x, "drop":"oldest"|"newest"}: gale_runtime_set. 400: the value is none; 404: there is no such
 * component; 409: it has nothing of the kind. */
gx_call_fn gx_gale_set;

#endif
