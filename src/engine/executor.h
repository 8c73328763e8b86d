/* An executor: a thread's worth of tasks, and everything that they share with nobody.
 *
 *                     inlets (a data ring and an ack ring from every executor that feeds this one)
 *                        |                       |
 *                        v                       v
 *     parked lists <-- tasks --> local queue   ledger, acker tasks <-- settle (for other keepers, combined)
 *                        |           |           |
 *                        v           +--> tasks  +--> answers to spouts, between runs
 *                     outlets
 *
 *                     What waits in any of them is a batch: rows from one task for one task (ds/batch.h).
 *
 * Threads: one at a time runs an executor; others reach it through rings, its doorbell, and what is atomic.
 * The step is in runtime/step.h; what belongs to a tuple in execution is the cursor.
 */
#ifndef GX_ENGINE_EXECUTOR_H
#define GX_ENGINE_EXECUTOR_H

#include "base/mutant.h"
#include "ds/changes.h"
#include "ds/ready.h"
#include "engine/acks_settle.h"
#include "engine/bell.h"
#include "engine/inbox.h"
#include "engine/outlet.h"
#include "engine/shares.h"
#include "engine/task.h"
#include "topology/saver.h"
#include "trees/forgotten.h"
#include "trees/ledger.h"
#include "trees/retention.h"

/* Reasons that are counted apart; the last for all of the application's own. */
enum { GX_REASONS = GALE_REASON_COUNT + 1 };

/* What comes from one other executor. */
typedef struct gx_inlet {
    gx_batch_consumer data; /* ring NULL: there is none */
    gx_ring_consumer acks;
    uint64_t half[2]; /* of a failure, see acks_settle.h */
    uint64_t received;
    bool freed; /* room was given back, and the other executor was not told */
} gx_inlet;

typedef enum gx_cursor_state { GX_CURSOR_NONE, GX_CURSOR_OPEN, GX_CURSOR_ANSWERED, GX_CURSOR_HELD } gx_cursor_state;

/* What a tuple that is emitted now has of roots: none, the cursor's one, or what is to be looked at. */
typedef enum gx_stem { GX_STEM_NONE, GX_STEM_ONE, GX_STEM_OTHER } gx_stem;

/* The tuple in execution. Its ack value is here, not with the task. */
typedef struct gx_cursor {
    gx_task *task; /* NULL: none is in execution */
    gx_edge *edge; /* that it came by */
    gale_tuple tuple;
    uint64_t ack;     /* XOR of the edges of its children */
    gx_atomic64 root; /* the first one; 0: none. Others read it, to see what an executor is stuck with */
    uint32_t held_index;
    uint8_t state; /* gx_cursor_state */
    bool failed;   /* an emit anchored to it failed: its ack is a fail */
    uint8_t stem;  /* gx_stem */
    uint8_t reserved;
} gx_cursor;

/* Not answered, and no reason not to ack it. */
GX_INLINE bool gx_cursor_is_open(const gx_cursor *cursor) {
    static const uint8_t open[2] = { GX_CURSOR_OPEN, false };
    static_assert(offsetof(gx_cursor, failed) == offsetof(gx_cursor, state) + 1, "one comparison of both");
    return memcmp((const char *)cursor + offsetof(gx_cursor, state), open, sizeof open) == 0;
}

/* Is another task's tuple in execution? */
GX_INLINE bool gx_cursor_is_anothers(const gx_cursor *cursor, const gx_task *task) {
    return cursor->task && cursor->task != task;
}

/* It is answered or held, or there is none any more: what is emitted now is not a child of it without a look. */
GX_INLINE void gx_cursor_leave(gx_cursor *cursor, gx_cursor_state state) {
    cursor->state = (uint8_t)state;
    cursor->stem = state == GX_CURSOR_NONE ? GX_STEM_NONE : GX_STEM_OTHER;
}

/* The batch that a task fills for another one while its turn lasts; see engine/turn.h. */
typedef struct gx_open {
    unsigned char *at;    /* where the next row goes */
    unsigned char *end;   /* a row that begins before has room for GX_ROW_SHORT bytes; not above `at`: for none */
    unsigned char *limit; /* of the batch */
    gx_batch *batch;      /* NULL: none is open */
    bool listed;          /* in `opened_for` */
    bool filled;          /* in this turn a batch was filled */
    bool large;           /* the next one had better be */
} gx_open;

