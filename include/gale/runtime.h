/* gale/runtime.h: running a topology in this process.
 *
 * What:    a runtime runs one topology on one or more executors. An executor is a thread of the runtime's own
 *          (gale_runtime_start), or the caller's (gale_runtime_step).
 * Threads: gale_runtime_new, _start, _step and _free belong to one thread at a time; the others may be called from
 *          any thread, but not during _free. Signals are blocked in the runtime's threads, but for those that a
 *          thread raises itself (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT).
 * Owner:   the runtime refers to its topology, which goes when both have been freed, in whatever order.
 * Misuse:  every function checks. Without a runtime: GALE_INVALID, 0, false, nothing. What waits for the executors,
 *          or takes them away (step, wait, free, open_trees), is GALE_STATE from inside a call of the runtime's own
 *          component.
 *
 *      new --start or first step--> opening --all opened--> running --drain--> draining --nothing left--> finishing
 *                                      |                       |                  |                          |
 *                                      +---- an error ---------+------ stop ------+--------- stop -----------+
 *                                      v                                                                     v
 *                                   closing  (open trees fail: stopped)  --------------------------------> closed
 */
#ifndef GALE_RUNTIME_H
#define GALE_RUNTIME_H

#include <gale/metric.h>
#include <gale/store.h>
#include <gale/topology.h>

GALE_BEGIN

typedef struct gale_runtime gale_runtime;

/* Zero means the default everywhere. Initialise with GALE_RUNTIME_OPTIONS_INIT: without a `size` they are refused. */
typedef struct gale_runtime_options {
    size_t size;
    const gale_allocator *allocator; /* default: malloc */
    const gale_logger *logger;       /* default: silence */
    const gale_clock *clock;         /* default: the machine's monotonic clock */
    uint64_t seed;                   /* default: from the machine's entropy */
    uint32_t executors;              /* default: as many as the process may use cores */
    uint32_t spins;                  /* at most so many empty steps before an executor's thread parks: the first
                                        quarter spins, the rest yields. Adapts. 0: 2000, and at most 50 us */
    uint64_t ring_memory;            /* bytes for all rings between executors; default 32 MiB */
    bool until_drained;              /* drain by itself when every spout says that it is done */
    bool inactive;                   /* open nothing before gale_runtime_activate */
    uint64_t queue_limit; /* bytes that may wait for one task on its executor, as `queued_bytes` counts them, one batch
                              more or less; what comes beyond fails with reason `overflow`. Gates keep queues far
                              below, except in a cycle that makes more than it takes; default 64 MiB */
    bool inline_blocking; /* components that block (gale.blocking) may run on the caller's thread */
    const gale_store *store; /* the run is durable: it goes on from the last checkpoint that is in there, and makes new
                                    ones. Its functions are called until the runtime is freed; the table is copied */
    int64_t
        checkpoint_interval; /* ns from one checkpoint to the next; default: topology.state.checkpoint.interval.ms, 1 s */
    uint64_t
        state_memory; /* bytes of keyed state that is kept in memory, of all tasks; default: gale.state.memory.mb, 64 MiB */
    const char *const
        *adopt; /* what a checkpoint is gone on from that the topology no longer fits, as words: "OLD=NEW", a
                                 component that was renamed, and "*", whatever else has changed. Read by gale_runtime_new */
    uint32_t adopt_count;
} gale_runtime_options;

#define GALE_RUNTIME_OPTIONS_INIT                                                                                      \
    { sizeof(gale_runtime_options), NULL, NULL, NULL, 0, 0, 0, 0, false, false, 0, false, NULL, 0, 0, NULL, 0 }

/* Plans the topology and allocates all that it needs to run; starts nothing. `options` NULL: all defaults. GALE_INVALID
 * for options whose size was not set, and for a handle in them that lacks a function; GALE_UNSUPPORTED for an option of a
 * newer gale; GALE_NO_MEMORY; what gale_topology_check says. */
GALE_API GALE_MUST_USE int gale_runtime_new(gale_topology *topology, const gale_runtime_options *options,
                                            gale_runtime **ret_runtime, gale_error *error);

