/* gale/component.h: spouts and bolts, and what they may call.
 *
 * What:    a component is a table of functions. Each task of it is one instance: `open` or `prepare` makes it, `close`
 *          or `cleanup` ends it. A collector is what a task emits and answers with; the engine, the simulator or a test
 *          harness fills its table.
 * Threads: all functions of one task are called from one thread. Calls on its collector and its tuples belong to that
 *          thread, and are refused with GALE_THREAD from another one in debug builds.
 * Errors:  a negative code from `execute` fails the input tuple; from `open` or `prepare` it stops the start, but for
 *          GALE_AGAIN, which says "not now" (see there); from `next` it makes the spout back off. gale_report says why in
 *          words.
 * Misuse:  the inline functions are hot and assert only: `out`, `context`, `values`, `tuples`. (That is NULL for what must be there:
 *          with GALE_CHECKS an assertion tells, without it the process ends.) What else they are given is checked.
 *
 *      spout:  open -> activate -> (next | ack | fail)* -> deactivate -> close         (or ack_batch)
 *      bolt:   prepare -> (execute* -> flush)* -> drain* -> finish (only when drained) -> cleanup  (or execute_batch)
 *
 * Parts:   a call of `execute`, `execute_batch` or `finish` that has more to emit than a batch of rows emits a part and
 *          returns GALE_MORE; see there.
 */
#ifndef GALE_COMPONENT_H
#define GALE_COMPONENT_H

#include <gale/alloc.h>
#include <gale/clock.h>
#include <gale/config.h>
#include <gale/log.h>
#include <gale/tuple.h>

GALE_BEGIN

/* Why a tuple failed. Numbers from GALE_REASON_USER are the application's own; those between GALE_REASON_COUNT and it are
 * kept for later versions of this table. */
typedef enum gale_reason {
    GALE_REASON_FAILED,       /* a bolt failed it */
    GALE_REASON_REJECTED,     /* a bolt said: never again */
    GALE_REASON_TIMEOUT,      /* not answered within topology.message.timeout.secs */
    GALE_REASON_DEADLINE,     /* waited in queues for too long */
    GALE_REASON_OVERFLOW,     /* a hard limit of memory was reached */
    GALE_REASON_STOPPED,      /* the topology was stopped first */
    GALE_REASON_NO_MEMORY,    /* memory was out */
    GALE_REASON_CHILD_EXITED, /* the process that worked on it has gone */
    GALE_REASON_SOURCE_LOST,  /* its spout said that where it came from is gone (gale_source_lost) */
    GALE_REASON_COUNT,
    GALE_REASON_USER = 1000
} gale_reason;

/* "timeout" for GALE_REASON_TIMEOUT, "user" for the application's own, "unknown" for what is none. Static storage. */
GALE_API const char *gale_reason_name(int32_t reason);

/* What a spout hears of a tuple that failed. Borrowed for the call. */
typedef struct gale_failure {
    size_t size;
    int32_t reason;        /* gale_reason */
    uint32_t task;         /* where it failed; 0: not known */
    const char *component; /* its component, or NULL */
    const char *text;      /* never NULL, perhaps empty */
    uint32_t attempts;     /* how often it was emitted under this message id, replays included */
    bool final;            /* replay or dead letters are configured, and this is the last word: do not emit it again */
} gale_failure;

/* What a task knows of itself. Lives as long as the task. */
typedef struct gale_context {
    size_t size;
    const char *topology;
    const char *component;
    uint32_t task;             /* 1.. in Storm's order */
    uint32_t task_index;       /* 0.. within the component */
    uint32_t task_count;       /* of the component */
    const gale_config *config; /* the topology's keys overlaid by the component's */
    const gale_allocator *allocator;
    const gale_logger *logger;
    gale_clock clock;
    uint64_t (*random)(const struct gale_context *context);
    const struct gale_inputs *inputs;
    void *engine;
    bool durable; /* checkpoints are made (gale/state.h) */
    bool resumes; /* and the run goes on from one: `restore` is called where something was saved */
    double rate; /* tuples a second that a spout's task is to emit at the most: gale.rate, or what gale_runtime_set says
                    since, which is read between two calls; 0: no bound */
} gale_context;