/* Batches of one other executor on their way home. */
typedef struct gx_homeward {
    gx_batch *first, *last;
} gx_homeward;

/* A tuple that a new one is anchored to: in execution, or held. */
typedef struct gx_anchor {
    uint64_t *ack;
    bool *failed;
    gx_roots roots;
    int64_t deadline;        /* 0: none */
    gx_edge *edge;           /* that it came by */
    const gx_sample *sample; /* that its ack ends */
} gx_anchor;

/* A root of the union of several anchors' roots, and which anchor it came from; see collector.c. */
typedef struct gx_member {
    uint64_t root;
    uint32_t anchor;
    uint32_t at; /* its place among the union's roots */
} gx_member;

/* Memory that emits use and that grows to what the largest one needs. */
typedef struct gx_scratch {
    uint16_t *targets; /* of the last emit, but to a stream's only task; never NULL */
    size_t target_capacity;
    gx_member *members;
    size_t member_capacity;
    uint64_t *edges; /* one an anchor */
    size_t edge_capacity;
    gale_value *values; /* of a body that is emitted; room for those of any stream */
    size_t value_capacity;
    gx_anchor *anchors;
    size_t anchor_capacity;
} gx_scratch;

/* What an executor shows to the control at the end of a step, all of it of one moment; see control.c. */
typedef struct gx_shown {
    uint64_t work; /* everything done so far */
    uint64_t sent, received;
    uint64_t quiet;    /* the gale_phase that it was quiet in; 0: it was not */
    uint64_t finished; /* finished_rank */
    uint64_t cut;      /* the word of a cut's stage that it is ready for the end of; 0: of none */
} gx_shown;

/* An executor's part of a checkpoint; see engine/cut.h. */
typedef struct gx_cut_part {
    uint64_t seen;      /* the stage's word, as the gates know it */
    uint64_t saved;     /* that of the cut that it has saved for */
    uint64_t told;      /* the last lasting checkpoint that its components were told of */
    gx_changes changes; /* the committer's from the cut to the end of the commit, and so are the pledges */
    gx_pledges pledges;
    gx_buf records;
    gx_chunks rest_chunks; /* that the last checkpoint has of it */
    int rc;                /* of the last saving */
    const gx_task *failed; /* whose it is; NULL: nobody's */
} gx_cut_part;

