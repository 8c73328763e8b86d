/* `streams` of a Flux file, and their groupings. */
#ifndef GX_FRONT_STREAMS_H
#define GX_FRONT_STREAMS_H

#include "front/loading.h"

int gx_loading_streams(gx_loading *l, const gx_yaml *root);

#endif