/* The runtime's clock, in nanoseconds. */
GALE_INLINE int64_t gale_context_now(const gale_context *context) {
    GALE_ASSERT(context);
    return context->clock.now(context->clock.user);
}

/* 64 random bits from the task's own generator, which a seeded run repeats. */
GALE_INLINE uint64_t gale_context_random(const gale_context *context) {
    GALE_ASSERT(context);
    return context->random(context);
}

/* The index of `field` in the stream that this bolt subscribed to (`stream` NULL: "default"), or -1. For prepare.
 * Checks all. */
GALE_API int gale_context_field(const gale_context *context, const char *component, const char *stream,
                                const char *field);

/* --- The collector ------------------------------------------------------------------------------------------------ */

typedef struct gale_collector gale_collector;
typedef struct gale_remote gale_remote; /* gale/remote.h */
struct gale_state;                      /* gale/state.h, and so are these */
struct gale_state_options;
struct gale_durable_ops;
struct gale_watch_options;  /* gale/watch.h */
struct gale_metric_options; /* gale/metric.h, and so is this */
struct gale_metric;

/* Filled by whoever runs components. Call the functions below instead. */
typedef struct gale_collector_ops {
    size_t size;
    int (*emit)(gale_collector *out, uint32_t stream, const gale_value *values, size_t count);
    int (*emit_anchored)(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                         const gale_handle *anchors, size_t anchor_count);
    int (*emit_tracked)(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                        uint64_t message_id);
    int (*ack)(gale_collector *out, gale_handle tuple);
    int (*fail)(gale_collector *out, gale_handle tuple, int32_t reason, const char *text);
    int (*hold)(gale_collector *out, gale_handle tuple, gale_handle *ret_held);
    const gale_tuple *(*held)(gale_collector *out, gale_handle tuple);
    void (*report)(gale_collector *out, const char *text);
    uint64_t (*pending)(gale_collector *out);
    void (*stop)(gale_collector *out, int code, const char *text);
    int (*emit_direct)(gale_collector *out, uint32_t task, uint32_t stream, const gale_value *values, size_t count);
    int (*emit_direct_anchored)(gale_collector *out, uint32_t task, uint32_t stream, const gale_value *values,
                                size_t count, const gale_handle *anchors, size_t anchor_count);
    int (*emit_direct_tracked)(gale_collector *out, uint32_t task, uint32_t stream, const gale_value *values,
                               size_t count, uint64_t message_id);
    int (*remote)(gale_collector *out, gale_remote **ret_remote);
    int (*reset_timeout)(gale_collector *out, gale_handle tuple);
    void (*resume)(gale_collector *out);
    bool (*resumed)(gale_collector *out);
    int (*emit_many)(gale_collector *out, uint32_t stream, const gale_value *values, size_t count, size_t rows,
                     size_t *emitted);
    int (*emit_many_tracked)(gale_collector *out, uint32_t stream, const gale_value *values, size_t count, size_t rows,
                             const uint64_t *message_ids, size_t *emitted);
    int (*state)(gale_collector *out, const struct gale_state_options *options, struct gale_state **ret_state);
    void (*remember)(gale_collector *out);
    int (*watch_new)(gale_collector *out, const struct gale_watch_options *options, uint64_t *ret_watch);
    int (*watch_set)(gale_collector *out, uint64_t watch, int32_t events, int64_t at);
    int (*watch_free)(gale_collector *out, uint64_t watch);
    void (*health)(gale_collector *out, const char *text);
    int (*congest)(gale_collector *out, bool congested);
    int (*metric_new)(gale_collector *out, const struct gale_metric_options *options, struct gale_metric **ret_metric);
    void (*wish_checkpoint)(gale_collector *out); /* gale/state.h */
    int64_t (*source_lost)(gale_collector *out, bool (*is_lost)(void *user, uint64_t message_id), void *user);
    bool (*part_is_full)(gale_collector *out);
    uint64_t (*room)(gale_collector *out);
    const gale_body *(*ahead)(gale_collector *out, uint32_t distance);
} gale_collector_ops;

