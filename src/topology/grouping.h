/* The names of groupings, ours and Flux's, and of drop policies. */
#ifndef GX_TOPOLOGY_GROUPING_H
#define GX_TOPOLOGY_GROUPING_H

#include "base/port.h"

#include <gale/topology.h>

enum { GX_GROUPING_UNKNOWN = -1, GX_DROP_UNKNOWN = -1 };

/* The gale_grouping_kind that a Flux file means by `name` ("FIELDS", in any case), or GX_GROUPING_UNKNOWN. */
int gx_grouping_parse(gale_str name);

/* The gale_drop that is meant by `name` ("oldest", in any case), or GX_DROP_UNKNOWN. */
int gx_drop_parse(gale_str name);

#endif
