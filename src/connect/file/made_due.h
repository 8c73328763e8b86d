/* What a checkpoint does for the files that changed since the one before: before it lasts the disk has them, and when it does, full ones
 * that are not kept go.
 * Threads: one, but for the pledge, which brings along what it needs. Owner: the map is who made it's. */
#ifndef GX_CONNECT_FILE_MADE_DUE_H
#define GX_CONNECT_FILE_MADE_DUE_H

#include "ds/bytes_map.h"

#include <gale/state.h>

/* Of a path. */
typedef struct gx_made_due {
    uint64_t inode;
    uint64_t forget; /* the number up to which full ones go; 0: none */
} gx_made_due;

/* Pledges all that is due, and clears the map. GALE_NO_MEMORY. */
int gx_made_pledge(gx_bytes_map *due, gale_saver *to, gale_error *error);

/* Waits until the disk has the name, or that it is gone. A folder that is not there has none that could be lost. GALE_IO. */
int gx_made_sync_name(const char *path, gale_error *error);

#endif
