/* Storm's REST, what changes something: POST /api/v1/topology/:id/activate and its like (model 1.20). */
#ifndef GX_SERVE_STORM_DEEDS_H
#define GX_SERVE_STORM_DEEDS_H

#include "serve/served.h"

gx_call_fn gx_storm_activate;
gx_call_fn gx_storm_deactivate;
gx_call_fn gx_storm_rebalance; /* refused: another number of tasks is another plan */
gx_call_fn gx_storm_kill;      /* after :wait seconds, in which what is in flight is finished; 0: at once */
gx_call_fn gx_storm_debug;
gx_call_fn gx_storm_component_debug;
gx_call_fn gx_storm_profiling; /* refused: there is no JVM */
gx_call_fn gx_storm_logconfig;
gx_call_fn gx_storm_set_logconfig;

#endif
