/* gale/watch.h: descriptors and timers for components.
 *
 * What:    a watch waits for a descriptor, for a time, or for the descriptor until that time. Its function is called between
 *          the tuples of its task, on the task's own thread; the executor's only wait holds all of them, and nothing wakes
 *          without news. So one executor keeps thousands of connections going without a thread of theirs: a bolt holds a
 *          tuple (gale_tuple_hold), asks a server, and answers when the descriptor has told.
 *
 *              gale_watch_new --> waits --it happens--> called --> waits for what it still wants, but for a time: that is told once
 *                                   ^---- gale_watch_set: other events, another time
 *              gale_watch_free, from anywhere in the task, also from its own function; all go before `close` and `cleanup`
 *
 *          A watch of a spout that is held (by flow control, by topology.max.spout.pending, as inactive), and of a bolt that may not
 *          run since what comes behind it is congested, is told of when that is over, like a tuple would be: nobody reads
 *          what he cannot pass on. With `always` it is told all the same, as of a connection that has to be kept alive.
 *          A spout emits from `next` alone: its watches note what there is, and `next`, which is called behind them, emits it.
 *          What a bolt emits from such a function is anchored to the tuples that it names (gale_emit_anchored), or to none.
 * Edges:   what is still readable when the function returns is told again, once a step, others in between. A descriptor that is
 *          to be closed is freed first: of one that was closed nothing more is told, but for its time, and gale_watch_set says
 *          GALE_NOT_FOUND. Another one that got the same number is another one's watch. A file on a disk is always ready,
 *          and cannot be watched. One descriptor has one watch in an executor, which asks for both of its events.
 *          In a durable run nothing is called while a checkpoint is cut; watches are not saved: `open` and `prepare` make them.
 * Threads: the task's. Owner: the task; a descriptor stays the component's, to close.
 * Misuse:  the inline functions assert only: `out`. (What else they are given is checked.)
 * Limits:  GALE_WATCHES_MAX on an executor, and what the system allows (descriptors, fs.epoll.max_user_watches).
 */
#ifndef GALE_WATCH_H
#define GALE_WATCH_H

#include <gale/component.h>

GALE_BEGIN

enum { GALE_WATCHES_MAX = 1 << 20 };

/* Names a watch of a task: never 0, and never that of an earlier one. */
typedef uint64_t gale_watch;

/* What happened, one or more. */
typedef enum gale_watch_event {
    GALE_WATCH_READ = 1,  /* it can be read, also to its end */
    GALE_WATCH_WRITE = 2, /* it can be written to, or a connection is made, or is not: SO_ERROR says */
    GALE_WATCH_TIME = 4,  /* `at` has come; never asked for */
    GALE_WATCH_HANGUP =
        8 /* the other side is gone, or there is an error; never asked for, told with either of the first two */
} gale_watch_event;

/* An error that the function returns is counted, logged with what it reported, and changes nothing else. */
typedef int gale_watch_fn(void *user, gale_collector *out, gale_watch watch, int32_t events);

typedef struct gale_watch_options {
    size_t size;
    int32_t fd;     /* -1: none */
    int32_t events; /* GALE_WATCH_READ, GALE_WATCH_WRITE, or both; 0: none now */
    int64_t at;     /* the context's clock; what has passed comes at once; 0: never */
    bool always;    /* also while the task may not run; while it is open */
    gale_watch_fn *call;
    void *user;
} gale_watch_options;

#define GALE_WATCH_OPTIONS_INIT                                                                                        \
    { sizeof(gale_watch_options), -1, 0, 0, false, NULL, NULL }

/* Makes one, from `open` or `prepare` on until `close` or `cleanup`. GALE_INVALID for options that make no sense (no function,
 * other events, events without a descriptor); GALE_EXISTS when the descriptor has one on this executor; GALE_UNSUPPORTED for a
 * file that is always ready, and where components run without an executor (a test's collector); GALE_IO when the
 * system refuses (a descriptor that is not open, too many), in words by gale_report; GALE_TOO_LARGE; GALE_NO_MEMORY;
 * GALE_STOPPED at the end. */
GALE_INLINE int gale_watch_new(gale_collector *out, const gale_watch_options *options, gale_watch *ret_watch) {
    GALE_ASSERT(out);
    bool has = out->ops->size >= offsetof(gale_collector_ops, watch_free) + sizeof out->ops->watch_free;
    return has && out->ops->watch_new ? out->ops->watch_new(out, options, ret_watch) : GALE_UNSUPPORTED;
}

/* From now on it waits for these events (0: none), and until then (0: for ever). What has happened and was not told is told if it
 * is still wanted. GALE_NOT_FOUND when there is no such watch, or its descriptor was closed; GALE_INVALID. */
GALE_INLINE int gale_watch_set(gale_collector *out, gale_watch watch, int32_t events, int64_t at) {
    GALE_ASSERT(out);
    bool has = out->ops->size >= offsetof(gale_collector_ops, watch_free) + sizeof out->ops->watch_free;
    return has && out->ops->watch_set ? out->ops->watch_set(out, watch, events, at) : GALE_UNSUPPORTED;
}

/* It is told of no more, and its name means nothing any more: GALE_NOT_FOUND, also for 0; GALE_STOPPED at the end, where all are
 * freed already. */
GALE_INLINE int gale_watch_free(gale_collector *out, gale_watch watch) {
    GALE_ASSERT(out);
    bool has = out->ops->size >= offsetof(gale_collector_ops, watch_free) + sizeof out->ops->watch_free;
    return has && out->ops->watch_free ? out->ops->watch_free(out, watch) : GALE_UNSUPPORTED;
}

GALE_END

#endif
