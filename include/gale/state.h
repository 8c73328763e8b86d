/* gale/state.h: what a component keeps beyond its process.
 *
 * What:    in a durable run (the options `store` and `checkpoint` of gale/runtime.h) everything is saved together again
 *          and again: positions of sources, state of components, what is on its way, ends of sinks. After a crash the run
 *          goes on from the last such checkpoint as though nothing had happened since. A component takes part in one of
 *          two ways, or in both:
 *
 *          - keyed state: values by key, kept by the engine. Only what changed goes into a checkpoint, and there may be
 *            more of it than memory. In a run that is not durable the same functions keep it in memory.
 *          - `save` and `restore` of a structure of its own: a sequence of records, each a few values.
 *
 *          A sink adds what it promises for a checkpoint, a pledge: prepared, then the checkpoint is made to last, then
 *          committed. docs/semantics/durable.md says what that gives, and why.
 *
 *              prepare/open --> restore (when something was saved) --> runs --> save --> runs --> save ...
 *                                                                               |
 *                          on the committer's thread:     pledge: prepare --> [ lasts ] --> commit --> drop
 *                                                                               |
 *                          on the task's thread again:                      committed
 *
 * Threads: the task's, but for the functions of pledges.
 * Owner:   values that are given are copied; what is returned is borrowed as each function says.
 * Misuse:  every function checks.
 * Limits:  in a durable run a key takes at most GALE_STATE_KEY_MAX bytes, a value or a record GALE_STATE_VALUE_MAX, with a few
 *          bytes for each value in it.
 */
#ifndef GALE_STATE_H
#define GALE_STATE_H

#include <gale/component.h>

GALE_BEGIN

enum {
    GALE_STATE_KEY_MAX = 2048,
    GALE_STATE_VALUE_MAX = 250 << 20,
    GALE_STATE_NAME_MAX = 100, /* of a keyed state */
};

/* --- A structure of one's own ------------------------------------------------------------------------------------- */

typedef struct gale_saver gale_saver;
typedef struct gale_saved gale_saved;

/* Appends one record. GALE_INVALID (a value is not valid), GALE_TOO_LARGE, GALE_NO_MEMORY: the first error of a save
 * makes the whole checkpoint fail, whatever `save` returns. */
GALE_API int gale_save(gale_saver *to, const gale_value *values, size_t count);

/* The number of the checkpoint that is being made; 0 without a saver. */
GALE_API uint64_t gale_save_checkpoint(const gale_saver *to);

/* The next record: 1, with its values, good until the next call; 0 when there are no more; GALE_NO_MEMORY. */
GALE_API int gale_saved_next(gale_saved *from, const gale_value **ret_values, size_t *ret_count);

/* The checkpoint that the records come from; 0 without one. */
GALE_API uint64_t gale_saved_checkpoint(const gale_saved *from);

/* Had the run finished that it is of? Then nothing is executed any more: a source whose input has grown since says so by an
 * error. */
GALE_API bool gale_saved_is_end(const gale_saved *from);

/* Which of the tasks that the component had then saved the records that come next, and how many it had. */
GALE_API uint32_t gale_saved_part(const gale_saved *from, uint32_t *ret_parts);

/* Are they this very task's, and all that is in them still its own? Not with another number of tasks, nor where another grouping
 * brings keys elsewhere. */
GALE_API bool gale_saved_is_mine(const gale_saved *from);

/* Does the engine bring tuples with these values of the grouping's fields to this task? What a component with
 * GALE_DURABLE_PARTS asks of what another number of tasks has saved. True where it cannot be said. */
GALE_API bool gale_saved_is_own(const gale_saved *from, const gale_value *key, size_t count);

/* --- What a sink promises ------------------------------------------------------------------------------------------ */

