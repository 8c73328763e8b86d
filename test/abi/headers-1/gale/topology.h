/* gale/topology.h: what runs.
 *
 * What:    a builder for topologies: spouts, bolts, streams between them. It checks what Storm checks, and more; each
 *          error names the component, stream or field, and the nearest name that exists.
 * Threads: one thread at a time while it is built; once a runtime has been made of it, it does not change and may be
 *          read by all.
 * Owner:   the topology copies what it is given, except `user` of a component, which it frees at its own end.
 * Errors:  the first error sticks. Every later call returns it again, and so do gale_topology_check and
 *          gale_runtime_new: a program may build without looking and check once.
 * Misuse:  the inline function gale_targets_random is hot and asserts only: `targets`. Every other one checks: without a
 *          topology, GALE_INVALID; a topology that a runtime was made of refuses changes (GALE_STATE) until that has gone.
 * Limits:  GALE_TASKS_MAX tasks; names are free of control characters, and do not begin with "__".
 */
#ifndef GALE_TOPOLOGY_H
#define GALE_TOPOLOGY_H

#include <gale/component.h>
#include <gale/hook.h>

GALE_BEGIN

enum { GALE_TASKS_MAX = 32767, GALE_STREAMS_MAX = 65535, GALE_EXECUTORS_MAX = 256 };

typedef struct gale_topology gale_topology;

typedef enum gale_grouping_kind {
    GALE_GROUPING_SHUFFLE,          /* round robin over a shuffled list; see gale_shuffle */
    GALE_GROUPING_FIELDS,           /* equal values of these fields go to the same task */
    GALE_GROUPING_ALL,              /* every task gets every tuple */
    GALE_GROUPING_GLOBAL,           /* the task with the lowest id gets all */
    GALE_GROUPING_NONE,             /* any task, drawn anew for each tuple */
    GALE_GROUPING_DIRECT,           /* the task that the producer names */
    GALE_GROUPING_LOCAL_OR_SHUFFLE, /* tasks on the emitting task's executor if there are any, else all; evenly */
    GALE_GROUPING_PARTIAL_KEY,      /* equal values of these fields go to one of two tasks, the less used */
    GALE_GROUPING_CUSTOM,           /* the tasks that a function chooses */
    GALE_GROUPING_COUNT
} gale_grouping_kind;

/* What a custom grouping chooses from. Lives as long as the instance. */
typedef struct gale_targets {
    size_t size;
    const char *source;   /* the emitting component */
    const char *stream;   /* what it emits to */
    const char *consumer; /* the component whose tasks are chosen from */
    uint32_t source_task; /* the emitting task's id */
    uint32_t first_task;  /* index 0 is the task with this id, index 1 the next one, ... */
    uint32_t task_count;
    uint64_t (*random)(const struct gale_targets *targets);
    void *engine;
} gale_targets;

/* 64 random bits from the emitting task's own generator, which a seeded run repeats. */
GALE_INLINE uint64_t gale_targets_random(const gale_targets *targets) {
    GALE_ASSERT(targets);
    return targets->random(targets);
}

/* A grouping of one's own. Only `choose` must be there. Each emitting task has an instance of its own, and all calls
 * for it are made on that task's thread; `user` is shared by the instances.
 *
 * prepare  makes the instance, before the task's first tuple; without it the instance is `user`. An error is what that
 *          emit returns, and the next emit tries again.
 * choose   writes the indices of the chosen tasks, 0 to task_count - 1 and no index twice, to `ret_indices`, which has
 *          room for task_count, and returns how many: 0 sends the tuple to no task of this consumer. A negative error
 *          code fails the whole emit; so does GALE_INVALID, for an index that is too large or there twice, or a
 *          count above task_count. `values` are the stream's, borrowed for the call. It must not emit.
 * release  ends the instance, when the runtime is freed. */