/* Starts one thread an executor, waits until every task is prepared or opened, or has said "not now" (GALE_AGAIN), and
 * reports the first error of those (then the runtime is closing). With the option `inactive` it does not wait: nothing is
 * opened yet. */
GALE_API GALE_MUST_USE int gale_runtime_start(gale_runtime *runtime, gale_error *error);

/* Runs one step of every executor on the calling thread. Returns how much was done, 0 when there was nothing to do, or
 * GALE_STOPPED when the runtime is closed. GALE_STATE after gale_runtime_start, and for a topology with components that
 * block (gale.blocking), unless the option inline_blocking allows them on the caller's thread. */
GALE_API int64_t gale_runtime_step(gale_runtime *runtime);

/* When a step will next have something to do by the clock alone: INT64_MAX for never. For callers of
 * gale_runtime_step. */
GALE_API int64_t gale_runtime_next_due(const gale_runtime *runtime);

/* For a loop that waits for descriptors itself, by epoll, poll or a library: steps until nothing is left to do, or for about
 * `nanoseconds` (negative: as long as it takes; a component's call is not interrupted), and returns how long may be waited
 * then for gale_runtime_fd: 0 when there is more to do, INT64_MAX when nothing but that descriptor will tell. The time is
 * the runtime's clock. Errors as of gale_runtime_step.
 *
 *     while ((pause = gale_runtime_step_for(runtime, GALE_MILLISECOND)) >= 0)
 *         wait_for(gale_runtime_fd(runtime), pause);
 */
GALE_API int64_t gale_runtime_step_for(gale_runtime *runtime, int64_t nanoseconds);

/* A descriptor that is readable when gale_runtime_step_for has something to do before the time that it said: other threads'
 * commands, a signal's (gale_runtime_stop), and whatever components watch (gale/watch.h). To be waited for and nothing else; the
 * runtime closes it. GALE_STATE as of gale_runtime_step; GALE_IO when the system has no more of them; GALE_INVALID. */
GALE_API int gale_runtime_fd(gale_runtime *runtime);

/* Starts the runtime's threads and waits until it is closed: gale_runtime_start and gale_runtime_wait in one. Returns
 * what they do. */
GALE_API int gale_runtime_run(gale_runtime *runtime, gale_error *error);

/* Spouts stop emitting; when every tree is answered and nothing is queued or held, the bolts finish and all is closed.
 * A drain that makes no progress for 0.6 s names who holds it up in the log. Returns at once. This and
 * gale_runtime_stop may be called from a signal handler: they store and ring, nothing more. */
GALE_API void gale_runtime_drain(gale_runtime *runtime);

/* All is closed as soon as the calls in execution return; open trees fail with reason `stopped`. Returns at once. */
GALE_API void gale_runtime_stop(gale_runtime *runtime);

/* Spouts stop emitting. Open trees are answered. */
GALE_API void gale_runtime_deactivate(gale_runtime *runtime);

/* Spouts go on, or are opened at last (the option `inactive`). */
GALE_API void gale_runtime_activate(gale_runtime *runtime);

/* Files that components write to, and the file of dead letters, were renamed (log rotation): whoever has a `reopen`
 * (gale_bolt_ops) opens its files again by their names, between two of its calls. Nothing is lost, nor written twice; in a durable
 * run it takes up to two checkpoints (docs/semantics/durable-files.md). Returns at once, and may be called from a signal handler. */
GALE_API void gale_runtime_reopen(gale_runtime *runtime);

/* Waits until the runtime is closed, at most `nanoseconds` (negative: as long as it takes). GALE_TIMED_OUT when it is
 * not; GALE_STATE without threads; the code and report of the component that stopped it (by gale_stop, or by an error
 * from open, prepare or finish), if one did; else 0. */
GALE_API int gale_runtime_wait(gale_runtime *runtime, int64_t nanoseconds, gale_error *error);

/* Stops if need be, waits at most `nanoseconds` for the threads (negative: as long as it takes), and frees everything.
 * GALE_TIMED_OUT, with the name of the component in whose call an executor is stuck, leaves the runtime as it is, to be
 * freed again later or abandoned. NULL is allowed. */
