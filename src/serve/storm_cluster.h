/* Storm's REST, the cluster: /api/v1/cluster/summary and its like (model 1.20). */
#ifndef GX_SERVE_STORM_CLUSTER_H
#define GX_SERVE_STORM_CLUSTER_H

#include "serve/storm_view.h"

gx_call_fn gx_storm_cluster_summary;
gx_call_fn gx_storm_cluster_configuration;
gx_call_fn gx_storm_nimbus_summary;
gx_call_fn gx_storm_supervisor_summary;
gx_call_fn gx_storm_supervisor;
gx_call_fn gx_storm_owner_resources;
gx_call_fn gx_storm_history_summary;
gx_call_fn gx_storm_topology_summary;

/* What the list of topologies and the page of one have in common: "id" to "stormVersion". */
void gx_storm_summary_members(gx_json *json, const gx_storm_view *view);

/* One of "workers". */
void gx_storm_worker_json(gx_json *json, const gx_storm_view *view);

/* All keys of the configuration, with the defaults of those that are not set. */
void gx_storm_configuration(gx_json *json, const gx_served *served);

#endif