typedef struct gx_executor {
    gx_shared *shared;
    gx_heap *heap;
    int64_t now; /* ns; read once a step, and after slow calls */
    bool aged;   /* functions of components ran since then, or much else was done */
    gx_random random;
    gx_batches batches;
    gx_batch_list local;
    uint64_t local_bytes;   /* weight of those, and of what is open for them or runs */
    uint64_t local_touched; /* bytes of those that have rows, which the caches are to hold */
    const gx_task *turn;    /* whose open batches these are */
    const gx_task *begins;  /* the same, if its trees are acked and need no more than their emit (`quick`) */
    gx_open *open;          /* by target */
    uint16_t *opened_for;   /* the targets that have one, or had in this turn */
    uint32_t opened_count;
    gx_open never;         /* no row fits here: for streams whose emits are to be looked at */
    gx_homeward *homeward; /* by executor */
    const unsigned char
        *run_end; /* of the rows in execution; NULL: interrupted by what happens here, and who runs is to
                                     look whether it may go on */
    const struct gale_head *resumed; /* the row that the run in hand began with, if it comes again; NULL */
    uint32_t part_rows;              /* of the emission in parts (gale_part_is_full), since this run or call began */
    uint32_t unfinished;             /* tasks here whose `finish` is to be called again */
    gx_cursor cursor;
    gx_forgotten forgotten;
    struct gx_locate_query *query;   /* its own, not concluded yet; see runtime/locate.h */
    struct gx_locate_query *queries; /* concluded, but not answered by all */
    uint32_t query_seen;             /* the last that it looked into its mailboxes for */
    uint64_t slow_ns;                /* spent in slow calls, in this stage of the step */

    uint32_t tune_seen; /* the version of what is set that its tasks have */

    uint32_t epoch;   /* of flow control, last seen */
    bool gates_stale; /* an outbox was filled or emptied */
    bool acks_behind; /* acks for some executor wait in an outbox: no task here may run and make more */
    bool *gated;      /* by component: its tasks here may not run */
    uint32_t parked_tasks;
    uint32_t next_parked; /* which task's parked list is run first */
    gx_atomic64 *dropped; /* what it dropped itself, by the plan's slots */

    gx_outlet *outlets; /* data, by executor */
    gx_ack_outlet *ack_outlets;
    gx_inlet *inlets;
    gx_ready ready; /* which of them to look at */
    bool sent_here; /* in this step something was emitted for tasks here */
    bool idle;      /* the last step did nothing */
    gx_settle settle;
    gx_inbox *inbox;
    gx_ledger ledger;
    gx_retention retention;
    bool acking;              /* as the plan has it */
    int64_t deadline;         /* the same */
    struct gx_tapped *tapped; /* its part of the set of taps that it has taken */
    uint32_t tapped_count;
    uint64_t tap_epoch;  /* of that set; UINT64_MAX: it takes none any more. Written under the monitor's lock */
    uint64_t queue_high; /* shared->flow.high */
    bool has_ledger;
    uint32_t keeper;         /* the number of its ledger, when that keeps its trees; no root's where acker tasks do */
    gx_latencies *latencies; /* by component */
    gx_sample sample;        /* the call in progress, if its time is taken */
    gx_atomic64 *failures;   /* of its trees: by component of the place, the last for an unknown one, and reason */
    bool has_ackers;         /* some of its tasks are */
    bool has_flushes;        /* some of its bolts gather */
    int64_t acker_due;       /* the next rotation of one of them */

    gx_task **tasks;
    uint32_t task_count;
    uint32_t unopened; /* of them; see runtime/opening.h */
    uint32_t spout_count;
    gx_task **spouts;
    uint32_t next_spout;
    int64_t timeout_warning_due; /* the next look at what is pending */
    int64_t tick_due;            /* the earliest */
    gx_scratch scratch;
    gx_watches watches;

    uint16_t index;
    bool opened; /* each was asked */
    bool activated;
    bool closed;
    uint32_t reopened;                     /* as of shared->reopen */
    uint32_t finished_rank;                /* components up to this rank have finished, plus 1 */
    uint64_t work;                         /* everything done so far */
    uintptr_t thread;                      /* who runs it; for checks */
    _Atomic(const gx_task *) in_call_seen; /* the task whose function runs, for whoever waits for us */
    gx_atomic64 in_call_since;             /* ns; the call began then, or a little later */

    gx_shares shares;
    gx_blocks blocks;
    gx_bell bell;
    gx_cut_part cut;

    /* What it last showed to the control: a gx_shown; see base/seqlock.h. */
    alignas(GX_APART) gx_atomic64 shown_version;
    gx_atomic64 shown[sizeof(gx_shown) / 8];
} gx_executor;

/* `ops`: of the collectors that tasks are given. GALE_NO_MEMORY, GALE_IO (no doorbell): what is made so far is in
 * `*ret_executor`, to be freed. Rings are made afterwards, by gx_executor_connect. */
int gx_executor_new(gx_shared *shared, uint16_t index, const gale_collector_ops *ops, gx_executor **ret_executor);

/* Makes the rings that the plan needs from `from` to `to`; `capacity` of a data ring. */
int gx_executor_connect(gx_executor *from, gx_executor *to, uint64_t capacity);

/* All batches that are queued go home, and their rows give their blocks back. Before any executor is freed: homes are
 * pools of executors. */
void gx_executor_empty(gx_executor *ex);
void gx_executor_free(gx_executor *ex);

/* Of a tree of its spouts that is over: by the component where it failed, and the reason. */
void gx_executor_count_failure(gx_executor *ex, const gale_failure *failure);

/* Rings every executor's bell. Any thread. */
void gx_executors_wake(gx_shared *shared);

/* Moves the phase from `from` to `to`, if it is `from`, and wakes everybody. Any thread. */
bool gx_executors_move(gx_shared *shared, gale_phase from, gale_phase to);

/* Moves the phase to closing, whatever it is, unless the end has begun already. Any thread, also inside a step. */
void gx_executors_close(gx_shared *shared);

/* The same because of an error, which the run ends with unless there was one before. Any thread, without the monitor's
 * lock. */
void gx_executors_fail(gx_shared *shared, const gale_error *error);

/* --- What the modules above share --- */

/* Is a call made on another thread than the task's? Known in debug builds. */
GX_INLINE bool gx_executor_is_elsewhere(const gx_task *task) {
#if defined(GALE_CHECKS) && GALE_CHECKS >= 1
    return task->executor->thread != gx_thread_self();
#else
    (void)task;
    return false;
#endif
}