GALE_API int gale_runtime_free(gale_runtime *runtime, int64_t nanoseconds, gale_error *error);

/* Sets something of a component for as long as this runtime lives, whatever its topology says: a spout's
 * "topology.max.spout.pending" (0: no bound) and "gale.rate" (a number, tuples a second and task; 0: no bound), and "drop" of a
 * bolt, "oldest" or "newest", for all of its inputs that drop. Tasks have it soon, between two calls; open trees stay open. A rate concerns
 * spouts that keep one, as gale's own do (gale_context's `rate`). GALE_NOT_FOUND (no such component), GALE_INVALID (the value),
 * GALE_STATE (it is a bolt, or has no input that drops), GALE_UNSUPPORTED (another key), in words. */
GALE_API int gale_runtime_set(gale_runtime *runtime, const char *component, const char *key, const gale_value *value,
                              gale_error *error);

/* Emits what a dead letter carries once more, into `stream` of `spout`: a tree of its own, tried as often as others of that
 * spout, of which the spout hears nothing. Given up again, it is a dead letter again. It waits while the spout is held or inactive. The letter
 * stays where it is; values are copied. From any thread. GALE_NOT_FOUND, GALE_FIELDS; GALE_STATE: the spout has neither replay nor
 * dead letters; GALE_AGAIN: too much waits there; GALE_STOPPED; GALE_TOO_LARGE, GALE_INVALID, GALE_NO_MEMORY; in words. */
GALE_API int gale_runtime_redeliver(gale_runtime *runtime, const char *spout, const char *stream, uint64_t message_id,
                                    const gale_value *values, size_t count, gale_error *error);

/* Hands a sample of the tuples that `component` emits, `percent` of 100 of them, to `on_event`, from now on, in place
 * of what was set before; 0 ends it. Nothing has to be prepared for it, and it costs nothing when it is off.
 * `on_event` is called on the threads of the component's tasks, for a moment still after it was replaced. A tap without
 * a rate: gale_runtime_tap says more.
 * GALE_NOT_FOUND, GALE_INVALID, GALE_NO_MEMORY. */
GALE_API int gale_runtime_log_events(gale_runtime *runtime, const char *component, double percent,
                                     void (*on_event)(void *user, const gale_event *event), void *user);

/* Who looks at what a component emits, as it passes. Zero means the default. */
typedef struct gale_tap_options {
    size_t size;
    const char *component;
    const char *stream; /* default: all of the component's */
    double
        per_second; /* tuples, at the most, of all its tasks: the first that comes, and the first after each interval.
                           Default: every one. With a rate a tap costs next to nothing between its events */
    double percent; /* of 100: of those a sample, which is drawn; default: all */
    void (*on_event)(void *user, const gale_event *event); /* on the threads of the component's tasks */
    void (*free_user)(void *user);                         /* default: nothing */
    void *user;
} gale_tap_options;

#define GALE_TAP_OPTIONS_INIT                                                                                          \
    { sizeof(gale_tap_options), NULL, NULL, 0, 0, NULL, NULL, NULL }

/* Names a tap of a runtime; 0: none. */
typedef uint64_t gale_tap;

/* Begins one, beside those that there are. It shows what is emitted from each executor's next step on, and costs nothing but
 * where it looks. GALE_NOT_FOUND (component, stream), GALE_INVALID, GALE_UNSUPPORTED, GALE_NO_MEMORY: then `user` is the
 * caller's as before. */
GALE_API int gale_runtime_tap(gale_runtime *runtime, const gale_tap_options *options, gale_tap *ret_tap,
                              gale_error *error);

/* Ends one. Waits for nobody: a call of `on_event` may be on its way still. When none is, nor will be, `free_user` is called,
 * once: in this call, on an executor's thread, in another tap's end, or at the latest in gale_runtime_free, which ends all
 * that there are. GALE_NOT_FOUND: there is none of this name; GALE_INVALID. */
GALE_API int gale_runtime_tap_end(gale_runtime *runtime, gale_tap tap);

/* --- Durable runs (docs/semantics/durable.md) ------------------------------------------------------------------------ */

