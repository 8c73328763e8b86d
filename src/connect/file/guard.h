/* Notices that a file which is being read does not hold any more what was read of it: it was cut, written again from its
 * beginning, or replaced in place. Its size alone does not say so once it has outgrown the place of the reader.
 *
 * What:    hashes of the first GX_FILE_GUARD bytes of what was read and of those before the place, compared after each read.
 * Threads: one at a time. Owner: a value. Allocates nothing.
 * Limits:  what holds the same bytes at both ends is not told from what was read. */
#ifndef GX_CONNECT_FILE_GUARD_H
#define GX_CONNECT_FILE_GUARD_H

#include "base/port.h"

#include <gale/error.h>

enum { GX_FILE_GUARD = 1024 };

typedef struct gx_file_guard {
    int64_t at; /* how much was read; negative: it is to be set */
    uint64_t head, tail;
    size_t tail_size;
} gx_file_guard;

#define GX_FILE_GUARD_NONE ((gx_file_guard){ .at = -1 })

/* Takes what the file holds before `at` as what was read. GALE_IO. */
int gx_file_guard_set(gx_file_guard *guard, int fd, int64_t at, const char *path, gale_error *error);

/* These bytes were read behind what was read so far. 1: the file holds that still; 0: it was changed; GALE_IO. */
int gx_file_guard_move(gx_file_guard *guard, int fd, const char *bytes, size_t size, const char *path,
                       gale_error *error);

#endif
