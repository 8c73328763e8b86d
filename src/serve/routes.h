/* What can be asked for: one table, which answers, is described by OpenAPI, and is tested row by row.
 *
 * Threads: any; the table does not change. */
#ifndef GX_SERVE_ROUTES_H
#define GX_SERVE_ROUTES_H

#include "serve/route.h"

/* Routes of one path follow each other. */
extern const gx_route gx_routes[];
extern const size_t gx_route_count;

/* The route, with the names that its path has; NULL, with `*ret_allow` the other method, or NULL when there is no such path. `changes`: it is
 * a POST. */
const gx_route *gx_routes_find(const gx_target *target, bool changes, gale_str names[GX_CALL_NAMES],
                               const char **ret_allow);

#endif