/* With the option `store`, gale_runtime_new reads the last checkpoint that is in there, if there is one: GALE_STATE when it
 * is another topology's or does not fit this one (the report says what has changed, and which word of the option `adopt`,
 * --state-adopt on the command line, would take it), GALE_INVALID (such a word names nothing), GALE_DAMAGED,
 * GALE_UNSUPPORTED, GALE_IO. Words that were carried out before are no error: the same options go on after a crash. Until
 * the first checkpoint lasts, the store has what it had. gale_runtime_start starts one thread more, which makes checkpoints
 * last: it alone waits for the disk.
 * Whoever uses gale_runtime_step calls gale_runtime_commit now and then, from that thread or another one: the first time
 * before anything runs, since the first checkpoint is made as soon as all is open, and nothing is done until it lasts. What sinks could not commit
 * yet is asked for again by the same call, after pauses of the run's clock. */

/* Makes the checkpoint that was cut last: it is on the disk when this returns. 1; 0: none was cut since, or it is of the end, and sinks have not
 * committed all. An error stops the run. GALE_STATE after gale_runtime_start, and in a run that is not durable. One call at a time. */
GALE_API int gale_runtime_commit(gale_runtime *runtime, gale_error *error);

/* Asks for a checkpoint now, and waits until one that was not there before lasts, at most `nanoseconds` (negative: as long
 * as it takes). Its number goes to `ret_number` (may be NULL). GALE_TIMED_OUT; GALE_STOPPED: the run has ended, or ends
 * because it failed; GALE_STATE: the run is not durable, or has no threads to wait for. */
GALE_API int gale_runtime_checkpoint(gale_runtime *runtime, int64_t nanoseconds, uint64_t *ret_number);

/* A checkpoint, and when it lasts the runtime stops: the next run goes on from there. Without a store it stops at once.
 * Returns at once; may be called from a signal handler. */
GALE_API void gale_runtime_suspend(gale_runtime *runtime);

/* Times in nanoseconds, of the runtime's clock. */
typedef struct gale_checkpoint_stats {
    size_t size;
    uint64_t number;  /* the last that lasts; 0: none yet */
    uint64_t resumed; /* the one that the run goes on from; 0: it began anew */
    uint64_t count;   /* that were made in this run */
    uint64_t put_off; /* attempts that took too long */
    int64_t time;     /* when the last one was cut */
    int64_t took;     /* to make it last */
    int64_t held;     /* how long the spouts were held for the last cut; 0 for the first, before which nothing runs */
    int64_t held_max; /* for any */
    uint64_t bytes;   /* that the last cut wrote */
    uint64_t dropped; /* at the start: tuples of components that are there no more */
    uint64_t again;   /* at the start: trees that begin again, because who held them does not save that */
    int64_t wall;  /* ns since 1970: when the last one was cut; before this run makes one, the one that it goes on from.
                         What has passed since is its age */
    bool complete; /* the last that lasts is of the end: there is nothing more to do */
    int64_t held_p50; /* of the cuts of this run, but for the first, before which nothing runs; at most 1/32 too high */
    int64_t held_p99;
    int64_t took_p50;
    int64_t took_p99;
    int64_t took_max;
    uint64_t bytes_max;
    int64_t
        owed; /* for so long a sink has not committed what a checkpoint that lasts has promised; 0: all is committed */
} gale_checkpoint_stats;

/* Reads them, at any time. `ret_stats->size` is the caller's sizeof, or 0 for that of this header. False when the run is not
 * durable. */
GALE_API bool gale_runtime_checkpoint_stats(const gale_runtime *runtime, gale_checkpoint_stats *ret_stats);

/* --- Figures ------------------------------------------------------------------------------------------------------ */

typedef enum gale_phase {
    GALE_PHASE_NEW,
    GALE_PHASE_OPENING,
    GALE_PHASE_RUNNING,
    GALE_PHASE_DRAINING,
    GALE_PHASE_FINISHING,
    GALE_PHASE_CLOSING,
    GALE_PHASE_CLOSED,
    GALE_PHASE_COUNT
} gale_phase;

