/* Storm's REST, a topology: /api/v1/topology/:id and its like (model 1.20). */
#ifndef GX_SERVE_STORM_TOPOLOGY_H
#define GX_SERVE_STORM_TOPOLOGY_H

#include "serve/served.h"

gx_call_fn gx_storm_topology;
gx_call_fn gx_storm_topology_workers;
gx_call_fn gx_storm_topology_metrics;
gx_call_fn gx_storm_topology_lag;
gx_call_fn gx_storm_visualization_init;
gx_call_fn gx_storm_visualization;

#endif
