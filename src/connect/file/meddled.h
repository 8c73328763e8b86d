/* What somebody else has done to a file that a sink writes to: it is logged, and mended where no checkpoint has the file.
 *
 *     removed    not durable: the path is opened anew           durable: the checkpoint refuses (topology/file_end.h)
 *     cut        not durable: what comes goes behind the cut    durable: the same
 *     longer     somebody else's bytes stay, and are counted
 *     renamed    is written to on, until SIGHUP
 *
 * Threads: the task's. */
#ifndef GX_CONNECT_FILE_MEDDLED_H
#define GX_CONNECT_FILE_MEDDLED_H

#include "connect/file/outputs.h"

#include <gale/component.h>

/* All its lines are written. 1: its path is to be opened anew (not in a durable run); 0; GALE_IO. `renamed`: is that so for one that was
 * renamed, too? */
int gx_meddled_look(const gale_context *context, gx_outputs_file *file, bool renamed, gale_error *error);

#endif
