/* Remotes: the engine's side of gale/remote.h. Commands are put by any thread and carried out by the task's executor,
 * once a step. */
#ifndef GX_ENGINE_REMOTE_H
#define GX_ENGINE_REMOTE_H

#include "engine/executor.h"

/* The collector's `remote`. */
int gx_remote_open(gale_collector *out, gale_remote **ret_remote);

/* Carries out what the inbox holds and flow control lets through. Returns how many commands. */
size_t gx_remote_run(gx_executor *ex);

/* At the end: the inbox takes nothing more, and what spouts were promised to hear is told: `stopped`. */
void gx_remote_close(gx_executor *ex);

#endif