struct gale_collector {
    const gale_collector_ops *ops;
};

/* Emits to output `stream` (its index in the component's outputs). A bolt's tuple is anchored to the tuple in
 * execution; a spout's is not tracked. `values` are borrowed for the call and must be as many as the declared fields.
 * Emitting never blocks and never runs another component. Returns how many tasks it goes to, or GALE_FIELDS,
 * GALE_NOT_FOUND (no such stream), GALE_INVALID (a value is not valid), GALE_TOO_LARGE, GALE_NO_MEMORY: then nothing
 * was emitted, and the anchors are marked, so that their ack counts as a fail; and GALE_STOPPED when the task's executor
 * closes (in `close` and `cleanup`, in `deactivate` at a stop): nobody would execute or answer it. So for all that emit
 * or answer. */
GALE_INLINE int gale_emit(gale_collector *out, uint32_t stream, const gale_value *values, size_t count) {
    GALE_ASSERT(out && (values || !count));
    return out->ops->emit(out, stream, values, count);
}

/* The same, anchored to the given tuples: none, one or many; the same twice is legal. GALE_SETTLED when one of them has
 * been answered, GALE_INVALID for one that is no tuple of this task's, GALE_TOO_LARGE for more than there can be: nothing
 * was emitted. For bolts. */
GALE_INLINE int gale_emit_anchored(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                                   const gale_handle *anchors, size_t anchor_count) {
    GALE_ASSERT(out && (values || !count));
    return out->ops->emit_anchored(out, stream, values, count, anchors, anchor_count);
}

/* The same, anchored to nothing. For bolts. */
GALE_INLINE int gale_emit_unanchored(gale_collector *out, uint32_t stream, const gale_value *values, size_t count) {
    GALE_ASSERT(out && (values || !count));
    return out->ops->emit_anchored(out, stream, values, count, NULL, 0);
}

/* The same, and opens a tree: `ack` or `fail` of the spout will be called with `message_id` exactly once, later, never
 * from inside this call. Message ids need not be unique. For spouts. Also GALE_AGAIN, when no more trees can be
 * open. */
GALE_INLINE int gale_emit_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                                  uint64_t message_id) {
    GALE_ASSERT(out && (values || !count));
    return out->ops->emit_tracked(out, stream, values, count, message_id);
}

/* gale_emit for `rows` tuples in one call: `values` has `count` for the first, then `count` for the second, and so on. In
 * order, until one cannot be emitted: returns GALE_OK or that one's code; what comes behind it is not tried. `*emitted`
 * (may be NULL) says how many were, also where an error is returned. With no rows there is nothing to refuse: GALE_OK.
 * GALE_INVALID for a NULL where something must be. A collector that has no such function emits one after the other. */
GALE_API int gale_emit_many(gale_collector *out, uint32_t stream, const gale_value *values, size_t count, size_t rows,
                            size_t *emitted);

/* The same for gale_emit_tracked, each with a message id of its own, so many as `rows`. GALE_AGAIN says that those behind
 * the first `*emitted` are to be tried later. The trees of one call begin at the same time. Max spout pending is looked at
 * between calls of `next`: all that one emits is emitted. gale_room says how many do not exceed it. */
GALE_API int gale_emit_many_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                                    size_t rows, const uint64_t *message_ids, size_t *emitted);

