/* gale's own REST, figures: GET /api/gale/v1/now. Its members are told in docs/reference/rest.md. */
#ifndef GX_SERVE_GALE_NOW_H
#define GX_SERVE_GALE_NOW_H

#include "serve/healthy.h"
#include "serve/served.h"

gx_call_fn gx_gale_now;

/* The members live, ready and problems. */
void gx_gale_health_members(gx_json *json, const gx_healthy *healthy);

/* An object, or null for a run that is not durable. */
void gx_gale_checkpoint_json(gx_json *json, const gx_snapshot *now);

#endif
