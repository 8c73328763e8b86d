/* Remotes in the simulator: what virtual threads put into the engine's inboxes by them, and what the engine makes of it.
 *
 * What:    a wrapped remote puts the command into the real inbox, with a number in place of that of an emission or as
 *          message id, and notes whether it was taken (sim/book.h). When an executor carries it out, the engine
 *          calls its task's collector: there the simulator stands in between, finds the command by its number, and does
 *          what it does when a component calls.
 * Threads: one. Owner: a wrapped remote is its opener's, and lives until it is closed, also after the run. */
#ifndef GX_SIM_REMOTE_H
#define GX_SIM_REMOTE_H

#include "sim/task.h"

#include <gale/remote.h>

int gx_sim_remote_open(gx_sim_task *task, gale_remote **ret_remote);

/* From now on the runtime's tasks have the collector that sees what remotes command. */
void gx_sim_remotes_watch(gx_sim *sim);

/* Nothing moves: does a command wait that its task could carry out? */
void gx_sim_remotes_rest(gx_sim *sim);

#endif
