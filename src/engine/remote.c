#include "engine/remote.h"

#include "engine/inbox.h"

#include <stdlib.h>

typedef struct remote {
    gale_remote face; /* first: what the application has */
    gx_inbox *inbox;
    gx_atomic64 *held; /* the task's; there while the inbox is open */
    uint16_t task;
    bool is_spout;
    struct remote *before; /* among those that were closed */
} remote;

static remote *inside(gale_remote *face) {
    return (remote *)face;
}

/* --- Any thread --- */

#if defined(GALE_CHECKS) && GALE_CHECKS >= 1

/* A remote that was closed is kept, so that who goes on using it is told. */
static void closed_close(gale_remote *face) {
    (void)face;
}

static int closed_emit(gale_remote *face, uint32_t stream, const gale_value *values, size_t count,
                       const gale_handle *anchors, size_t anchor_count) {
    (void)face, (void)stream, (void)values, (void)count, (void)anchors, (void)anchor_count;
    return GALE_INVALID;
}

static int closed_emit_tracked(gale_remote *face, uint32_t stream, const gale_value *values, size_t count,
                               uint64_t message_id) {
    (void)face, (void)stream, (void)values, (void)count, (void)message_id;
    return GALE_INVALID;
}

static int closed_ack(gale_remote *face, gale_handle tuple) {
    (void)face, (void)tuple;
    return GALE_INVALID;
}

static int closed_fail(gale_remote *face, gale_handle tuple, int32_t reason, const char *text) {
    (void)face, (void)tuple, (void)reason, (void)text;
    return GALE_INVALID;
}

static void forget(remote *r) {
    static const gale_remote_ops ops = { sizeof ops,          closed_close, closed_emit,
                                         closed_emit_tracked, closed_ack,   closed_fail };
    static _Atomic(remote *) closed; /* the last one */
    remote *before = gx_load_relaxed(&closed);
    r->face.ops = &ops;
    do r->before = before;
    while (!gx_cas_relaxed(&closed, &before, r));
}

#else

static void forget(remote *r) {
    free(r);
}

#endif

static void do_close(gale_remote *face) {
    gx_inbox_release(inside(face)->inbox);
    forget(inside(face));
}

static gx_inbox_name queue_of(const remote *r) {
    return r->is_spout ? GX_INBOX_SPOUTS : GX_INBOX_BOLTS;
}

static int do_emit(gale_remote *face, uint32_t stream, const gale_value *values, size_t count,
                   const gale_handle *anchors, size_t anchor_count) {
    remote *r = inside(face);
    if ((!values && count) || (!anchors && anchor_count)) return GALE_INVALID;
    if (anchor_count > GX_BODY_MAX / sizeof *anchors) return GALE_TOO_LARGE;
    gx_command head = {
        .task = r->task, .kind = GX_COMMAND_EMIT, .stream = stream, .anchor_count = (uint32_t)anchor_count
    };
    const gx_command_content what = { .anchors = anchors, .values = values, .count = count };
    return gx_inbox_put(r->inbox, queue_of(r), head, &what, r->held);
}

static int do_emit_tracked(gale_remote *face, uint32_t stream, const gale_value *values, size_t count,
                           uint64_t message_id) {
    remote *r = inside(face);
    if (!r->is_spout) return GALE_STATE;
    if (!values && count) return GALE_INVALID;
    gx_command head = { .task = r->task, .kind = GX_COMMAND_TRACKED, .stream = stream, .id = message_id };
    const gx_command_content what = { .values = values, .count = count };
    return gx_inbox_put(r->inbox, GX_INBOX_SPOUTS, head, &what, r->held);
}

static int do_ack(gale_remote *face, gale_handle tuple) {
    remote *r = inside(face);
    gx_command head = { .task = r->task, .kind = GX_COMMAND_ACK, .id = tuple };
    return gx_inbox_put(r->inbox, GX_INBOX_BOLTS, head, &(gx_command_content){ 0 }, r->held);
}

static int do_fail(gale_remote *face, gale_handle tuple, int32_t reason, const char *text) {
    remote *r = inside(face);
    if (!gx_reason_is_valid(reason)) return GALE_INVALID;
    gx_command head = { .task = r->task, .kind = GX_COMMAND_FAIL, .id = tuple, .reason = reason };
    const gx_command_content what = { .text = text ? text : "" };
    return gx_inbox_put(r->inbox, GX_INBOX_BOLTS, head, &what, r->held);
}

int gx_remote_open(gale_collector *out, gale_remote **ret_remote) {
    static const gale_remote_ops ops = { sizeof ops, do_close, do_emit, do_emit_tracked, do_ack, do_fail };
    gx_task *task = (gx_task *)out;
    if (!ret_remote) return GALE_INVALID;
    remote *r = malloc(sizeof *r);
    if (!r) return GALE_NO_MEMORY;
    *r = (remote){ { &ops }, task->executor->inbox, &task->counters.held, task->id, task->is_spout, NULL };
    gx_inbox_ref(r->inbox);
    *ret_remote = &r->face;
    return GALE_OK;
}
