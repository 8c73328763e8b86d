/* GET /healthz, /readyz and /livez: 200 or 503, and why. Who has no token hears a word and no more. */
#ifndef GX_SERVE_HEALTH_PAGE_H
#define GX_SERVE_HEALTH_PAGE_H

#include "serve/served.h"

gx_call_fn gx_health_healthz; /* nothing is wrong */
gx_call_fn gx_health_readyz;  /* all is open and takes work */
gx_call_fn gx_health_livez;   /* it moves: when not, starting it anew may help */

#endif
