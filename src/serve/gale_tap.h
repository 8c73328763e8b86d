/* GET /api/gale/v1/tap: tuples of a component as they pass, a line of JSON each, for as long as somebody reads and the run goes on.
 *
 * Threads: a door's. Errors: 400, 404, 501, 503, each with a sentence. */
#ifndef GX_SERVE_GALE_TAP_H
#define GX_SERVE_GALE_TAP_H

#include "serve/served.h"

void gx_gale_tap(const gx_call *call, gx_http_reply *reply);

#endif