/* gale_emit to one task that the emitter chooses, and then gale_emit_anchored and gale_emit_tracked. Its component must have subscribed to the stream with direct
 * grouping: GALE_NOT_FOUND otherwise, where Storm drops the tuple or crashes. A stream that somebody takes directly
 * does not allow the calls above: GALE_STATE. */
GALE_INLINE int gale_emit_direct(gale_collector *out, uint32_t task, uint32_t stream, const gale_value *values,
                                 size_t count) {
    GALE_ASSERT(out && (values || !count));
    return out->ops->emit_direct(out, task, stream, values, count);
}

/* As gale_emit_direct and gale_emit_anchored. */
GALE_INLINE int gale_emit_direct_anchored(gale_collector *out, uint32_t task, uint32_t stream, const gale_value *values,
                                          size_t count, const gale_handle *anchors, size_t anchor_count) {
    GALE_ASSERT(out && (values || !count));
    return out->ops->emit_direct_anchored(out, task, stream, values, count, anchors, anchor_count);
}

/* As gale_emit_direct and gale_emit_tracked. */
GALE_INLINE int gale_emit_direct_tracked(gale_collector *out, uint32_t task, uint32_t stream, const gale_value *values,
                                         size_t count, uint64_t message_id) {
    GALE_ASSERT(out && (values || !count));
    return out->ops->emit_direct_tracked(out, task, stream, values, count, message_id);
}

/* Answers a tuple. A simple bolt's input is answered for it when execute returns. A second answer is GALE_SETTLED,
 * counted and without effect. */
GALE_INLINE int gale_ack(gale_collector *out, gale_handle tuple) {
    GALE_ASSERT(out);
    return out->ops->ack(out, tuple);
}

/* `text` (may be NULL) is copied, up to GALE_FAILURE_TEXT bytes, and reaches the spout. `reason` is one of gale_reason but
 * GALE_REASON_STOPPED and GALE_REASON_SOURCE_LOST, which are not a bolt's to say, or GALE_REASON_USER or above. Any other number (negative, or
 * between GALE_REASON_COUNT and GALE_REASON_USER) is GALE_INVALID, counted: the tuple is not answered, but marked like the
 * anchor of an emit that failed, so that its ack counts as a fail. */
enum { GALE_FAILURE_TEXT = 200 };
GALE_INLINE int gale_fail(gale_collector *out, gale_handle tuple, int32_t reason, const char *text) {
    GALE_ASSERT(out);
    return out->ops->fail(out, tuple, reason, text);
}

/* Says: never again. Each tree of the tuple ends, `rejected`, and is not emitted again where replay is configured. */
GALE_INLINE int gale_reject(gale_collector *out, gale_handle tuple, const char *text) {
    GALE_ASSERT(out);
    return out->ops->fail(out, tuple, GALE_REASON_REJECTED, text);
}

/* Keeps the tuple in execution beyond execute. The task now owes the answer; until it is given, `*ret_held` names the
 * tuple and gale_held reads it. GALE_SETTLED for another tuple than that, GALE_INVALID without `ret_held`, GALE_NO_MEMORY:
 * all is as it was. */
GALE_INLINE int gale_tuple_hold(gale_collector *out, gale_handle tuple, gale_handle *ret_held) {
    GALE_ASSERT(out);
    return out->ops->hold(out, tuple, ret_held);
}

/* The held tuple, or NULL when it has been answered. Valid until it is answered. */
GALE_INLINE const gale_tuple *gale_held(gale_collector *out, gale_handle tuple) {
    GALE_ASSERT(out);
    return out->ops->held(out, tuple);
}

/* The timeouts of the trees that the tuple (in execution, or held) belongs to begin anew: for work that takes longer than
 * topology.message.timeout.secs. GALE_SETTLED when it has been answered. */
GALE_INLINE int gale_reset_timeout(gale_collector *out, gale_handle tuple) {
    GALE_ASSERT(out);
    return out->ops->reset_timeout(out, tuple);
}

