/* Walks over everything that an executor has: is what it says of itself true?
 *
 * What:    queues hold as many batches, and as heavy ones, as their tasks say; lists of trees are neither short nor
 *          joined; what is held, kept and pending is counted; nothing of a call is left behind. Holds between two
 *          steps. The simulator asks after some of its steps, in every build (sim/world.c); a build with
 *          GALE_CHECKS=2 asks after every step of every executor.
 * Threads: the executor's. */
#ifndef GX_RUNTIME_WHOLE_H
#define GX_RUNTIME_WHOLE_H

#include "engine/drop.h"

/* What does not hold, in words, or NULL: so for both. */
const char *gx_whole_flaw(const gx_executor *ex);

/* Is every batch of every pool in exactly one place? While no executor makes a step. */
const char *gx_whole_batches_flaw(const gx_shared *shared);

#endif