/* "draining" for GALE_PHASE_DRAINING. Static storage. */
GALE_API const char *gale_phase_name(int32_t phase);

/* Exact counts, and times in nanoseconds. trees == acked + failed + timed_out + rejected + stopped + open at every
 * reading. */
typedef struct gale_run_stats {
    size_t size;
    int32_t phase;
    uint64_t trees;
    uint64_t acked;
    uint64_t failed; /* by a bolt, or for any reason that has no line here */
    uint64_t timed_out;
    uint64_t stopped; /* by the end of the run */
    uint64_t open;
    uint64_t stale;           /* answers to trees that were answered already, dropped */
    uint64_t executed;        /* calls of execute, all tasks */
    uint64_t memory_in_use;   /* bytes that the engine holds, components apart: tables, rings, and of pools what is in
                                 use, whole batches (576 or 4,608 bytes) whether or not they are full */
    uint64_t memory_reserved; /* bytes that it has taken from the allocator, what pools keep for later among them */
    uint64_t allocations;     /* calls of the allocator so far, components apart */
    int64_t complete_p50;     /* from emit to answer, acked trees; of a log-linear histogram, 3 % steps */
    int64_t complete_p99;
    int64_t complete_max;
    int64_t elapsed; /* since the spouts were opened, until now or the close */
    uint64_t rejected;
    uint64_t replayed;          /* emits after the first of a tree (topology.replay.attempts) */
    uint64_t given_up;          /* where replay or dead letters are configured: trees that failed for good */
    uint64_t dead_letters;      /* made of those; one with a subscriber is a tree of its own */
    uint64_t dead_letters_lost; /* of those, what the subscriber did not take */
    uint64_t retained_bytes;    /* in memory, for tuples that may be emitted again */
} gale_run_stats;

/* Reads them, at any time. `ret_stats->size` is the caller's sizeof, or 0 for that of this header. */
GALE_API void gale_runtime_stats(const gale_runtime *runtime, gale_run_stats *ret_stats);

/* What keeps a spout from emitting. */
typedef enum gale_hold {
    GALE_HOLD_NONE,
    GALE_HOLD_FLOW,    /* flow control: those whom it feeds have enough */
    GALE_HOLD_PENDING, /* as many trees are open as may be */
    GALE_HOLD_COUNT
} gale_hold;

/* One task's figures. Counts are exact. Latency is sampled: `execute_samples` calls took `execute_nanoseconds`. */
typedef struct gale_task_stats {
    size_t size;
    uint32_t task;
    uint32_t executor;
    const char *component;
    bool spout;
    bool congested;
    uint64_t executed;
    uint64_t emitted;     /* calls of emit */
    uint64_t transferred; /* deliveries they made */
    uint64_t acked;       /* bolt: inputs acked; spout: trees acked */
    uint64_t failed; /* bolt: inputs failed; spout: trees failed, of which the next, `rejected` and `stopped` are not */
    uint64_t timed_out; /* spout: trees; bolt: inputs failed with GALE_REASON_TIMEOUT */
    uint64_t forgotten; /* inputs neither answered nor held when execute returned */
    uint64_t misused;   /* second answers, late emits, emits that do not fit the stream */
    uint64_t errors;    /* errors returned or reported */
    uint64_t ticks;
    uint64_t held;         /* tuples held now */
    uint64_t queued_bytes; /* waiting for this task now, rings apart. Whole batches: 576 or 4,608 bytes each, full or
                              not, and the large bodies in them; so one short tuple may be 576 */
    uint64_t execute_samples;
    uint64_t execute_nanoseconds;
    uint64_t execute_nanoseconds_max;
    bool done;        /* spout: has said that it has nothing more */
    uint32_t held_by; /* a congested task that keeps this one from running; 0: none */
    uint64_t shed; /* untracked tuples that found its queue at the limit, which the log tells: the only loss there is */
    uint64_t overflowed;              /* tracked ones: their trees failed with reason `overflow` */
    uint64_t rejected;                /* bolt: inputs; spout: trees; neither is among `failed` */
    uint64_t expired;                 /* tuples that were over their deadline, not executed: their trees failed */
    uint64_t dropped;                 /* by the policies of its inputs; see gale_runtime_input_stats */
    uint64_t queued_bytes_max;        /* the most that was above the high mark, counted alike; 0: never above */
    uint64_t held_nanoseconds;        /* spout: it would have emitted, but flow control held it, this long */
    uint64_t held_mostly_nanoseconds; /* of that by `held_mostly_by`, the task that held it longest */
    uint32_t held_mostly_by;          /* 0: nobody */
    uint64_t pending_limit;           /* topology.max.spout.pending; 0: none */
    uint64_t pending_nanoseconds;     /* spout: it waited this long for answers, with as many pending as it may */
    int32_t hold;                     /* spout: what keeps it from emitting now: a gale_hold */
    uint32_t hold_by;                 /* by flow control: the task that does; 0: none in particular */
    int64_t hold_since;               /* ns, the runtime's clock (gale_runtime_now) */
    double rate;                      /* spout: gale.rate, or what gale_runtime_set says; 0: none */
    uint64_t stopped;                 /* spout: trees that the end of the run cut off; bolt: 0 */
} gale_task_stats;