/* For a bolt that works on tuples beyond execute, and has as much as it wants: as long as it says so, it counts as congested, as one whose
 * queue is full does. Those who feed it are not run; what waits for it already still comes. To be taken back by a function of its own that is called without a
 * tuple: a watch's (gale/watch.h). GALE_STATE for a spout; GALE_STOPPED at the end; GALE_UNSUPPORTED where nobody could be held back. */
GALE_INLINE int gale_congest(gale_collector *out, bool congested) {
    GALE_ASSERT(out);
    bool has = out->ops->size >= offsetof(gale_collector_ops, congest) + sizeof out->ops->congest;
    return has && out->ops->congest ? out->ops->congest(out, congested) : GALE_UNSUPPORTED;
}

/* --- Emitting in parts ---
 *
 * A call that emits an amount without a small bound (all keys of a window, all events that have waited) emits it in parts:
 *
 *      while (has_row(bolt)) {
 *          rc = emit_row(bolt, out);
 *          if (rc < 0) return rc;
 *          if (has_row(bolt) && gale_part_is_full(out)) return GALE_MORE;
 *      }
 *
 * After GALE_MORE, `execute` and `execute_batch` are called again with the same tuple, the last that was taken, and
 * `finish` is called again. The next call comes when nothing that the bolt feeds is congested, and before the task
 * executes anything behind the tuple. The tuple is not answered in between: a simple bolt's is acked after its last call,
 * and what all calls have emitted is anchored to it. Its timeout goes on. It has another handle in each call.
 *
 * The bolt keeps in its own structure how far it has come. A checkpoint may be cut between two parts: `save` writes what is
 * left to emit, and after `restore` the tuple comes again, before all that waited behind it. A tick does so only with the
 * same number of tasks; else the bolt goes on at its next call.
 *
 * GALE_MORE from a bolt that has answered or held the tuple, or has failed to emit something anchored to it, ends the
 * emission: the tuple does not come again. So does the last of GALE_PARTS_BARREN calls in a row that emitted nothing: the
 * tuple fails with GALE_COMPONENT. Other functions cannot return it: from `flush` it is GALE_INVALID, as from `next`. */
enum {
    GALE_MORE = 1 << 30,         /* no number of tasks, which an emit returns */
    GALE_PART_ROWS = 256,        /* rows of a part, at most */
    GALE_PARTS_BARREN = 1 << 20, /* calls that return GALE_MORE and emit nothing, in a row */
};

/* Has the call emitted a part? To be asked once after each row, or after each piece of work that may emit none. True when
 * it was asked GALE_PART_ROWS times since the call began (of `execute`: since the batch of tuples began), and earlier when
 * something that the task feeds is congested. For `execute`, `execute_batch` and `finish`. False where the component is run
 * by something that does not know of parts: the call then emits all. */
GALE_INLINE bool gale_part_is_full(gale_collector *out) {
    GALE_ASSERT(out);
    bool has = out->ops->size >= offsetof(gale_collector_ops, part_is_full) + sizeof out->ops->part_is_full;
    return has && out->ops->part_is_full && out->ops->part_is_full(out);
}

/* The values of a tuple that comes behind the one in execution, from the same stream, for a bolt that fetches early what it will
 * look up: the next one for `distance` 1. NULL when it is not known yet, when it does not lie beside this one, or where
 * nothing knows it: a hint, which promises nothing. Borrowed until `execute` returns, or the next tuple of a batch is taken. */
GALE_INLINE const gale_body *gale_ahead(gale_collector *out, uint32_t distance) {
    GALE_ASSERT(out);
    bool has = out->ops->size >= offsetof(gale_collector_ops, ahead) + sizeof out->ops->ahead;
    return has && out->ops->ahead ? out->ops->ahead(out, distance) : NULL;
}

/* Says in words what went wrong: logged, counted, and the text of the failure if this call of execute returns an
 * error. */
