#include "engine/remote_run.h"

#include "base/assert.h"
#include "base/mutant.h"
#include "engine/collector.h"
#include "engine/replay.h"
#include "engine/turn.h"
#include "tuple/flat.h"

enum { COMMANDS_A_STEP = 1024 };

static void tell_failure(gx_executor *ex, gx_task *task, uint64_t message_id, int32_t reason, const char *text) {
    GX_CHECK(task->is_spout);
    const gale_spout_ops *ops = &task->plan->built->spout;
    gale_failure failure = { .size = sizeof failure, .reason = reason, .text = text };
    gx_count(&task->counters.failed, 1);
    gx_turn_begin(ex, task);
    if (ops->fail) ops->fail(task->self, message_id, &failure);
    gx_turn_end(ex);
}

/* By the values, to a collector that is not the engine's own (the simulator sees what remotes command), and what is brief: the
 * short way is shorter than what a copy saves. */
static int emit_values(gx_task *task, const gx_command *command, const gx_emission *e) {
    const gale_collector_ops *ops = task->out.ops;
    gx_executor *ex = task->executor;
    if (e->count > ex->scratch.value_capacity) return GALE_FIELDS;
    const gale_value *values = e->count ? gx_emit_values_of(ex, e->body, e->count) : NULL;
    if (e->message_id) return ops->emit_tracked(&task->out, e->stream, values, e->count, *e->message_id);
    return ops->emit_anchored(&task->out, e->stream, values, e->count, gx_command_anchors(command),
                              command->anchor_count);
}

static bool is_brief(const gx_emission *e) {
    return e->message_id && e->count == 1 && e->body_size <= GX_FLAT_BRIEF;
}

static int emit_body(gx_task *task, const gx_command *command, const gx_emission *e) {
    if (e->message_id) return gx_collector_emit_tree(task, e);
    return gx_collector_emit_anchored(task, e, gx_command_anchors(command), command->anchor_count);
}

/* Its body is encoded: it was, on the thread that emitted it. */
static void emit(gx_executor *ex, gx_task *task, const gx_command *command) {
    gx_emission e = { .stream = command->stream };
    if (command->body_size) e = gx_emission_of(command->stream, gx_command_body(command), command->body_size);
    if (command->kind == GX_COMMAND_TRACKED) e.message_id = &command->id;
    bool by_values = !e.body || is_brief(&e) || task->out.ops != gx_collector_ops();
    int rc = by_values ? emit_values(task, command, &e) : emit_body(task, command, &e);
    if (e.message_id && rc < 0)
        tell_failure(ex, task, command->id, rc == GALE_NO_MEMORY ? GALE_REASON_NO_MEMORY : GALE_REASON_FAILED,
                     gale_error_text(rc));
}

/* Nobody but the engine hears how it ends. */
static void emit_letter(gx_task *task, const gx_command *command) {
    gx_emission e = { .stream = command->stream };
    if (command->body_size) e = gx_emission_of(command->stream, gx_command_body(command), command->body_size);
    e.message_id = &command->id;
    gx_replay_letter(task, &e);
}

static void carry_out(gx_executor *ex, gx_task *task, const gx_command *command) {
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
    case GX_COMMAND_LETTER: emit_letter(task, command); break;
    default: emit(ex, task, command); break;
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
        carry_out(ex, task, command);
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
