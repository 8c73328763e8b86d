#include "sim/remote.h"

#include "engine/collector.h"
#include "sim/emit.h"

#include <string.h>

enum { BUSY = 32 }; /* commands that wait where an inbox can be full */

typedef struct remote {
    gale_remote face; /* first: what the thread has */
    gale_remote *engine;
    gx_sim *sim;
    uint16_t task;
    bool is_spout;
    const gx_sim_component *component;
    gale_value *values;
    size_t value_capacity;
    gx_buf text;
} remote;

/* --- Putting --- */

static remote *inside(gale_remote *face) {
    return (remote *)face;
}

/* May the inbox refuse it for this reason? What was closed takes nothing; what is drained takes no spout's tuples, for
 * bolts what they hold something for, and nothing once all has finished. */
static bool may_refuse(const remote *r, int rc) {
    const gx_sim *sim = r->sim;
    int32_t phase = sim->runtime ? gx_phase(&sim->runtime->shared) : GALE_PHASE_CLOSED;
    bool holds = sim->runtime && sim->tasks[r->task] && sim->tasks[r->task]->kept_count > 0;
    if (rc == GALE_AGAIN) return sim->book.waiting >= BUSY || (!r->is_spout && !holds && phase >= GALE_PHASE_DRAINING);
    return rc == GALE_STOPPED && phase >= (r->is_spout ? GALE_PHASE_DRAINING : GALE_PHASE_FINISHING);
}

static bool is_closed(const remote *r) {
    const gx_sim_task *task = r->sim->runtime ? r->sim->tasks[r->task] : NULL;
    return !task || task->stage.closed;
}

/* What the inbox said of the next command. */
static int note(remote *r, gx_command_kind kind, uint64_t id, int rc) {
    gx_oracle *oracle = &r->sim->oracle;
    if (rc == GALE_OK && is_closed(r))
        gx_oracle_violated(oracle, "a remote of task %u took a command after its executor had closed", r->task);
    else if (rc == GALE_OK)
        gx_book_taken(&r->sim->book, r->task, kind, id);
    else if (!may_refuse(r, rc))
        gx_oracle_violated(oracle, "a remote of task %u refused a command: %s", r->task, gale_error_text(rc));
    return rc;
}

/* The values with the number of the next command. Returns how many, or 0: memory is out. */
static size_t number(remote *r, uint32_t stream, const gale_value *values, size_t count) {
    if (!gx_grow(&r->sim->heap, GX_TAG_OTHER, &r->values, &r->value_capacity, count + 1, sizeof *r->values)) return 0;
    memcpy(r->values, values, count * sizeof *values);
    if (count == 1 && gx_sim_folds(r->component, stream))
        return gx_sim_number_fold(&r->values[0], r->sim->book.count, &r->text) < 0 ? 0 : 1;
    r->values[count] = gale_i64(r->sim->book.count);
    return count + 1;
}

static int do_emit(gale_remote *face, uint32_t stream, const gale_value *values, size_t count,
                   const gale_handle *anchors, size_t anchor_count) {
    remote *r = inside(face);
    size_t whole = number(r, stream, values, count);
    if (!whole) return GALE_NO_MEMORY;
    return note(r, GX_COMMAND_EMIT, 0, gale_remote_emit(r->engine, stream, r->values, whole, anchors, anchor_count));
}

static int do_emit_tracked(gale_remote *face, uint32_t stream, const gale_value *values, size_t count,
                           uint64_t message_id) {
    remote *r = inside(face);
    size_t whole = number(r, stream, values, count);
    if (!whole) return GALE_NO_MEMORY;
    uint64_t id = GX_BOOK_ID | r->sim->book.count;
    return note(r, GX_COMMAND_TRACKED, message_id, gale_remote_emit_tracked(r->engine, stream, r->values, whole, id));
}

static int do_ack(gale_remote *face, gale_handle tuple) {
    remote *r = inside(face);
    return note(r, GX_COMMAND_ACK, tuple, gale_remote_ack(r->engine, tuple));
}

static int do_fail(gale_remote *face, gale_handle tuple, int32_t reason, const char *text) {
    remote *r = inside(face);
    return note(r, GX_COMMAND_FAIL, tuple, gale_remote_fail(r->engine, tuple, reason, text));
}

static void do_close(gale_remote *face) {
    remote *r = inside(face);
    gx_heap *heap = &r->sim->heap;
    gale_remote_close(r->engine);
    gx_buf_fini(&r->text);
    gx_free(heap, GX_TAG_OTHER, r->values, r->value_capacity * sizeof *r->values);
    gx_free(heap, GX_TAG_OTHER, r, sizeof *r);
}

