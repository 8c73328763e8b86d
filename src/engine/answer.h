/* Answering tuples: their acks and failures go to the ledgers of their trees, here or on other executors.
 * Threads: the executor's own. */
#ifndef GX_ENGINE_ANSWER_H
#define GX_ENGINE_ANSWER_H

#include "engine/executor.h"

/* A tuple with these roots is acked; its children's edges sum to `ack`. */
void gx_answer_ack(gx_executor *ex, gx_roots roots, uint64_t ack);

/* It failed, on `task`. The first answer to each tree wins. */
void gx_answer_fail(gx_executor *ex, const gx_task *task, gx_roots roots, int32_t reason, const char *text);

/* A tuple with these roots found the queue of `task` at its limit: its trees fail with reason `overflow`, or it is
 * shed. */
void gx_answer_overflow(gx_executor *ex, gx_task *task, gx_roots roots);

extern const char gx_answer_at_limit[];

#endif
