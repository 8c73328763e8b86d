/* One thing that can be asked for: who answers, and how it is described.
 *
 * Threads: any; a route does not change. */
#ifndef GX_SERVE_ROUTE_H
#define GX_SERVE_ROUTE_H

#include "serve/served.h"

typedef enum gx_route_kind {
    GX_ROUTE_ASKS,   /* GET, HEAD: figures, for who has the token */
    GX_ROUTE_OPEN,   /* GET, HEAD: for everybody; who has no token hears less */
    GX_ROUTE_WAITS,  /* GET, HEAD: for who has the token; waits for executors */
    GX_ROUTE_CHANGES /* POST */
} gx_route_kind;

/* In the query. */
typedef struct gx_route_parameter {
    const char *name, *text;
    bool whole; /* a whole number; else text */
} gx_route_parameter;

typedef struct gx_route {
    gx_route_kind kind;
    const char *path; /* "/api/v1/topology/:id": a segment that begins with ':' stands for any */
    gx_call_fn *serve;
    const char *text;                     /* a sentence */
    const char *answer;                   /* its shape (serve/shape.h), or that of each line; NULL: text */
    const gx_route_parameter *parameters; /* ends with one without a name; NULL: none */
    const char *body;                     /* the shape of what is sent, or NULL */
    const char *type;                     /* of the answer; NULL: application/json */
    bool always;                          /* looks at no runtime: answered also while the topology is changed */
} gx_route;

#endif
