/* Whose a disk buffer's folder is. Checkpoints of a durable run say how many records a log has, and what is behind that is cut off when it
 * goes on from one: records of a run without a state would be gone. So the first durable run leaves a mark beside the tasks' folders, and
 * a run without a state is refused then.
 *
 *     path/durable     it is there, or not; what is in it is for people
 *
 * Threads: one at a time of a process. Owner: nothing is kept. */
#ifndef GX_CONNECT_SPOOL_OWNER_H
#define GX_CONNECT_SPOOL_OWNER_H

#include "base/port.h"

#include <gale/error.h>

/* May a run without a state have the task's folder at `path`? GALE_STATE with a sentence; GALE_IO, GALE_TOO_LARGE. */
int gx_spool_owner_check(const char *path, gale_error *error);

/* From when it returns, the disk has the mark. GALE_IO, GALE_TOO_LARGE. */
int gx_spool_owner_mark(const char *path, gale_error *error);

#endif
