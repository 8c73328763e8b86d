/* Replay: emitting a failed spout tuple again on the spout's behalf, and what becomes of it when that is over.
 *
 *      open --acked------------------------------------------------------> the spout hears ack
 *       ^ |---failed, attempts left --> waiting (trees/retention.h) --+
 *       | |---failed, none left --+                                    |
 *       | |---rejected -----------+--> dead letter -----------------------> the spout hears fail, once
 *       | |                              +--cannot be kept--+
 *       | +---stopped, while open or waiting ---------------+--------------> the spout hears fail: stopped
 *       +----------------- when its wait is over ----------------------+
 *
 * What:    another attempt has the same message id, values, stream and, if the spout named one, task; its targets are
 *          chosen anew. It is made while the spout is not held, also when it is inactive or drains, and not when the
 *          run closes. A dead letter with a subscriber is a tree of its own: tried as often as others; when that fails
 *          it is lost, counted and logged, and the spout does not hear of it. Nor does it of a dead letter's tuple that the application has delivered
 *          again (gale_runtime_redeliver): given up, that is a dead letter again.
 *          What fails with attempts left while the run closes was stopped.
 *          When an emit itself fails (no memory, a grouping of one's own), that attempt has failed.
 * Threads: the executor's. */
#ifndef GX_ENGINE_REPLAY_H
#define GX_ENGINE_REPLAY_H

#include "engine/emit.h"
#include "engine/executor.h"

/* Between gx_ledger_next_answer and telling the spout. `failure` says why and where, unless it was acked. True when the
 * spout is not to be told: the tree waits for another attempt, or was a dead letter. Fills in `attempts` and `final`,
 * and the latency from the first emit. */
bool gx_replay_takes(gx_executor *ex, gx_task *task, gx_answer *answer, const gale_failure *failure);

/* Emits a dead letter's tuple once more, as a tree that the spout does not hear of. Tried as often as others; when that is over it is a
 * dead letter again. */
void gx_replay_letter(gx_task *task, const gx_emission *emission);

/* Emits what has waited for long enough. Returns how many. */
size_t gx_replay_run(gx_executor *ex);

/* When it has something to do: INT64_MAX for never by the clock. */
int64_t gx_replay_due(const gx_executor *ex);

#endif
