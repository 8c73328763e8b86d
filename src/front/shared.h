/* A source that a group of processes shares, and behind it a bolt that keeps something by a key: when another process comes or goes, the group is divided
 * anew, and a key's tuples come to a process that knows nothing of them. */
#ifndef GX_FRONT_SHARED_H
#define GX_FRONT_SHARED_H

#include "front/loading.h"

/* Refuses it in what is run as it is, unless the source's share is fixed: as a member by its number (gale.member), by a
 * durable run, or as each run begins anew (fromAlways). GALE_TOPOLOGY, GALE_NO_MEMORY. */
int gx_shared_check(const gx_loading *l);

/* Refuses a share that was asked for beside the file (gale run --member) where nothing in it knows what that is. GALE_CONFIG. */
int gx_shared_refuse(const gx_loading *l, const gale_setting *given);

/* Warns where a share was asked for beside the file (gale run --member), and no source takes one of its own from it. */
void gx_shared_warn(const gx_loading *l);

#endif