/* Called one after the other, on the committer's thread; what a pledge needs it brings along: the component goes on
 * meanwhile, on its own thread. An error of `prepare` or `commit` stops the run: GALE_IO and the like, with a report.
 * `prepare`: from its return on the promise can be kept whatever happens (data is synced, a transaction prepared).
 * `commit`: the checkpoint lasts. What a crash keeps from being committed is the component's to commit in `restore`, for
 * which it has what it saved. `drop`: the end of the pledge, in any case. Each may be NULL.
 *
 * No other checkpoint is cut before all is committed; but for pledges with GALE_PLEDGE_LATE, whose system may be slow, or away. Their `commit` is
 * called on a thread of the component's own, may say GALE_AGAIN, with a report, for "not now", and is then called again after a pause that grows, while
 * checkpoints go on. For that the component saves and pledges again, in each `save`, what it has pledged and not seen committed; once that checkpoint
 * lasts, its pledges stand for those before, which are dropped. Of one component's pledges none is committed before those that it made earlier. A
 * run that is suspended does not wait for "not now": the run that goes on commits it. One that has come to its end waits. */
enum { GALE_PLEDGE_LATE = 1 };

typedef struct gale_pledge_ops {
    size_t size;
    int (*prepare)(void *pledge, gale_error *error);
    int (*commit)(void *pledge, gale_error *error);
    void (*drop)(void *pledge);
    uint32_t flags; /* GALE_PLEDGE_ */
} gale_pledge_ops;

/* In `save`: the checkpoint is not made to last before the pledge is prepared. `ops` lives as long as the program. On an
 * error (GALE_INVALID, GALE_NO_MEMORY) it is dropped at once. */
GALE_API int gale_save_pledge(gale_saver *to, const gale_pledge_ops *ops, void *pledge);

/* Asks for a checkpoint now, rather than when it is time: what waits for it is enough. Does nothing where none are made. */
GALE_API void gale_wish_checkpoint(gale_collector *out);

/* --- A component's part --------------------------------------------------------------------------------------------- */

enum {
    /* It may have another number of tasks than it had, and `restore` may be called several times in one task, or never: it adds
     * to what is there, and replaces nothing. Where fields grouping leads to its tasks (beside it they may all be
     * told something), `restore` is then called for the records of each earlier task, and takes what is its own
     * (gale_saved_is_own); elsewhere, the records of each earlier task go to one task. Without it, and without
     * GALE_DURABLE_SHARED, another number of tasks is refused. */
    GALE_DURABLE_PARTS = 1,
    GALE_DURABLE_STATELESS = 2, /* it keeps nothing from one call to the next */
    GALE_DURABLE_KEYED = 4,     /* all it keeps is keyed state */
    /* What it saves says where something stands that lasts beyond a run by itself (the end of a file), or is of tuples that it
     * holds, which come again in a run that is not durable. It has nothing to forget. */
    GALE_DURABLE_OUTSIDE = 8,
    /* It may have another number of tasks than it had: then `restore` is called in all tasks for the records of each
     * earlier one, in their order. A spout's open tuples of earlier task P go to task P modulo the number of tasks now,
     * under the message ids that they had, which must not be those of any other task's. */
    GALE_DURABLE_SHARED = 16,
};

/* `save` is called between calls of the task's other functions: what it returns below 0 stops the run, with a report; it
 * can go on from the checkpoint before. `restore` comes after `open` or `prepare` and before everything else; an error stops the start, and the task is
 * closed. Held tuples are as they were, under their handles, and so are message ids of trees that are open.
 *
 * `version` is of what `save` writes. Records of an older version go through `migrate` first, one version at a time:
 * `from` is of `version`, `to` is to be of `version` + 1; without it, they are refused.
 *
 * `committed` is told that a checkpoint lasts (what it covers will never come again), soon after it does, and not of each
 * one that was: the latest counts. For sources that tell somebody outside. */
typedef struct gale_durable_ops {
    size_t size;
    uint32_t version;
    uint32_t flags; /* GALE_DURABLE_ */
    int (*save)(void *self, gale_saver *to);
    int (*restore)(void *self, gale_saved *from, gale_collector *out);
    int (*migrate)(void *user, uint32_t version, gale_saved *from, gale_saver *to);
    void (*committed)(void *self, uint64_t checkpoint);
} gale_durable_ops;

/* For components that keep nothing, and for those that keep keyed state alone. */
GALE_API extern const gale_durable_ops gale_stateless;
GALE_API extern const gale_durable_ops gale_keyed;

/* --- Keyed state ---------------------------------------------------------------------------------------------------- */

typedef struct gale_state gale_state;

