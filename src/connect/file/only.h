/* What a checkpoint has of a sink with one file, and how the run goes on with it.
 * Threads: one, but for the pledges. Owner: the file is the sink's. */
#ifndef GX_CONNECT_FILE_ONLY_H
#define GX_CONNECT_FILE_ONLY_H

#include "connect/file/rotation.h"

#include <gale/component.h>

typedef struct gx_only {
    const gale_context *context; /* whose log is told */
    const gx_rotation *rotation;
    gx_outputs_file *file;
} gx_only;

/* Once it is begun, and all lines are written. */
int gx_only_save(const gx_only *only, gale_saver *to, gale_error *error);

/* Instead of beginning it, where there was a file: undoes what was written since. GALE_INVALID, with a sentence; GALE_DAMAGED;
 * GALE_STATE; GALE_IO. */
int gx_only_restore(const gx_only *only, gale_saved *from, gale_error *error);

#endif