/* Tasks are numbered from 1 to this. */
GALE_API uint32_t gale_runtime_task_count(const gale_runtime *runtime);

/* Reads one task's, as gale_runtime_stats does. False when there is no such task. */
GALE_API bool gale_runtime_task_stats(const gale_runtime *runtime, uint32_t task, gale_task_stats *ret_stats);

/* Has something failed for good by now? Trees that were given up, rejected tuples, dead letters that are lost, rows that
 * were shed, errors of spouts (which report what they give up); where nothing is tracked, every tuple that failed. `gale
 * run` ends with 1 then. At any time. */
GALE_API bool gale_runtime_lost(const gale_runtime *runtime);

/* A task that is not well: it could not be opened yet, or has said so (gale_health). Names live as long as the runtime. */
typedef struct gale_unwell {
    size_t size;
    const char *component;
    uint32_t task;
    bool open;     /* false: `open` or `prepare` said "not now", and is asked again */
    int64_t since; /* ns, the runtime's clock */
    char text[GALE_FAILURE_TEXT + 1];
} gale_unwell;

/* Reads of the first `room` such tasks, in order of their numbers, and returns how many there are. `ret_unwell[0].size` is the
 * caller's sizeof, for all; may be NULL when `room` is 0. At any time. GALE_INVALID. */
GALE_API int gale_runtime_unwell(gale_runtime *runtime, gale_unwell *ret_unwell, uint32_t room);

/* How many trees failed at `component` (NULL: the place is not known) for `reason` (gale_reason; all of the application's
 * own count as one; 0 for what is none). What a spout hears, counted where it went wrong. */
GALE_API uint64_t gale_runtime_failures(const gale_runtime *runtime, const char *component, int32_t reason);

/* How long what a component does takes. */
typedef enum gale_latency_kind {
    GALE_LATENCY_COMPLETE, /* a spout's trees, each from its first emit to the ack */
    GALE_LATENCY_EXECUTE,  /* a bolt's calls of execute, ticks among them. Sampled: one in 64, or every one where they
                              take more than 20 us; each sample counts for those since the one before. Rows that are
                              executed at once share their call evenly */
    GALE_LATENCY_PROCESS, /* a bolt's inputs from the begin of execute to their ack, however late that is; of those whose
                              execute is sampled, and that are acked. What one flush acks counts as its oldest */
    GALE_LATENCY_COUNT
} gale_latency_kind;

/* A log-linear histogram's figures, in nanoseconds: quantiles at most 1/32 too high, mean and sum within 1/64. Zeros when
 * there is nothing. */
typedef struct gale_latency {
    size_t size;
    uint64_t count;
    double sum;
    int64_t mean;
    int64_t p50;
    int64_t p90;
    int64_t p99;
    int64_t p999;
    int64_t max; /* exact */
} gale_latency;

