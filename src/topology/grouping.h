/* The names of groupings, ours and Flux's. */
#ifndef GX_TOPOLOGY_GROUPING_H
#define GX_TOPOLOGY_GROUPING_H

#include "base/port.h"

#include <gale/topology.h>

enum { GX_GROUPING_UNKNOWN = -1 };

/* The gale_grouping_kind that a Flux file means by `name` ("FIELDS", in any case), or GX_GROUPING_UNKNOWN. */
int gx_grouping_parse(gale_str name);

#endif
