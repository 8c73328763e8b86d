/* How far a disk buffer is answered: a small file with two places that are written over in turn, each with a checksum, so that
 * one of them is whole whatever happens. Writing over needs no room: a disk that is full keeps nothing from being let go.
 * Threads: one at a time. Owner: the caller. */
#ifndef GX_CONNECT_SPOOL_MARK_H
#define GX_CONNECT_SPOOL_MARK_H

#include "base/port.h"

#include <gale/error.h>

typedef struct gx_spool_mark {
    int fd;       /* -1: it is not open */
    int64_t size; /* that the file has at least */
    uint64_t turn;
} gx_spool_mark;

#define GX_SPOOL_MARK_NONE ((gx_spool_mark){ -1, 0, 0 })

/* Opens it, or makes it. `*ret_position`: all records below that number are answered; 0: nothing is known. GALE_IO. */
int gx_spool_mark_open(gx_spool_mark *mark, const char *path, uint64_t *ret_position, gale_error *error);

/* From when it returns, the disk has it. GALE_IO: it has this one or the one before, or somebody has changed the file. */
int gx_spool_mark_put(gx_spool_mark *mark, const char *path, uint64_t position, gale_error *error);

void gx_spool_mark_close(gx_spool_mark *mark);

#endif