typedef struct gale_custom_ops {
    size_t size;
    const char *name;
    int (*prepare)(void *user, const gale_targets *targets, void **ret_self);
    int (*choose)(void *self, const gale_targets *targets, const gale_value *values, size_t count,
                  uint32_t *ret_indices);
    void (*release)(void *self);
} gale_custom_ops;

/* What becomes of tuples that find the queue of a task full, for those who would rather lose some than hold the source:
 * see gale_drop_oldest. */
typedef enum gale_drop {
    GALE_DROP_NOTHING, /* whoever feeds the task is held */
    GALE_DROP_OLDEST,
    GALE_DROP_NEWEST,
    GALE_DROP_COUNT
} gale_drop;

/* How a bolt's tasks share a stream. `fields` is for GALE_GROUPING_FIELDS and GALE_GROUPING_PARTIAL_KEY: names
 * separated by commas; copied. The rest is for GALE_GROUPING_CUSTOM: `custom` is copied; `user` belongs to the one
 * subscription that it is given to. */
typedef struct gale_grouping {
    size_t size;
    int32_t kind;
    const char *fields;
    const gale_custom_ops *custom;
    void *user;
    void (*free_user)(void *user); /* may be NULL */
    int32_t drop;                  /* gale_drop */
} gale_grouping;

/* A grouping of this kind; `fields` NULL for those that name none. */
GALE_INLINE gale_grouping gale_grouping_of(int32_t kind, const char *fields) {
    gale_grouping g = { sizeof g, kind, fields, NULL, NULL, NULL, GALE_DROP_NOTHING };
    return g;
}

/* Round robin over a shuffled list of the tasks. Tasks on the emitting task's executor come first, while one of them is
 * not congested; then all that are not congested; when all are, all. Exactly even over all tasks when
 * topology.disable.loadaware.messaging is true. */
GALE_INLINE gale_grouping gale_shuffle(void) {
    return gale_grouping_of(GALE_GROUPING_SHUFFLE, NULL);
}

/* Equal values of the named fields go to the same task, in this run and in every other with as many tasks. */
GALE_INLINE gale_grouping gale_fields(const char *names) {
    return gale_grouping_of(GALE_GROUPING_FIELDS, names);
}

/* Every task gets each tuple. */
GALE_INLINE gale_grouping gale_all(void) {
    return gale_grouping_of(GALE_GROUPING_ALL, NULL);
}

/* The task with the lowest id gets each tuple. */
GALE_INLINE gale_grouping gale_global(void) {
    return gale_grouping_of(GALE_GROUPING_GLOBAL, NULL);
}

/* Each tuple goes to a task that is drawn anew. */
GALE_INLINE gale_grouping gale_none(void) {
    return gale_grouping_of(GALE_GROUPING_NONE, NULL);
}

/* The producer names the task (gale_emit_direct). A regular emit to a stream that has such a consumer is an error. */
GALE_INLINE gale_grouping gale_direct(void) {
    return gale_grouping_of(GALE_GROUPING_DIRECT, NULL);
}

/* As gale_shuffle, but never to another executor when the emitting task's own has one of the tasks. */
GALE_INLINE gale_grouping gale_local_or_shuffle(void) {
    return gale_grouping_of(GALE_GROUPING_LOCAL_OR_SHUFFLE, NULL);
}

/* As gale_fields, but each key has two tasks, of which the one gets a tuple that this emitting task has used less: for
 * keys of very different frequency. `names` NULL or empty: the stream's first field. */
GALE_INLINE gale_grouping gale_partial_key(const char *names) {
    return gale_grouping_of(GALE_GROUPING_PARTIAL_KEY, names);
}

/* A grouping of one's own. `user` is freed with `free_user` (may be NULL) when the topology is freed, when the
 * subscription is replaced, or when subscribing fails. */
GALE_INLINE gale_grouping gale_custom(const gale_custom_ops *custom, void *user, void (*free_user)(void *user)) {
    gale_grouping g = { sizeof g, GALE_GROUPING_CUSTOM, NULL, custom, user, free_user, GALE_DROP_NOTHING };
    return g;
}

