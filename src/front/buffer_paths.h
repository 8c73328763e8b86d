/* Disk buffers that have one folder: each is to have its own. */
#ifndef GX_FRONT_BUFFER_PATHS_H
#define GX_FRONT_BUFFER_PATHS_H

#include "front/loading.h"

/* Refuses them, as they are with what --set has changed: at the path of the later one. GALE_TOPOLOGY, GALE_NO_MEMORY. */
int gx_buffer_paths_check(const gx_loading *l);

#endif