GALE_INLINE void gale_report(gale_collector *out, const char *text) {
    GALE_ASSERT(out);
    out->ops->report(out, text);
}

/* Says in words that the task is not well, as when its server is away: for gale_runtime_unwell, and logged when the words
 * change. They are copied, up to GALE_FAILURE_TEXT bytes. `text` NULL: it is well again. Changes nothing else. */
GALE_INLINE void gale_health(gale_collector *out, const char *text) {
    GALE_ASSERT(out);
    bool has = out->ops->size >= offsetof(gale_collector_ops, health) + sizeof out->ops->health;
    if (has && out->ops->health) out->ops->health(out, text);
}

/* How many trees of this spout task are open. */
GALE_INLINE uint64_t gale_pending(gale_collector *out) {
    GALE_ASSERT(out);
    return out->ops->pending(out);
}

/* How many trees this call of `next` may begin, at least 1: what max spout pending and the task's turn leave. A spout that emits
 * many a call (gale_emit_many_tracked) emits no more, since both are looked at between calls only. 1 where the component is
 * run by something that does not know of it, and outside of `next`. */
GALE_INLINE uint64_t gale_room(gale_collector *out) {
    GALE_ASSERT(out);
    bool has = out->ops->size >= offsetof(gale_collector_ops, room) + sizeof out->ops->room;
    uint64_t room = has && out->ops->room ? out->ops->room(out) : 1;
    return room ? room : 1;
}

/* For a spout whose tuples come from where each has an answer of its own, as a connection: what came from there is
 * nothing's any more. Every open tree of this task for which `is_lost` says so, of its message id (NULL: every one), has
 * failed for GALE_REASON_SOURCE_LOST, of which `fail` hears later. It is not emitted again and is no dead letter, whatever
 * is configured: its source gives it again, or to somebody else. Its tuples go on, and their answers are of nothing. A
 * tuple that waits to be emitted again is not open. `is_lost` may call nothing of the collector. Looks at all trees that
 * are open on the executor. Returns how many are lost; GALE_STATE for a bolt, GALE_UNSUPPORTED where nothing does it. */
typedef bool gale_is_lost_fn(void *user, uint64_t message_id);
GALE_INLINE int64_t gale_source_lost(gale_collector *out, gale_is_lost_fn *is_lost, void *user) {
    GALE_ASSERT(out);
    bool has = out->ops->size >= offsetof(gale_collector_ops, source_lost) + sizeof out->ops->source_lost;
    if (!has || !out->ops->source_lost) return GALE_UNSUPPORTED;
    return out->ops->source_lost(out, is_lost, user);
}

/* Asks the whole runtime to stop, because the work cannot go on (a full disk, a closed pipe): the first such call's
 * negative `code` and `text` are what gale_runtime_wait returns. The current call goes on as usual. */
GALE_INLINE void gale_stop(gale_collector *out, int code, const char *text) {
    GALE_ASSERT(out);
    out->ops->stop(out, code, text);
}

/* For a spout, in `open`: says that it keeps its place by itself, so that a later run begins where this one ends. A run that is
 * not durable then warns of components behind it that keep something (gale/state.h): they begin empty each time. */
GALE_INLINE void gale_remember(gale_collector *out) {
    GALE_ASSERT(out);
    bool has = out->ops->size >= offsetof(gale_collector_ops, remember) + sizeof out->ops->remember;
    if (has && out->ops->remember) out->ops->remember(out);
}

/* For a spout, in `open`: says that it goes on from where an earlier run stopped, so that what that run wrote is the
 * first part of what this one writes. It remembers its place, too (gale_remember). */
GALE_INLINE void gale_resume(gale_collector *out) {
    GALE_ASSERT(out);
    out->ops->resume(out);
    gale_remember(out);
}

/* Has a spout of this run said so? A bolt that would begin its output anew goes on with it then. To be asked once
 * everything is open: in execute, flush and finish, not in prepare. Also true while a spout says "not now", and could say so
 * still. */
