/* The names of groupings, ours and Flux's. */
#ifndef GX_TOPOLOGY_GROUPING_H
#define GX_TOPOLOGY_GROUPING_H

#include "base/port.h"

#include <gale/topology.h>

enum {
    GX_GROUPING_UNKNOWN = -1,
    GX_GROUPING_UNSUPPORTED = -2 /* one of Storm's that gale does not have yet */
};

/* The gale_grouping_kind that a Flux file means by `name` ("FIELDS", in any case), or one of the above. */
int gx_grouping_parse(gale_str name);

#endif
