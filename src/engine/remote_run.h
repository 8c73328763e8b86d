/* What remotes have put into an executor's inbox is carried out, once a step. Threads: the executor's. */
#ifndef GX_ENGINE_REMOTE_RUN_H
#define GX_ENGINE_REMOTE_RUN_H

#include "engine/executor.h"

/* Carries out what the inbox holds and flow control lets through. Returns how many commands. */
size_t gx_remote_run(gx_executor *ex);

/* At the end: the inbox takes nothing more, and what spouts were promised to hear is told: `stopped`. */
void gx_remote_close(gx_executor *ex);

#endif
