/* A disk buffer's folder as it is found (connect/spool/log.h): opened, cut back, closed.
 * Threads: one, while nobody else has it. */
#ifndef GX_CONNECT_SPOOL_OPENING_H
#define GX_CONNECT_SPOOL_OPENING_H

#include "connect/spool/log.h"

/* Whose it is. */
typedef struct gx_spool_owner {
    uint32_t task, tasks;
    bool durable;
} gx_spool_owner;

/* Opens or makes it; `path` is kept. What was not written to its end is cut off the last segment, and nobody is told: it was
 * never safe. What is damaged stays, and is the reader's to tell. GALE_STATE: another run has it, it has records of another
 * number of tasks, or durable runs have it and this is none (connect/spool/owner.h); GALE_IO (`log->full`: the disk has no room), GALE_NO_MEMORY, GALE_TOO_LARGE: nothing is open then. */
int gx_spool_log_open(gx_spool_log *log, gx_heap *heap, const char *path, const gx_spool_owner *owner,
                      gale_error *error);

/* What was not written is lost: who added it did not hear that it is safe. What is answered is written down, and where all is, no
 * segment stays. */
void gx_spool_log_close(gx_spool_log *log);

/* Removes what is behind the record `last`, before anything is added. GALE_STATE, with a sentence: it is not there any more, or never
 * was. */
int gx_spool_log_cut(gx_spool_log *log, uint64_t last, gale_error *error);

#endif