GALE_INLINE bool gale_resumed(gale_collector *out) {
    GALE_ASSERT(out);
    return out->ops->resumed(out);
}

/* --- Spouts ------------------------------------------------------------------------------------------------------- */

/* What `next` returns, apart from negative error codes. */
typedef enum gale_next {
    GALE_NEXT_EMITTED,  /* there may be more at once */
    GALE_NEXT_NOTHING,  /* nothing now; ask again soon */
    GALE_NEXT_UNTIL,    /* nothing before wait->until (the context's clock) */
    GALE_NEXT_READABLE, /* nothing before the descriptor wait->fd is readable, or, unless it is 0, before wait->until */
    GALE_NEXT_DONE,     /* nothing more, unless one of my tuples fails, or a watch of mine is told: then ask again */
    GALE_NEXT_WATCHED /* nothing before a watch of mine was told (gale/watch.h), or, unless it is 0, before wait->until */
} gale_next;

typedef struct gale_wait {
    int64_t until;
    int32_t fd;
} gale_wait;

/* Only `next` must be there. `open` makes the task's instance; without it the instance is `user`.
 *
 * `open`, and a bolt's `prepare`, may return GALE_AGAIN for "not now": what it needs is away. The run begins without the task,
 * which is asked again after a pause of 0.1 s that doubles up to 30 s, a quarter more or less; meanwhile it is not well
 * (gale_runtime_unwell), in the words of its gale_report; what comes for it waits, and flow control holds who feeds it. What
 * it has made it frees before, as with any error; its watches and states go by themselves. With `gale.required: true` the start
 * fails instead. A durable run begins when all are open.
 *
 * `ack_batch` is told of many acked tuples in one call, in the order in which `ack` would be, and of a single one with
 * a count of 1; the ids are borrowed for the call. A spout that has it is told by it alone: it needs no `ack`. How many
 * come together is the engine's to choose, never 0. */
typedef struct gale_spout_ops {
    size_t size;
    const char *name;
    int (*open)(void *user, const gale_context *context, gale_collector *out, void **ret_self);
    void (*activate)(void *self);
    int (*next)(void *self, gale_collector *out, gale_wait *wait);
    void (*ack)(void *self, uint64_t message_id);
    void (*fail)(void *self, uint64_t message_id, const gale_failure *failure);
    void (*deactivate)(void *self);
    void (*close)(void *self);
    void (*ack_batch)(void *self, const uint64_t *message_ids, size_t count);
    const struct gale_durable_ops *durable; /* what it keeps beyond the process (gale/state.h); NULL: it does not say */
} gale_spout_ops;

/* --- Bolts -------------------------------------------------------------------------------------------------------- */

typedef enum gale_bolt_kind {
    GALE_BOLT_SIMPLE, /* the input is acked when execute returns 0 (and flush, if there is one), failed when it returns an
                         error; `execute_batch` settles one when it takes the next */
    GALE_BOLT_MANUAL /* the bolt answers each input itself, at once or later */
} gale_bolt_kind;

/* The tuples that one call of `execute_batch` is given. Made by whoever runs components, and good for that call and its
 * thread. Call gale_batch_next instead. */
typedef struct gale_batch {
    size_t size;
    const gale_tuple *(*next)(struct gale_batch *tuples);
} gale_batch;

/* The next tuple, which is in execution from then on, or NULL when there are no more now: those that were not reached
 * come with a later call. The tuple before is settled as if `execute` had returned 0 for it, and is not to be read any
 * more: the view that was returned is filled with the next one, so that a pointer that was kept names another tuple. */
GALE_INLINE const gale_tuple *gale_batch_next(gale_batch *tuples) {
    GALE_ASSERT(tuples);
    return tuples->next(tuples);
}

