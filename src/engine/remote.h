/* Remotes: the engine's side of gale/remote.h that any thread calls: commands are put into the inbox of the task's executor, which
 * carries them out (engine/remote_run.h). */
#ifndef GX_ENGINE_REMOTE_H
#define GX_ENGINE_REMOTE_H

#include "engine/executor.h"

/* The collector's `remote`. */
int gx_remote_open(gale_collector *out, gale_remote **ret_remote);

#endif
