/* A source that a group of processes shares, and behind it a bolt that keeps something by a key: when another process comes or goes, the group is divided
 * anew, and a key's tuples come to a process that knows nothing of them. */
#ifndef GX_FRONT_SHARED_H
#define GX_FRONT_SHARED_H

#include "front/loading.h"

/* Warns of it, unless the source's share is fixed: as a member by its number (gale.member), or by a durable run. */
void gx_shared_advise(const gx_loading *l, const gx_vertex *source);

#endif