/* The same grouping, for a subscription that never holds those who feed it: gale_drop_oldest(gale_shuffle()). Once more
 * than the high mark (256 KiB) waits for a task, each tuple that comes by this subscription costs the oldest one that
 * waits from it. What is dropped counts as acked in its tree (it is not wanted, so it is not to come again), and is
 * counted: gale_runtime_input_stats. */
GALE_INLINE gale_grouping gale_drop_oldest(gale_grouping grouping) {
    grouping.drop = GALE_DROP_OLDEST;
    return grouping;
}

/* The same, but it is the tuple that comes which is dropped. */
GALE_INLINE gale_grouping gale_drop_newest(gale_grouping grouping) {
    grouping.drop = GALE_DROP_NEWEST;
    return grouping;
}

/* "oldest" for GALE_DROP_OLDEST, "nothing" for GALE_DROP_NOTHING. Static storage. */
GALE_API const char *gale_drop_name(int32_t drop);

/* "fields" for GALE_GROUPING_FIELDS. Static storage. */
GALE_API const char *gale_grouping_name(int32_t kind);

/* An empty topology. `name` as Storm allows it: not empty, none of / . : \. NULL when memory is out; a bad name is the
 * first error. */
GALE_API GALE_MUST_USE gale_topology *gale_topology_new(const char *name);

/* Frees it and, when no runtime is left that was made of it, what it owns. NULL is allowed. */
GALE_API void gale_topology_free(gale_topology *topology);

/* Adds a component with `parallelism` tasks (at least 1). GALE_TOPOLOGY for a definition that is not filled in, a name that
 * is not allowed or is there, and what its outputs and settings say wrongly; GALE_UNSUPPORTED for a function of a newer
 * gale; GALE_CONFIG for a setting; GALE_NO_MEMORY. */
GALE_API int gale_topology_add_spout(gale_topology *topology, const char *name, gale_spout spout, uint32_t parallelism);
GALE_API int gale_topology_add_bolt(gale_topology *topology, const char *name, gale_bolt bolt, uint32_t parallelism);

/* `bolt` (added already) receives `stream` (NULL: "default") of `source`, which may be added later. Every spout has a
 * stream "__dead_letter" besides its own, of the tuples that will not be emitted again: (component, stream, message_id,
 * tuple, reason, text, place, task, attempts); see docs/semantics/replay.md. The ticks of
 * topology.tick.tuple.freq.secs need no subscription; who subscribes to "__tick" of "__system" all the same, as a
 * bolt without another input must, gets them as everybody does: each task each tick, whatever the grouping. Without
 * that key it is an error. Subscribing to the same stream again replaces the grouping, as in Storm, and returns 1,
 * since it is seldom meant; else 0. */
GALE_API int gale_topology_subscribe(gale_topology *topology, const char *bolt, const char *source, const char *stream,
                                     gale_grouping grouping);

/* Adds a hook for the tasks of `component` (which may be added later), or for all tasks (NULL). Copied; `hook.user` is
 * the topology's from now on. */
GALE_API int gale_topology_add_hook(gale_topology *topology, const char *component, gale_hook hook);

/* A key of the topology's configuration (`component` NULL) or of one component's. Returns as gale_config_set does: 1
 * says that the key has no effect here. */
GALE_API int gale_topology_set(gale_topology *topology, const char *component, const char *key, gale_value value);

/* Is it whole and sound? Reports the first error there was, or what the whole shows: unknown components, streams and
 * fields, no spout, too many tasks. */
GALE_API int gale_topology_check(gale_topology *topology, gale_error *error);

/* Its name, and its configuration to read: as long as the topology lives. "" and NULL for NULL. */
GALE_API const char *gale_topology_name(const gale_topology *topology);
GALE_API const gale_config *gale_topology_config(const gale_topology *topology);

GALE_END

#endif