/* The gates as of now. */
void gx_executor_refresh_gates(gx_executor *ex);

/* May no more wait for the task? What a bolt emits in `finish` cannot be held back, since that is one call, and nobody would
 * send it again: then memory alone is the bound. */
GX_INLINE bool gx_executor_is_full(const gx_executor *ex, const gx_task *task) {
    return GX_UNLIKELY(task->queued > ex->shared->queue_limit) && gx_phase(ex->shared) != GALE_PHASE_FINISHING;
}

GX_INLINE bool gx_executor_gates_changed(const gx_executor *ex) {
    return ex->gates_stale || gx_flow_epoch(&ex->shared->flow) != ex->epoch;
}

GX_INLINE void gx_executor_check_gates(gx_executor *ex) {
    if (GX_UNLIKELY(gx_executor_gates_changed(ex))) gx_executor_refresh_gates(ex);
}

/* `weight` more bytes wait for `task`, or fewer. */
void gx_executor_congest(gx_executor *ex, gx_task *task, bool congested);

/* The task says that it has as much as it wants, or that it has not any more. */
void gx_executor_fill(gx_executor *ex, gx_task *task, bool full);

/* The queue of `task` has grown, and is above the mark. */
void gx_executor_above(gx_executor *ex, gx_task *task);

GX_INLINE void gx_executor_queued(gx_executor *ex, gx_task *task, uint64_t weight) {
    task->queued += weight;
    if (GX_UNLIKELY(task->queued > ex->queue_high)) gx_executor_above(ex, task);
}

GX_INLINE void gx_executor_dequeued(gx_executor *ex, gx_task *task, uint64_t weight) {
    task->queued -= weight;
    if (GX_UNLIKELY(task->congested && task->queued < ex->shared->flow.low && !task->full))
        gx_executor_congest(ex, task, false);
}

/* Sends what is combined, shows others what was written to their rings, and lets batches go home: gx_turn_publish. */
void gx_executor_publish(gx_executor *ex);

/* It has something to do, before it tells anybody by other ways than the engine's: what it last showed does not say otherwise. */
void gx_executor_not_quiet(gx_executor *ex);

/* Within a step, of what was written to the ring of data to one executor. */
void gx_executor_show_to(gx_executor *ex, uint32_t to);

/* Reads the clock. */
GX_INLINE int64_t gx_executor_tell_time(gx_executor *ex) {
    ex->aged = false;
    return ex->now = ex->shared->clock.now(ex->shared->clock.user);
}

/* Reads it, if there was time since. */
GX_INLINE int64_t gx_executor_time(gx_executor *ex) {
    return ex->aged ? gx_executor_tell_time(ex) : ex->now;
}

/* The id of a new edge, from the executor's generator or a copy of it. */
GX_INLINE uint64_t gx_draw_edge_of(gx_random *random) {
    return GX_MUTANT(edge_twice) ? gx_random_fold(random->state) : gx_random_id(random);
}

GX_INLINE uint64_t gx_draw_edge(gx_executor *ex) {
    return gx_draw_edge_of(&ex->random);
}

/* The gates may have changed, by what happened here. */
GX_INLINE void gx_executor_stale(gx_executor *ex) {
    ex->gates_stale = true;
    ex->run_end = NULL;
}

/* To the local queue and from it. What it weighs is counted from when it is opened until it has gone. */
GX_INLINE void gx_executor_queue(gx_executor *ex, gx_batch *batch) {
    ex->local_touched += gx_batch_touched(batch);
    gx_batch_list_push(&ex->local, batch);
}

GX_INLINE gx_batch *gx_executor_unqueue(gx_executor *ex) {
    gx_batch *batch = gx_batch_list_pop(&ex->local);
    ex->local_touched -= gx_batch_touched(batch);
    return batch;
}

/* A batch that was read, or was never filled, goes home. */
void gx_executor_send_home(gx_executor *ex, gx_batch *batch);

/* Marks that functions of `task` run from now on (NULL: none). */
GX_INLINE void gx_executor_call(gx_executor *ex, const gx_task *task) {
    ex->aged = true;
    gx_store_relaxed(&ex->cursor.root, 0);
    gx_store_relaxed(&ex->in_call_since, (uint64_t)ex->now);
    gx_store_relaxed(&ex->in_call_seen, task);
}

#endif