/* Reads the latencies of a kind (gale_latency_kind) of `component`, NULL for all, at any time. For each of `bound_count`
 * ascending `bounds` (ns) `ret_counts` tells how many are at or below it, each taken for the top of its step; all
 * of one moment. `bounds` and `ret_counts` may be NULL when there are none, and so may `ret_latency`, whose `size` is the
 * caller's sizeof, or 0 for that of this header. GALE_NOT_FOUND, GALE_INVALID. */
GALE_API int gale_runtime_latency(const gale_runtime *runtime, const char *component, int32_t kind,
                                  const int64_t *bounds, uint32_t bound_count, uint64_t *ret_counts,
                                  gale_latency *ret_latency);

/* A metric of components' own (gale/metric.h). Texts live as long as the runtime. */
typedef struct gale_metric_stats {
    size_t size;
    const char *name;
    const char *help; /* perhaps empty */
    int32_t kind;     /* gale_metric_kind */
    uint32_t tasks;   /* that it is of */
    double
        value; /* counter: the sum; gauge: the last, and of several tasks their sum; histogram: the sum of its values */
    uint64_t count; /* of values that were noted */
    double max;     /* this and what follows: histogram, else 0. Exact */
    double p50;     /* quantiles are at most 1/32 too high, or half a millionth */
    double p90;
    double p99;
    const gale_metric_label *labels; /* in the order of their names; NULL: none, or the sum of all series */
    uint32_t label_count;
} gale_metric_stats;

/* Reads metric `index` (from 0, in the order in which they were made) of task `task`, as gale_runtime_stats does. False when there
 * is no such. */
GALE_API bool gale_runtime_metric_stats(const gale_runtime *runtime, uint32_t task, uint32_t index,
                                        gale_metric_stats *ret_stats);

/* Reads metric `name` of `component`, NULL for all, summed over its tasks, at any time. For each of `bound_count` ascending `bounds`
 * `ret_counts` tells how many values of a histogram are at or below it, each taken for the top of its step; all of one moment. `bounds` and
 * `ret_counts` may be NULL when there are none, and so may `ret_stats`, whose `size` is the caller's sizeof, or 0 for that of this header.
 * GALE_NOT_FOUND: no such component, or none of its tasks has made the metric (yet); GALE_INVALID. */
GALE_API int gale_runtime_metric(const gale_runtime *runtime, const char *component, const char *name,
                                 const double *bounds, uint32_t bound_count, uint64_t *ret_counts,
                                 gale_metric_stats *ret_stats);

/* The same for one series, which has these labels, in any order. gale_runtime_metric sums all series of the name. */
GALE_API int gale_runtime_metric_series(const gale_runtime *runtime, const char *component, const char *name,
                                        const gale_metric_label *labels, uint32_t label_count, const double *bounds,
                                        uint32_t bound_count, uint64_t *ret_counts, gale_metric_stats *ret_stats);

/* Where a tuple of an open tree was found. */
typedef enum gale_place {
    GALE_PLACE_UNKNOWN,   /* not found: an answer is on its way, or an executor did not say */
    GALE_PLACE_QUEUED,    /* waits for `component`, in its queue */
    GALE_PLACE_PARKED,    /* waits for `component`, which may not run */
    GALE_PLACE_FORGOTTEN, /* by `component`: execute returned without answering or holding it */
    GALE_PLACE_HELD,      /* by `component` */
    GALE_PLACE_EXECUTING, /* by `component` */
    GALE_PLACE_WAITING,   /* it failed, and is to be emitted again for `component`, its spout */
    GALE_PLACE_COUNT
} gale_place;

/* A tree that is not answered yet. Names live as long as the runtime. */
typedef struct gale_open_tree {
    size_t size;
    const char *spout;
    uint32_t spout_task;
    uint32_t task; /* of the place, 0: unknown */
    uint64_t message_id;
    int64_t age;           /* ns since its emit */
    const char *component; /* of the place, or NULL */
    int32_t place;         /* gale_place; of several tuples, the most telling one's */
    char text[GALE_FAILURE_TEXT + 1];
} gale_open_tree;

enum { GALE_OPEN_TREES_MAX = 1000 };

