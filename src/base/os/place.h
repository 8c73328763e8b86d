/* A place in a file that a later process goes on from: is it the file that it was?
 *
 * What:    a file is known by its inode as long as it exists, and by its content when it was copied: the first bytes and
 *          those right before the place. A file that only grows keeps both.
 * Threads: any. */
#ifndef GX_BASE_OS_PLACE_H
#define GX_BASE_OS_PLACE_H

#include "base/os/file.h"

enum { GX_PLACE_SAMPLE = 4096 }; /* bytes at either end */

/* A hash of what stands at either end of the first `offset` bytes of a file that is open for reading. GALE_IO. */
int gx_place_content(int fd, int64_t offset, const char *path, uint64_t *ret_hash, gale_error *error);

/* The name of another regular file in the folder of `path` that has this inode: the same one, which was renamed. 1; 0:
 * there is none, or the folder cannot be read. */
int gx_place_beside(const char *path, uint64_t inode, char name[GX_FILE_NAME_SIZE]);

#endif
