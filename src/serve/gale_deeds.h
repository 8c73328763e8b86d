/* gale's own REST, what changes something: POST /api/gale/v1/activate and its like. */
#ifndef GX_SERVE_GALE_DEEDS_H
#define GX_SERVE_GALE_DEEDS_H

#include "serve/served.h"

gx_call_fn gx_gale_activate;
gx_call_fn gx_gale_deactivate;
gx_call_fn gx_gale_drain;
gx_call_fn gx_gale_kill;
gx_call_fn gx_gale_end; /* GET: waits for the end, and has the exit code */
gx_call_fn gx_gale_checkpoint;
gx_call_fn gx_gale_log_level;     /* GET */
gx_call_fn gx_gale_set_log_level; /* POST */

/* What they do; Storm's REST does the same. */
void gx_deed_activate(gx_served *served, bool active);
void gx_deed_end(const gx_served *served, bool now); /* `now`: what is in flight is not finished */

#endif
