/* What SQLite reads and writes, through base/os/disk, and checks on the way.
 *
 * What:    each page of the database ends with a checksum of its bytes, its number and the store's identity, which is
 *          set when it is written and compared when it is read. Pages in the log are compared with sums in memory
 *          (store/sums.h), and frames are written many at once. What cannot be read or does not fit is told in words
 *          (gx_vfs_trouble).
 * Threads: any; one connection, one thread at a time.
 * Owner:   the store's; it outlives its connections. */
#ifndef GX_STORE_VFS_H
#define GX_STORE_VFS_H

#include "store/log.h"
#include "store/shared.h"

#include <sqlite3.h>

enum { GX_VFS_SUM = 8, GX_VFS_NAME = 40, GX_VFS_TROUBLE = 400 };

typedef struct gx_vfs {
    sqlite3_vfs vfs; /* what SQLite is given; its pAppData is this structure */
    char name[GX_VFS_NAME];
    gx_heap *heap;
    gx_shared shared;
    gx_sums sums;
    uint64_t identity;
    gx_atomic64 salt; /* of the log as it is now */
    gx_atomic32 lazy; /* a sync of the log writes, and does not wait for the disk */
    bool read_only;   /* nothing is written */
    bool no_log;      /* there is no log, or what it holds counts no more: SQLite sees an empty one. With read_only */
} gx_vfs;

/* Makes it known to SQLite. GALE_NO_MEMORY. */
int gx_vfs_init(gx_vfs *vfs, gx_heap *heap, uint64_t identity, gale_error *error);
void gx_vfs_fini(gx_vfs *vfs);

/* What went wrong last in a call of this thread, "" when nothing did since gx_vfs_forget. `damaged`: is it that
 * something is not what was written? */
const char *gx_vfs_trouble(bool *ret_damaged);
void gx_vfs_forget(void);

#endif
