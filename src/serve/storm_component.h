/* Storm's REST, a component: /api/v1/topology/:id/component/:component (model 1.20). */
#ifndef GX_SERVE_STORM_COMPONENT_H
#define GX_SERVE_STORM_COMPONENT_H

#include "serve/storm_view.h"

gx_call_fn gx_storm_component_page;

/* lastError, errorHost, errorPort, errorTime, errorLapsedSecs, errorWorkerLogLink: of its first task that is not well. */
void gx_storm_error_members(gx_json *json, const gx_storm_view *view, const gx_part *part);

/* "debug" and "samplingPct"; `part` NULL: of the topology, where it is on for all. */
void gx_storm_debug_members(gx_json *json, const gx_storm_view *view, const gx_part *part);

/* The component has one stream that is told, so that what is known of all its trees is known of that. */
bool gx_storm_has_one_stream(const gx_part *part);

#endif
