/* What somebody else has done to a file that a sink writes to: it is logged, and mended where no checkpoint has the file.
 *
 *                not durable                                              durable (topology/file_end.h)
 *     removed    its path is opened anew                                  the checkpoint refuses
 *     replaced   the same, and lines go behind what the other file holds  the checkpoint refuses
 *     cut        lines go behind the cut, whose half line is ended        the checkpoint refuses
 *     longer     somebody else's bytes stay, and are counted              the same
 *     renamed    is written to on, until SIGHUP                           the same
 *
 * Threads: the task's. */
#ifndef GX_CONNECT_FILE_MEDDLED_H
#define GX_CONNECT_FILE_MEDDLED_H

#include "connect/file/outputs.h"

#include <gale/component.h>

/* Before its lines are written. 1: its path is to be opened anew for them (not in a durable run); 0; what gx_outputs_begin_again says.
 * `renamed`: is that so for one that was renamed, too? */
int gx_meddled_look(const gale_context *context, gx_outputs_file *file, bool renamed, gale_error *error);

#endif
