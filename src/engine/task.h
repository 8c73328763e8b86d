/* A task: one instance of a component, with everything that belongs to it alone. It runs on one executor, ever. */
#ifndef GX_ENGINE_TASK_H
#define GX_ENGINE_TASK_H

#include "ds/batch.h"
#include "engine/chunks.h"
#include "engine/edges.h"
#include "engine/latencies.h"
#include "engine/metric.h"
#include "engine/router.h"
#include "engine/shared.h"
#include "engine/throttle.h"
#include "engine/watch_set.h"
#include "topology/keyed.h"
#include "trees/acker.h"
#include "trees/counters.h"
#include "trees/held.h"
#include "trees/ledger.h"

#include <gale/state.h>

enum {
    GX_TASK_SLOW_NS = 20000, /* calls above this cost are slow: outputs are published before them */
    GX_TASK_SAMPLE_EVERY = 64,
};

enum { GX_TIMEOUT_WARNING_LOOKS = 8 }; /* a timeout */

typedef struct gx_answers {
    uint64_t answered, timed_out;
} gx_answers;

/* What a spout's task was answered, at the last looks; see runtime/timeout_warning.h. */
typedef struct gx_timeout_warning {
    int64_t times[GX_TIMEOUT_WARNING_LOOKS];
    gx_answers answers[GX_TIMEOUT_WARNING_LOOKS];
    uint32_t looks;
    uint32_t bad; /* in a row */
} gx_timeout_warning;

/* The spout's side.
 *
 *     closed --open--> idle --activate--> active --deactivate--> idle --close--> closed
 *
 * An active spout that is not done, not waiting and not held is asked for more. */
typedef struct gx_spout_life {
    bool active;
    bool done;          /* said so; a failed tree asks it again, and so does a watch */
    uint32_t readable;  /* its watch of the descriptor that `next` waits for, by its place plus 1; 0: none yet */
    int64_t not_before; /* ns; waits until then */
    uint32_t idle;      /* times in a row that it had nothing */
    uint32_t errors;    /* in a row */
    int64_t began;      /* its last turn */
    size_t calls;       /* of that; trees of one call count each */
    size_t room;        /* that its turn leaves, in calls */
    uint64_t pending;   /* open trees */
    uint64_t max_pending;
    gx_tree_list replays; /* to be emitted again, now or when it is not held any more */
    gx_timeout_warning timeout_warning;
    gx_throttle throttle;
} gx_spout_life;

/* Is it well? See engine/health.h. */
typedef enum gx_health_state { GX_HEALTH_WELL, GX_HEALTH_SAID, GX_HEALTH_UNOPENED } gx_health_state;

typedef struct gx_health {
    gx_health_state state;
    int64_t since; /* ns */
    char text[GALE_FAILURE_TEXT + 1];
} gx_health;

/* Of one that said "not now"; see runtime/opening.h. */
typedef struct gx_opening {
    int64_t due; /* ns; asked again then */
    uint32_t tries;
} gx_opening;

/* Calls of it that returned GALE_MORE and emitted nothing, in a row; see engine/parts.h. */
typedef struct gx_parts {
    uint64_t emitted; /* by all calls up to the last that returned GALE_MORE */
    uint32_t barren;
} gx_parts;

typedef struct gx_tick_life {
    int64_t period; /* ns; 0: none */
    int64_t due;
    bool waiting; /* one is in the queue */
} gx_tick_life;

/* What waits from an input that drops (engine/drop.h). */
typedef struct gx_dropping {
    uint64_t weight;
    gx_batch_list list;
    const gx_batch *saved; /* how far a checkpoint's cut is in the list */
} gx_dropping;

/* Of a task with such inputs; see engine/waiting.h. */
typedef struct gx_lanes {
    uint64_t next;    /* number of the next batch */
    uint64_t waiting; /* batches in the lanes */
    uint64_t weight;  /* of what came by inputs that drop */
    uint16_t count;
    uint16_t busy; /* the lane whose first batch is in execution; 0: none */
    uint8_t drop;  /* gale_drop that was set for all of them (engine/tune.h); GALE_DROP_NOTHING: none was */
    gx_dropping list[];
} gx_lanes;

/* Tuples that the next flush answers; see engine/flush.h. */
typedef struct gx_owed {
    gx_root *roots;       /* with the sums of their edges */
    gale_handle *handles; /* of each tuple, where hooks want to hear of it */
    size_t root_count, root_capacity;
    size_t tuples, handle_capacity;
    gx_sample sample; /* of the first whose time is taken, for all such */
} gx_owed;

/* Its keyed states; memory of theirs is the component's, not the engine's. */
typedef struct gx_task_states {
    gx_heap heap;
    gx_keyed keyed;
} gx_task_states;

