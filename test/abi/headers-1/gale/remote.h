/* gale/remote.h: a task's collector, for the application's other threads.
 *
 * What:    a component opens a remote from its collector and hands it to other threads: a client's callback thread, a
 *          pool of workers. Their calls become commands in a bounded inbox of the task's executor, which carries them
 *          out on its own thread, in the order in which they were given. What a command does is what the call of the
 *          same name in gale/component.h does; its own errors are counted there (a second answer, values that do not
 *          fit), or, for a tracked tuple, told to the spout as a failure.
 * Threads: any, at the same time, for every function but gale_remote_open, which is the task's own thread's.
 * Owner:   each gale_remote_open has its gale_remote_close. A remote may outlive the runtime: then every call says
 *          GALE_STOPPED.
 * Errors:  GALE_AGAIN: the inbox is full, nothing happened, try again; or the runtime drains, and the bolt holds nothing
 *          that could be answered, or emitted for. GALE_STOPPED: the runtime has ended or, for a spout's tuple,
 *          drains. GALE_INVALID, GALE_TOO_LARGE: a value, or a reason. GALE_NO_MEMORY.
 * Misuse:  the inline functions assert only: `out`. All else is checked: no remote is GALE_INVALID; with GALE_CHECKS one
 *          that was closed, too.
 * Limits:  GALE_REMOTE_INBOX bytes of commands wait for an executor; one larger than that is taken when nothing waits.
 */
#ifndef GALE_REMOTE_H
#define GALE_REMOTE_H

#include <gale/component.h>

GALE_BEGIN

enum { GALE_REMOTE_INBOX = 512 << 10 };

/* Filled by whoever runs components. Call the functions below instead. */
typedef struct gale_remote_ops {
    size_t size;
    void (*close)(gale_remote *remote);
    int (*emit)(gale_remote *remote, uint32_t stream, const gale_value *values, size_t count,
                const gale_handle *anchors, size_t anchor_count);
    int (*emit_tracked)(gale_remote *remote, uint32_t stream, const gale_value *values, size_t count,
                        uint64_t message_id);
    int (*ack)(gale_remote *remote, gale_handle tuple);
    int (*fail)(gale_remote *remote, gale_handle tuple, int32_t reason, const char *text);
} gale_remote_ops;

struct gale_remote {
    const gale_remote_ops *ops;
};

/* A remote for the task of this collector. GALE_NO_MEMORY, GALE_INVALID. */
GALE_INLINE int gale_remote_open(gale_collector *out, gale_remote **ret_remote) {
    GALE_ASSERT(out);
    return out->ops->remote(out, ret_remote);
}

/* NULL is allowed. */
GALE_INLINE void gale_remote_close(gale_remote *remote) {
    if (remote) remote->ops->close(remote);
}

/* Emits anchored to tuples that the task holds (gale_tuple_hold): none, one or many. A bolt's tuple, or one of a
 * spout's that is not tracked. */
GALE_INLINE int gale_remote_emit(gale_remote *remote, uint32_t stream, const gale_value *values, size_t count,
                                 const gale_handle *anchors, size_t anchor_count) {
    if (!remote) return GALE_INVALID;
    return remote->ops->emit(remote, stream, values, count, anchors, anchor_count);
}

/* Emits a spout's tracked tuple. It waits in the inbox while the spout is held, inactive, or at its
 * topology.max.spout.pending. Once this returns 0, `ack` or `fail` of the spout is called exactly once. */
GALE_INLINE int gale_remote_emit_tracked(gale_remote *remote, uint32_t stream, const gale_value *values, size_t count,
                                         uint64_t message_id) {
    if (!remote) return GALE_INVALID;
    return remote->ops->emit_tracked(remote, stream, values, count, message_id);
}

/* Answers a tuple that the task holds. */
GALE_INLINE int gale_remote_ack(gale_remote *remote, gale_handle tuple) {
    if (!remote) return GALE_INVALID;
    return remote->ops->ack(remote, tuple);
}

/* The same: it failed. A reason that gale_fail does not take is GALE_INVALID at once, without effect. */
GALE_INLINE int gale_remote_fail(gale_remote *remote, gale_handle tuple, int32_t reason, const char *text) {
    if (!remote) return GALE_INVALID;
    return remote->ops->fail(remote, tuple, reason, text);
}

GALE_END

#endif
