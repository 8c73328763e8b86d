/* A lock that says that a file belongs to one run: `path`.lock, locked as long as it is open, with the number of the
 * process in it. A process that is killed leaves the file, but not the lock.
 *
 * What:    the lock is beside the file, so that the file can be replaced (gx_file_replace) while it is held. Two locks of
 *          one process exclude each other, too.
 * Threads: one lock, one thread at a time. Owner: the caller.
 * Limits:  processes that see one another's locks: those of one machine, and of others where the file system locks for all.
 */
#ifndef GX_BASE_OS_LOCK_H
#define GX_BASE_OS_LOCK_H

#include "base/os/file.h"

typedef struct gx_lock {
    int fd; /* with `held` alone */
    bool held;
} gx_lock;

/* Does not wait. GALE_STATE when another has it: "'p' is in use by process 1234, which holds 'p.lock'". GALE_TOO_LARGE;
 * GALE_IO, also when something is at `path`.lock that is no regular file. `lock` is untouched then. */
int gx_lock_take(gx_lock *lock, const char *path, gale_error *error);

/* Locks an open file itself, until it is closed: for one that is appended to, and never replaced. Does not wait.
 * GALE_STATE when another has it, and nobody knows who: "'p' is in use by another run"; GALE_IO. */
int gx_lock_open(int fd, const char *path, gale_error *error);

/* Removes the file, too. Does nothing when it is not held. `path` as it was taken with. */
void gx_lock_release(gx_lock *lock, const char *path);

#endif