typedef struct gale_state_options {
    size_t size;
    const char *name;    /* of this state within the component, which may have several; NULL: "state" */
    double time_to_live; /* seconds of the runtime's clock after the last put or add of a key; 0: for ever. What is over
                            leaves memory and the store little by little */
    uint32_t
        route; /* of keys that are lists: so many of their first values are those of the grouping's fields; 0: all */
} gale_state_options;

#define GALE_STATE_OPTIONS_INIT                                                                                        \
    { sizeof(gale_state_options), 0, 0, 0 }

/* Is given one pair, borrowed for the call. 0: go on; anything else ends the walk and is what it returns. May change the
 * pair that it was given, and no other. */
typedef int gale_state_each_fn(void *user, const gale_value *key, const gale_value *value);

/* Filled by whoever runs components. Call the functions below instead. */
typedef struct gale_state_ops {
    size_t size;
    int (*get)(gale_state *state, const gale_value *key, gale_value *ret_value);
    int (*put)(gale_state *state, const gale_value *key, const gale_value *value);
    int (*remove)(gale_state *state, const gale_value *key);
    int (*add)(gale_state *state, const gale_value *key, int64_t more, int64_t *ret_sum);
    int (*each)(gale_state *state, gale_state_each_fn *each, void *user);
} gale_state_ops;

struct gale_state {
    const gale_state_ops *ops;
};

/* Makes a keyed state of the task; to be called in `open` or `prepare`. It ends with the task. A key is a value; where
 * the component is grouped by fields, the value of that field, or a list of those values with whatever else: then it goes
 * with its key to whichever task that is, also after a start with another number of them. Other keys are the task's own: two
 * tasks may have the same one, and a start with another number of tasks is refused. GALE_EXISTS: one of that name
 * is there; GALE_INVALID, GALE_STATE (not in `open` or `prepare`), GALE_UNSUPPORTED (who runs it keeps no state),
 * GALE_NO_MEMORY. */
GALE_API int gale_state_open(gale_collector *out, const gale_state_options *options, gale_state **ret_state);

/* The value of a key, good until the next call for this state. GALE_NOT_FOUND: there is none, or it is over its time to
 * live; GALE_INVALID, GALE_NO_MEMORY, and in durable runs GALE_TOO_LARGE (the key) and what the store says: GALE_IO,
 * GALE_DAMAGED, which also stop the run. */
GALE_INLINE int gale_state_get(gale_state *state, const gale_value *key, gale_value *ret_value) {
    return state && key && ret_value ? state->ops->get(state, key, ret_value) : GALE_INVALID;
}

/* Sets it; both are copied, and may lie in a value that was got before. As above; GALE_INVALID also for text in the value
 * that is not UTF-8, GALE_TOO_LARGE also for the value: then nothing changed. */
GALE_INLINE int gale_state_put(gale_state *state, const gale_value *key, const gale_value *value) {
    return state && key && value ? state->ops->put(state, key, value) : GALE_INVALID;
}

/* Forgets it. GALE_NOT_FOUND, and as above. */
GALE_INLINE int gale_state_remove(gale_state *state, const gale_value *key) {
    return state && key ? state->ops->remove(state, key) : GALE_INVALID;
}

/* A counter: adds to the number (i64) of a key, which is 0 when there was none, wrapping around. `ret_sum` may be NULL.
 * GALE_TYPE: the value is no such number. As above. */
GALE_INLINE int gale_state_add(gale_state *state, const gale_value *key, int64_t more, int64_t *ret_sum) {
    return state && key ? state->ops->add(state, key, more, ret_sum) : GALE_INVALID;
}

/* Calls `each` for every key of this task, in no order: what is in memory, then what the store has beside it. Returns what it
 * ended with, or 0; and as above. When `each` returns GALE_MORE (gale/component.h), the walk is suspended behind that pair,
 * and the next call goes on there, so that a bolt can emit a state in parts; nothing of the state may be changed in between.
 * GALE_NO_MEMORY then, when memory is out: the walk is over. */
GALE_INLINE int gale_state_each(gale_state *state, gale_state_each_fn *each, void *user) {
    return state && each ? state->ops->each(state, each, user) : GALE_INVALID;
}

GALE_END

#endif
