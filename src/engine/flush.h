/* Flushes: what bolts gather is passed on at the end of a step, and the tuples of a simple bolt are answered with it.
 *
 * What:    a simple bolt that has a `flush` is not acked when execute returns: the tuple is owed an answer, which the
 *          flush gives to all that were executed since the last one. What is kept of a tuple is its roots, 16 bytes each.
 *          A flush comes in the step in which execute was called, unless the task is gated (engine/flow.h), but for the stop before a
 *          checkpoint (engine/cut.h), which waits for it; where the
 *          run was asked to stop, a flush that fails answers nothing: the spouts hear `stopped`.
 * Threads: the executor's. */
#ifndef GX_ENGINE_FLUSH_H
#define GX_ENGINE_FLUSH_H

#include "engine/executor.h"

/* Is there memory for one more with these roots? */
bool gx_flush_may_owe(gx_task *task, gx_roots roots);

/* The tuple with these roots, whose children sum to `ack`, waits for the next flush. GALE_NO_MEMORY: it does not, and the
 * caller has it flushed at once. */
int gx_flush_owe(gx_task *task, gale_handle handle, gx_roots roots, uint64_t ack);

/* Flushes the task in the middle of its run and answers what it owes. Returns what the flush returned; GALE_STOPPED when
 * that was an error and the run is to stop: nothing is answered then. */
int gx_flush_now(gx_task *task);

/* Calls the flushes that are due. Returns how many: what they emit is to be run, though nothing came in. */
size_t gx_flush_run(gx_executor *ex);

#endif