typedef struct gx_task {
    gale_collector out; /* first: what the component is given */
    struct gx_executor *executor;
    int (*execute)(void *self, const gale_tuple *tuple, gale_collector *out);
    int (*execute_batch)(void *self, gale_batch *tuples, gale_collector *out); /* in its place; NULL: there is none */
    void *self;
    uint16_t id;
    uint16_t component;
    bool is_acker;
    bool is_spout;
    bool simple;
    bool acks_itself; /* simple, and answered call by call */
    bool gathers;     /* simple, and answered by its flush */
    bool tapped;      /* its emits are shown to some tap */
    bool quick;       /* its trees need no more than their emit; see engine/short.h */
    bool slow;        /* its calls take longer than GX_TASK_SLOW_NS, as far as known */
    bool blocks;      /* gale.blocking */
    bool congested;
    bool full; /* it is congested because it says so, whatever waits for it */
    bool open;
    bool remembers;  /* a spout that keeps its place by itself */
    bool finished;   /* its `finish` has had its turn */
    bool unfinished; /* which returned GALE_MORE, and is to be called again */
    bool more;       /* its last `execute` returned GALE_MORE: the first tuple that waits here comes again */
    bool wishes;     /* it waits for a checkpoint */
    bool ran;        /* it executed something since the last flush */
    bool stirred;    /* a function of a watch was called since the last flush */
    bool reported;   /* `report` is of the call in progress */
    uint32_t sample_in;
    uint64_t unsampled;      /* tuples whose time is not taken, since the last one or until the next */
    gx_latencies *latencies; /* of its component, here */
    gx_edges edges;
    gx_lanes *lanes; /* NULL: no input drops */
    uint64_t queued; /* weight of what waits for it here */
    gx_batch_list parked;
    gx_stream_routes *streams;
    uint32_t stream_count; /* of them; a spout has one more */
    int64_t cost;          /* ns a call, smoothed */
    gx_parts parts;

    gx_held held;
    gx_owed owed;
    gx_chunks chunks; /* that the last checkpoint has of it */
    gx_spout_life spout;
    gx_tick_life tick;
    gx_watch_list kept; /* watches that are to be told when it may run */
    gx_acker acker;
    gx_task_states *states; /* NULL: it has none */
    gx_opening opening;
    gx_metric_list metrics;
    gx_health health; /* under the monitor's lock, but for its task */
    const gale_hook **hooks;
    uint32_t hook_count;
    const gx_plan_component *plan;
    gale_context context;
    gx_random random;
    alignas(GX_APART) gx_task_counters counters;
    gx_atomic64 queued_seen; /* `queued`, as others may read it */
    gx_atomic32 done_seen;   /* `spout.done` */
    char report[GALE_FAILURE_TEXT + 1];
} gx_task;

/* Does it want no more ticks? One that has finished does when it holds something, which it may answer at one. */
GX_INLINE bool gx_task_is_over(const gx_task *task) {
    return task->finished && task->held.count == 0;
}

/* A task of the plan, not open yet. NULL when memory is out. */
gx_task *gx_task_new(gx_shared *shared, struct gx_executor *executor, uint16_t id, const gale_collector_ops *ops);

/* Frees what the task holds; its queues were emptied by its executor. */
void gx_task_free(gx_task *task, gx_shared *shared);

/* Its keyed states go: with it, or because it was not opened after all. */
void gx_task_drop_states(gx_task *task, gx_shared *shared);

/* Has it a `flush`? */
GX_INLINE bool gx_task_flushes(const gx_task *task) {
    return !task->is_acker && !task->is_spout && task->plan->built->bolt.flush;
}

/* What its component says of what it keeps; NULL: nothing, as of an acker task. */
GX_INLINE const gale_durable_ops *gx_task_durable(const gx_task *task) {
    if (task->is_acker) return NULL;
    return task->is_spout ? task->plan->built->spout.durable : task->plan->built->bolt.durable;
}

/* What it says of an error, or the error's own words, and what it could not do: "be opened". */
void gx_task_error(const gx_task *task, int rc, const char *what, gale_error *ret_error);

/* Keeps the words of an error for whoever asks next: the log, a failure. */
void gx_task_report(gx_task *task, const char *text);

/* The same, with a longer text for the log; NULL: the same text. */
void gx_task_report_with(gx_task *task, const char *text, const char *logged);

/* A call that executed `rows` of an edge took so long for each. It stands for those that were not sampled, too: for how
 * many in all is what is returned. */
uint64_t gx_task_sampled(gx_task *task, gx_edge *edge, int64_t nanoseconds, size_t rows);

/* From the begin of a sampled call to the ack of what it was for. */
void gx_task_processed(gx_task *task, const gx_sample *sample, int64_t nanoseconds);

/* Calls of execute, or messages to an acker task. */
GX_INLINE uint64_t gx_task_executed(const gx_task *task) {
    return gx_load_relaxed(&((gx_task *)task)->counters.executed) + gx_edges_executed(&task->edges);
}

/* A spout has nothing more; or, once it was told something, perhaps has. */
GX_INLINE void gx_task_set_done(gx_task *task, bool done) {
    task->spout.done = done;
    gx_store_relaxed(&task->done_seen, done);
}

/* Inputs of a bolt, trees of a spout. */
GX_INLINE uint64_t gx_task_acked(const gx_task *task) {
    return gx_load_relaxed(&((gx_task *)task)->counters.acked) + gx_edges_acked(&task->edges);
}

/* By which a tuple came. */
GX_INLINE gx_edge *gx_task_edge(gx_task *task, const gale_tuple *tuple) {
    return gx_edges_find(&task->edges, tuple->source, tuple->head->stream);
}

#endif
