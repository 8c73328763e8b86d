/* GET /openapi.json: what can be asked for, by OpenAPI 3.1, made of the table of routes. A test asks every route and compares.
 *
 * Threads: any. */
#ifndef GX_SERVE_OPENAPI_H
#define GX_SERVE_OPENAPI_H

#include "serve/route.h"

/* Routes of one path follow each other. */
void gx_openapi_write(gx_json *json, const gx_route *routes, size_t count);

#endif
