#include "engine/remote.h"

#include "base/assert.h"
#include "base/mutant.h"
#include "engine/turn.h"

#include <stdlib.h>

enum { COMMANDS_A_STEP = 1024 };

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

/* --- The executor's thread --- */

static void tell_failure(gx_executor *ex, gx_task *task, uint64_t message_id, int32_t reason, const char *text) {
    GX_CHECK(task->is_spout);
    const gale_spout_ops *ops = &task->plan->built->spout;
    gale_failure failure = { .size = sizeof failure, .reason = reason, .text = text };
    gx_count(&task->counters.failed, 1);
    gx_turn_begin(ex, task);
    if (ops->fail) ops->fail(task->self, message_id, &failure);
    gx_turn_end(ex);
}

static void emit(gx_executor *ex, gx_task *task, gx_inbox_name queue, const gx_command *command) {
    const gale_value *values = gx_command_values(ex->inbox, queue, command);
    const gale_collector_ops *ops = task->out.ops;
    if (command->kind == GX_COMMAND_EMIT) {
        (void)ops->emit_anchored(&task->out, command->stream, values, command->value_count, gx_command_anchors(command),
                                 command->anchor_count);
        return;
    }
    int rc = ops->emit_tracked(&task->out, command->stream, values, command->value_count, command->id);
    if (rc < 0)
        tell_failure(ex, task, command->id, rc == GALE_NO_MEMORY ? GALE_REASON_NO_MEMORY : GALE_REASON_FAILED,
                     gale_error_text(rc));
}

static void carry_out(gx_executor *ex, gx_task *task, gx_inbox_name queue, const gx_command *command) {
    GX_CHECK(task->executor == ex);
    if (GX_UNLIKELY(!task->open)) { /* its `open` said "not now", and left a remote behind: nobody is there to hear */
        gx_count(&task->counters.misused, 1);
        return;
    }
    switch (command->kind) {
    case GX_COMMAND_ACK: (void)task->out.ops->ack(&task->out, command->id); break;
    case GX_COMMAND_FAIL:
        (void)task->out.ops->fail(&task->out, command->id, command->reason, gx_command_body(command));
        break;
    default: emit(ex, task, queue, command); break;
    }
}

static bool may_carry_out(gx_executor *ex, const gx_task *task, const gx_command *command) {
    gx_executor_check_gates(ex);
    if (GX_UNLIKELY(!task->open)) return true;
    if (command->kind == GX_COMMAND_ACK || command->kind == GX_COMMAND_FAIL)
        return gx_cut_stage_of(ex->cut.seen) < GX_CUT_STOP;
    /* When the topology drains, what was taken before is still emitted. */
    bool active = task->spout.active || gx_phase(ex->shared) == GALE_PHASE_DRAINING;
    if (task->is_spout && (!active || task->spout.pending >= task->spout.max_pending)) return false;
    return !ex->gated[task->component];
}

static size_t run_queue(gx_executor *ex, gx_inbox_name queue) {
    size_t done = 0;
    const gx_command *command;
    while (done < COMMANDS_A_STEP && (command = gx_inbox_peek(ex->inbox, queue)) != NULL) {
        gx_task *task = ex->shared->tasks[command->task];
        if (!may_carry_out(ex, task, command)) break;
        carry_out(ex, task, queue, command);
        gx_inbox_done(ex->inbox, queue, command);
        done++;
    }
    return done;
}

size_t gx_remote_run(gx_executor *ex) {
    size_t done = run_queue(ex, GX_INBOX_BOLTS) + run_queue(ex, GX_INBOX_SPOUTS);
    gx_turn_end(ex);
    return done;
}

void gx_remote_close(gx_executor *ex) {
    gx_inbox_close(ex->inbox);
    const gx_command *command;
    while ((command = gx_inbox_peek(ex->inbox, GX_INBOX_SPOUTS)) != NULL) {
        gx_task *task = ex->shared->tasks[command->task];
        if (command->kind == GX_COMMAND_TRACKED && task->open && !GX_MUTANT(command_untold))
            tell_failure(ex, task, command->id, GALE_REASON_STOPPED, "the run ended first");
        gx_inbox_done(ex->inbox, GX_INBOX_SPOUTS, command);
    }
}
