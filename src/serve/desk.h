/* Who answers: between a door and the routes. A desk belongs to one door, whose rules it keeps.
 *
 * What:    a request is judged (serve/access), finds its route, and is answered at once, or by whoever runs the errands when
 *          its route waits for executors.
 * Threads: gx_desk_serve on its door's; errands on one other thread, which calls gx_desk_run_errands.
 * Limits:  GX_DESK_ERRANDS at a time; who comes then is told to come later.
 */
#ifndef GX_SERVE_DESK_H
#define GX_SERVE_DESK_H

#include "base/os/thread.h"
#include "serve/access.h"
#include "serve/routes.h"

enum { GX_DESK_ERRANDS = 16 };

typedef struct gx_errand {
    gx_http_request *request;
    const gx_route *route;
    gx_call call;
} gx_errand;

/* What is to be done by a thread that may wait; all desks share one list. */
typedef struct gx_errands {
    gx_monitor monitor;
    gx_errand list[GX_DESK_ERRANDS];
    uint32_t count;
    bool closed; /* no more are taken */
} gx_errands;

bool gx_errands_init(gx_errands *errands);
void gx_errands_fini(gx_errands *errands);

/* Waits at most `nanoseconds` for one, and runs all that there are. False when they are closed and none is left. */
bool gx_errands_run(gx_errands *errands, int64_t nanoseconds);

/* No more are taken; what waits is still run. */
void gx_errands_close(gx_errands *errands);

typedef struct gx_desk {
    gx_served *served;
    gx_errands *errands;
    gx_access rules;
    bool secure; /* the door speaks TLS */
} gx_desk;

/* A gx_http_admits_fn and a gx_http_fn; `user` is a gx_desk. Admitted is who has the token, or needs none. */
bool gx_desk_admits(void *user, const gx_http_request *request);
bool gx_desk_serve(void *user, gx_http_request *request, gx_http_reply *reply);

#endif
