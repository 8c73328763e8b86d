/* gale's own REST, a topology that is changed while it runs: POST /api/gale/v1/reload and /restart, and GET how far it is. */
#ifndef GX_SERVE_GALE_CHANGE_H
#define GX_SERVE_GALE_CHANGE_H

#include "serve/served.h"

/* {"set":["count.parallelism=8"],"config":["topology.message.timeout.secs=60"],"adopt":["old=new"],"forget":true}, each of which may be
 * missing, and so may the body. 202 with {"number"}; 409 while another one is on its way, or the end of the run is. */
gx_call_fn gx_gale_change;

/* {"number","state":"none"|"asked"|"checking"|"stopping"|"starting"|"done"|"refused","text":null|"...","begun":null|"checkpoint"|
 * "anew","stood_still":seconds}: of the last one, and from what the run goes on, if it was stopped for it. */
gx_call_fn gx_gale_changing;

#endif
