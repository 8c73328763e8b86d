/* What can be asked for: one table, which answers, is described by OpenAPI, and is tested row by row.
 *
 * Threads: any; the table does not change. */
#ifndef GX_SERVE_ROUTES_H
#define GX_SERVE_ROUTES_H

#include "serve/served.h"

typedef enum gx_route_kind {
    GX_ROUTE_ASKS,   /* GET, HEAD: figures, for who has the token */
    GX_ROUTE_OPEN,   /* GET, HEAD: for everybody; who has no token hears less */
    GX_ROUTE_WAITS,  /* GET, HEAD: for who has the token; waits for executors */
    GX_ROUTE_CHANGES /* POST */
} gx_route_kind;

typedef struct gx_route {
    gx_route_kind kind;
    const char *path; /* "/api/v1/topology/:id": a segment that begins with ':' stands for any */
    gx_call_fn *serve;
    const char *text; /* a sentence */
} gx_route;

extern const gx_route gx_routes[];
extern const size_t gx_route_count;

/* The route, with the names that its path has; NULL, with `*ret_allow` the other method, or NULL when there is no such path. `changes`: it is
 * a POST. */
const gx_route *gx_routes_find(const gx_target *target, bool changes, gale_str names[3], const char **ret_allow);

#endif