/* `execute` or `execute_batch` must be there; with both, all tuples and ticks come to `execute_batch`. An error that this
 * returns fails the tuple that was taken last; those that were not taken come with the next call. A call that takes none
 * fails the first. Before the first is taken and after NULL nothing is in execution: what is emitted then is not tracked.
 *
 * `prepare` makes the task's instance; without it the instance is `user`. `finish` is
 * called when everything before this bolt has drained, once, and again after each GALE_MORE; it may emit (its tuples are
 * not tracked), and answer what the bolt holds. What is emitted or answered in `cleanup` is refused: GALE_STOPPED.
 *
 * `flush` is for bolts that gather what they are given, to write or emit it in one go. It is called when `execute` was,
 * after all that was there to execute and before the executor looks for more: at a low rate after each tuple, at a high
 * one after thousands, so that nothing waits for a tick or for more to come. A simple bolt that has it is answered for
 * by it: the tuples since the last flush are acked when it returns 0, and failed when it returns an error, except where
 * the run is to stop (gale_stop): then they are left open, and their spouts hear `stopped`. What execute failed stays
 * failed. A manual bolt answers there what it holds; an error is reported and answers nothing. What a flush emits is not
 * tracked, or anchored to held tuples (gale_emit_anchored).
 *
 * `drain` is for bolts that hold tuples because more may come: lines of an event, rows of a batch. It is called while
 * a run drains (its spouts are done, or it was asked to), when nothing moves any more and the task holds something:
 * what it waits for does not come. It then emits, sends or answers what it holds, at most some dozens of rows in a
 * call: it is called again as long as that gets on. Components are asked in their order, so that what one emits
 * reaches the next before that is asked. Tuples that fail and are emitted again may follow, and then another call.
 * Nothing is in execution; an error is reported and answers nothing.
 *
 * `reopen` is for bolts that write to files which somebody may rename: it is called between two calls when they were
 * (gale_runtime_reopen), and the bolt opens them again by their names. An error is logged, counted, and changes nothing else. */
typedef struct gale_bolt_ops {
    size_t size;
    const char *name;
    int32_t kind;
    int (*prepare)(void *user, const gale_context *context, gale_collector *out, void **ret_self);
    int (*execute)(void *self, const gale_tuple *tuple, gale_collector *out);
    int (*finish)(void *self, gale_collector *out);
    void (*cleanup)(void *self);
    int (*flush)(void *self, gale_collector *out);
    int (*execute_batch)(void *self, gale_batch *tuples, gale_collector *out);
    const struct gale_durable_ops *durable; /* what it keeps beyond the process (gale/state.h); NULL: it does not say */
    int (*reopen)(void *self, gale_collector *out); /* gale_runtime_reopen */
    int (*drain)(void *self, gale_collector *out);
} gale_bolt_ops;

/* --- What a topology is given ------------------------------------------------------------------------------------- */

/* An output stream: its name (NULL: "default") and its fields, separated by commas: "word, count". */
typedef struct gale_output {
    const char *stream;
    const char *fields;
} gale_output;

/* A key of the component's own configuration. */
typedef struct gale_setting {
    const char *key;
    gale_value value;
} gale_setting;

/* A configured component, ready to be added to a topology. `user` goes to open or prepare of every task, and is freed
 * with `free_user` (may be NULL) when the topology is freed, or when adding it fails. Everything else is copied when it
 * is added. */
typedef struct gale_spout {
    size_t size;
    const gale_spout_ops *ops;
    void *user;
    void (*free_user)(void *user);
    const gale_output *outputs;
    size_t output_count;
    const gale_setting *settings;
    size_t setting_count;
} gale_spout;

typedef struct gale_bolt {
    size_t size;
    const gale_bolt_ops *ops;
    void *user;
    void (*free_user)(void *user);
    const gale_output *outputs;
    size_t output_count;
    const gale_setting *settings;
    size_t setting_count;
} gale_bolt;

GALE_END

#endif