/* The oldest open trees and where their tuples are, oldest first, at most `room` of them (and GALE_OPEN_TREES_MAX).
 * `ret_trees[0].size` is the caller's sizeof, for all. Asks the executors, each of which makes one pass over what is
 * queued, and waits for their answers for at most `nanoseconds`, twice; of one that is stuck in a component's call the
 * text says so. Not from inside a component's call, whose executor could not answer. After gale_runtime_step, only from
 * that thread. Returns how many; 0 when nothing runs or none is open; GALE_AGAIN while another thread asks, and when
 * the executors of the spouts did not answer in time (they are in slow calls); GALE_INVALID; GALE_NO_MEMORY. */
GALE_API int gale_runtime_open_trees(gale_runtime *runtime, gale_open_tree *ret_trees, uint32_t room,
                                     int64_t nanoseconds);

/* What task `task` emitted to its output `stream` (index): calls, and deliveries. False when there is no such stream. What
 * is not wanted may be NULL. */
GALE_API bool gale_runtime_stream_stats(const gale_runtime *runtime, uint32_t task, uint32_t stream,
                                        const char **ret_name, uint64_t *ret_emitted, uint64_t *ret_transferred);

/* What task `task` dropped of its input `input` (an index), because the subscription says so (gale_drop_oldest). False
 * when there is no such input. `*ret_policy` is a gale_drop. What is not wanted may be NULL. */
GALE_API bool gale_runtime_input_stats(const gale_runtime *runtime, uint32_t task, uint32_t input,
                                       const char **ret_source, const char **ret_stream, int32_t *ret_policy,
                                       uint64_t *ret_dropped);

/* What a bolt's task did with the tuples of one of its inputs. Counts are exact; times are estimates from samples, as of
 * gale_latency_kind: a mean is nanoseconds through count. */
typedef struct gale_edge_stats {
    size_t size;
    const char *source; /* these two live as long as the runtime */
    const char *stream;
    uint64_t executed;
    uint64_t acked;
    uint64_t failed;
    uint64_t rejected;
    uint64_t expired;
    uint64_t dropped;
    int32_t policy; /* a gale_drop */
    uint64_t execute_count;
    uint64_t execute_nanoseconds;
    uint64_t process_count;
    uint64_t process_nanoseconds;
} gale_edge_stats;

/* Reads those of task `task`'s input `input` (an index), as gale_runtime_stats does. False when there is no such input. */
GALE_API bool gale_runtime_edge_stats(const gale_runtime *runtime, uint32_t task, uint32_t input,
                                      gale_edge_stats *ret_stats);

/* How many executors there are. */
GALE_API uint32_t gale_runtime_executor_count(const gale_runtime *runtime);

/* What an executor's time went to, from its first step to its end. A step's time, with what is slept after it, counts
 * as a whole when it is over; a bolt's call counts while it lasts. None of the three ever falls. */
typedef struct gale_executor_stats {
    size_t size;
    uint32_t index;
    uint32_t tasks;
    uint64_t busy_nanoseconds;    /* steps that did something */
    uint64_t waiting_nanoseconds; /* that found nothing to do */
    uint64_t held_nanoseconds;    /* the same, while a spout of it was held by flow control or by its pending trees */
    uint32_t in_call;             /* the task whose function runs; 0: none's */
    const char *in_call_component;
    int64_t in_call_since; /* ns, the runtime's clock; the call began then, or a little later */
} gale_executor_stats;

/* Reads those of executor `executor` (from 0), as gale_runtime_stats does. False when there is no such executor. */
GALE_API bool gale_runtime_executor_stats(const gale_runtime *runtime, uint32_t executor,
                                          gale_executor_stats *ret_stats);

/* The runtime's clock, by which figures say when something was (`since`); 0 without a runtime. */
GALE_API int64_t gale_runtime_now(const gale_runtime *runtime);

/* Bytes that the engine has taken from the allocator, by what they are for: `index` from 0, until false. The sum is
 * `memory_reserved` of gale_run_stats. `*ret_name` is static: "queues". What is not wanted may be NULL. */
GALE_API bool gale_runtime_memory(const gale_runtime *runtime, uint32_t index, const char **ret_name,
                                  uint64_t *ret_bytes);

GALE_END

#endif
