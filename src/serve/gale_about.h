/* gale's own REST, what is asked beside the figures: GET /api/gale/v1/topology, history, open-trees, checkpoints. */
#ifndef GX_SERVE_GALE_ABOUT_H
#define GX_SERVE_GALE_ABOUT_H

#include "serve/served.h"

gx_call_fn gx_gale_topology;
gx_call_fn gx_gale_history;
gx_call_fn gx_gale_checkpoints;

/* Waits for executors, so that it is no door's thread that calls it. */
gx_call_fn gx_gale_open_trees;

#endif