int gx_sim_remote_open(gx_sim_task *task, gale_remote **ret_remote) {
    static const gale_remote_ops ops = { sizeof ops, do_close, do_emit, do_emit_tracked, do_ack, do_fail };
    gx_heap *heap = &task->sim->heap;
    remote *r = gx_alloc(heap, GX_TAG_OTHER, sizeof *r);
    if (!r) return GALE_NO_MEMORY;
    *r = (remote){ .face = { &ops },
                   .sim = task->sim,
                   .task = (uint16_t)task->id,
                   .is_spout = task->component->built->is_spout,
                   .component = task->component,
                   .text = GX_BUF_INIT(heap) };
    int rc = gx_sim_engine_ops(task)->remote(task->engine, &r->engine);
    if (rc < 0)
        gx_free(heap, GX_TAG_OTHER, r, sizeof *r);
    else
        *ret_remote = &r->face;
    return rc;
}

/* --- Carrying out --- */

static gx_sim_task *wrapped(gale_collector *out) {
    const gx_task *task = (const gx_task *)out;
    const gx_sim_component *component = task->plan->built->user;
    return component->sim->tasks[task->id];
}

/* What the thread wanted to emit. */
static int emit(gx_sim_task *task, gx_sim_outgoing *o, uint32_t command) {
    gale_value token;
    if (command == UINT32_MAX) return GALE_INVALID;
    if (gx_sim_folds(task->component, o->stream)) {
        token = gx_sim_number_unfold(o->values[0]);
        o->values = &token;
    } else {
        o->count--;
    }
    int rc = gx_sim_send(task, o);
    if (rc < 0) gx_book_refused(&task->sim->book, command);
    return rc;
}

static int see_emit(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                    const gale_handle *anchors, size_t anchor_count) {
    gx_sim_task *task = wrapped(out);
    gx_sim_outgoing o = { .stream = stream,
                          .values = values,
                          .count = count,
                          .anchored = true,
                          .handles = anchors,
                          .handle_count = anchor_count };
    uint64_t number = gx_sim_number_read(gx_sim_folds(task->component, stream), &values[count - 1]);
    return emit(task, &o, gx_book_carried_out(&task->sim->book, (uint16_t)task->id, GX_COMMAND_EMIT, number));
}

static int see_emit_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                            uint64_t message_id) {
    gx_sim_task *task = wrapped(out);
    gx_book *book = &task->sim->book;
    uint32_t command = gx_book_carried_out(book, (uint16_t)task->id, GX_COMMAND_TRACKED, message_id & ~GX_BOOK_ID);
    gx_sim_outgoing o = { .stream = stream, .values = values, .count = count, .tracked = true };
    if (command != UINT32_MAX) o.message_id = book->entries[command].id;
    return emit(task, &o, command);
}

/* A tuple that was answered already is not answered again. */
static int answer(gale_collector *out, gx_command_kind kind, gale_handle handle, int32_t reason, const char *text) {
    gx_sim_task *task = wrapped(out);
    gx_sim_kept *kept = gx_sim_find_kept(task, handle);
    gx_book_carried_out(&task->sim->book, (uint16_t)task->id, kind, handle);
    if (kept) return gx_sim_answer(task, kept, kind == GX_COMMAND_ACK, reason, text);
    int rc = kind == GX_COMMAND_ACK ? gx_collector_ops()->ack(out, handle)
                                    : gx_collector_ops()->fail(out, handle, reason, text);
    if (rc != GALE_SETTLED)
        gx_oracle_violated(&task->sim->oracle, "a remote of task %u could answer what it does not hold", task->id);
    return rc;
}

static int see_ack(gale_collector *out, gale_handle handle) {
    return answer(out, GX_COMMAND_ACK, handle, 0, NULL);
}

static int see_fail(gale_collector *out, gale_handle handle, int32_t reason, const char *text) {
    return answer(out, GX_COMMAND_FAIL, handle, reason, text);
}

void gx_sim_remotes_watch(gx_sim *sim) {
    const gx_shared *shared = &sim->runtime->shared;
    sim->seen = *gx_collector_ops();
    sim->seen.emit_anchored = see_emit;
    sim->seen.emit_tracked = see_emit_tracked;
    sim->seen.ack = see_ack;
    sim->seen.fail = see_fail;
    for (uint32_t t = 1; t <= shared->plan->task_count; t++)
        if (!shared->tasks[t]->is_acker) shared->tasks[t]->out.ops = &sim->seen;
}

/* Those of an executor's spouts may wait while one of them is not active, or has as many trees open as it may. */
static bool may_wait(const gx_task *task, int32_t phase) {
    bool held = false;
    for (uint32_t i = 0; i < task->executor->spout_count; i++) {
        const gx_spout_life *life = &task->executor->spouts[i]->spout;
        held |= life->pending >= life->max_pending || (!life->active && phase == GALE_PHASE_RUNNING);
    }
    return task->is_spout && held && phase <= GALE_PHASE_DRAINING;
}

void gx_sim_remotes_rest(gx_sim *sim) {
    const gx_shared *shared = &sim->runtime->shared;
    for (uint32_t t = 1; sim->book.waiting && t <= shared->plan->task_count; t++)
        if (gx_book_waits(&sim->book, t) && !may_wait(shared->tasks[t], gx_phase(&sim->runtime->shared)))
            gx_oracle_violated(&sim->oracle, "nothing moves, but a command of task %u's remote waits", t);
}
