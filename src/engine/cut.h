/* The cut of a checkpoint: an executor's side. Who moves the stages on is in runtime/checkpoint.h.
 *
 *     none --it is time--> hold --dry, or time is up--> stop --nothing moves--> save --all have saved--> none
 *                            +------ takes too long: put off ----+--> none
 *
 * What:    hold: the gates of flow control keep spouts, replays and remotes' spouts from running; the rest goes on.
 *          stop: they keep everybody from running. Rings and acks are still read, what is in an outbox still goes out, and
 *          gathered tuples are flushed, all of which ends. Then nothing is on its way between executors.
 *          save: each executor writes down what it has, once, and does nothing else until all have. So what they write is
 *          of one moment: no message was sent that is not received or in what its sender saved.
 *          An executor shows (gx_shown.cut) the stage that it is ready for the end of.
 *          A hold or a stop that lasts too long is put off by whoever sees it first: who moves the stages on may itself be
 *          in a slow call.
 * Threads: the executor's.
 * Keys:    in the store, by their first byte; a component is named, so that another plan may have it elsewhere. Numbers in
 *          keys are of 32 bits, the highest byte first.
 *
 *              m                             the head of the checkpoint: runtime/image.h
 *              t COMPONENT 0 index piece     what a task saved
 *              r executor piece              what was left of its work: engine/rest.h
 *              k ...                         keyed state: topology/keyed_store.h
 *              d                             the end of the file of dead letters
 *              n COMPONENT 0                 it begins anew: what it had saved was removed (gale state reset)
 *
 * Orderings: A2 the stage's word is changed by a sequentially consistent exchange and read with acquire: who sees the stage
 *            sees what it is of. R3/A3 an executor that has saved is counted with release: who sees that all have may read
 *            what they wrote. R4/A4 the number of the checkpoint that lasts is stored when it does. */
#ifndef GX_ENGINE_CUT_H
#define GX_ENGINE_CUT_H

#include "engine/executor.h"

enum {
    GX_CUT_HEAD = 'm',
    GX_CUT_TASKS = 't',
    GX_CUT_REST = 'r',
    GX_CUT_KEYED = 'k',
    GX_CUT_LETTERS = 'd',
    GX_CUT_ANEW = 'n'
};

/* Moves the stage from the word `from`, if it is that, to `stage`; a new attempt begins with GX_CUT_HOLD. Any thread. */
bool gx_cut_move(gx_shared *shared, uint64_t from, gx_cut_stage stage);

/* Must the executor save now, and do nothing else? */
GX_INLINE bool gx_cut_stops(gx_shared *shared) {
    return gx_cut_stage_of(gx_load_relaxed(&shared->cut_stage)) == GX_CUT_SAVE;
}

/* Has it not saved yet? While that must be done. */
GX_INLINE bool gx_cut_is_to_save(const gx_executor *ex) {
    return ex->cut.saved != gx_load_relaxed(&ex->shared->cut_stage);
}

/* In place of a step while that holds: saves, if it has not. Returns how much was done. */
size_t gx_cut_run(gx_executor *ex);

/* Puts off what has taken too long; tells components that a checkpoint lasts. Once a step. Returns how much was done. */
size_t gx_cut_watch(gx_executor *ex);

/* What an executor shows at the end of a step: the word of the stage that it is ready for the end of, or 0. */
uint64_t gx_cut_ready(const gx_executor *ex);

#endif
