/* SQLite's write-ahead log, as its file format describes it (https://sqlite.org/fileformat2.html#walformat): a head,
 * then frames of a page each, with a checksum that goes on from frame to frame.
 *
 * What:    SQLite itself takes the first frame that does not fit for the log's end, and silently goes on with what
 *          stands before it. Here the log is looked through before SQLite sees it, so that an end that came too early
 *          is known.
 * Threads: one at a time. */
#ifndef GX_STORE_LOG_H
#define GX_STORE_LOG_H

#include "store/sums.h"

enum {
    GX_STORE_PAGE = 4096,
    GX_LOG_HEAD = 32,
    GX_LOG_FRAME_HEAD = 24,
    GX_LOG_FRAME = GX_LOG_FRAME_HEAD + GX_STORE_PAGE
};

typedef struct gx_log {
    bool there;      /* is there a whole head? */
    uint64_t salt;   /* drawn anew each time when the log begins anew */
    uint64_t frames; /* up to the end of the last commit that is whole */
    uint64_t whole;  /* and all that are whole */
    int64_t size;    /* of the file */
} gx_log;

/* Looks through the file at `path` (none: an empty one), and sets the sums of all frames that are whole. GALE_IO,
 * GALE_NO_MEMORY. */
int gx_log_look(const char *path, gx_sums *sums, gx_log *ret_log, gale_error *error);

/* The frame whose page begins at `offset`, or -1 when none does. */
GX_INLINE int64_t gx_log_frame_at(int64_t offset) {
    int64_t behind = offset - GX_LOG_HEAD - GX_LOG_FRAME_HEAD;
    return behind >= 0 && behind % GX_LOG_FRAME == 0 ? behind / GX_LOG_FRAME : -1;
}

/* The salt in a head of a log. */
uint64_t gx_log_salt(const unsigned char head[GX_LOG_HEAD]);

#endif
