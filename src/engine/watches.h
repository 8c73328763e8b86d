/* The watches of an executor's tasks (gale/watch.h): who is told of what happened, and when.
 *
 *                    +---------- the function returned, or gale_watch_set ----------+
 *                    v                                                              |
 *     new --arm--> waits --news of the set, its time--> listed ---the task may run--+-> called --free--> free
 *                    ^                                   |                           |
 *                    |                                   +--it may not--> kept by ---+
 *                    |                                                    its task
 *      a spout's GALE_NEXT_READABLE: a watch without a function, by which `next` is asked again
 *
 * What:    what is told is not told again before the function has returned, so that a watch that is kept costs nothing.
 *          The set is looked at in each step behind an idle one or one with news, otherwise every GX_WATCHES_LOOK: a busy
 *          executor loses nothing by it.
 * Threads: the executor's. */
#ifndef GX_ENGINE_WATCHES_H
#define GX_ENGINE_WATCHES_H

#include "engine/executor.h"

/* What a collector has of them. */
int gx_watches_new(gale_collector *out, const gale_watch_options *options, gale_watch *ret_watch);
int gx_watches_set(gale_collector *out, gale_watch watch, int32_t events, int64_t at);
int gx_watches_free(gale_collector *out, gale_watch watch);

/* The spout's `next` said GALE_NEXT_READABLE: it is asked again when there is something. False: that cannot be waited for. */
bool gx_watches_await(gx_task *task, int fd);

/* It is asked again, and may close the descriptor: nobody waits for that any more. */
void gx_watches_let_go(gx_task *task);

/* Those of a task that is to be closed: its descriptors are open still. Another thread may get their numbers as soon as they are not. */
void gx_watches_forget(gx_task *task);

/* Calls those that something happened to, or some of them. Returns how many. */
size_t gx_watches_run_some(gx_executor *ex);

GX_INLINE size_t gx_watches_run(gx_executor *ex) {
    return GX_LIKELY(!ex->watches.count) ? 0 : gx_watches_run_some(ex);
}

#endif
