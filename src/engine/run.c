#include "engine/run.h"

#include "base/assert.h"
#include "base/mutant.h"
#include "engine/acks.h"
#include "engine/collector.h"
#include "engine/drop.h"
#include "engine/flush.h"
#include "engine/hooks.h"
#include "engine/tick.h"
#include "engine/turn.h"

#include <stdio.h>

/* What every tuple in execution begins with; what those of a batch have in common is set by begin_run. */
GX_INLINE void set_cursor(gx_executor *ex, gx_task *task, const gale_head *head, const gale_body *body, gx_stem stem,
                          uint64_t root) {
    gx_cursor *cursor = &ex->cursor;
    cursor->tuple.head = head;
    cursor->tuple.body = body;
    cursor->tuple.handle++; /* begin_run has seen to it that no row of a batch goes beyond the last generation */
    cursor->ack = 0;
    cursor->state = GX_CURSOR_OPEN; /* these four are one store */
    cursor->failed = false;
    cursor->stem = (uint8_t)stem;
    cursor->reserved = 0;
    task->reported = false;
    gx_store_relaxed(&cursor->root, root);
}

static int call(gx_executor *ex, gx_task *task) {
    return task->execute(task->self, &ex->cursor.tuple, &task->out);
}

static bool out_of_time(const gx_executor *ex) {
    return ex->slow_ns > GX_RUN_SLOW_BUDGET;
}

/* So many rows took so long. Returns how many they stand for. */
static uint64_t note_time(gx_executor *ex, gx_task *task, int64_t spent, size_t rows) {
    uint64_t weight = gx_task_sampled(task, ex->cursor.edge, spent / (int64_t)rows, rows);
    if (task->slow) ex->slow_ns += (uint64_t)spent;
    if (out_of_time(ex)) ex->run_end = NULL;
    return weight;
}

/* What a sampled call returned from and did not answer: it is acked now, or by the flush. */
static void note_processed(gx_task *task, int64_t spent, gx_sample sample) {
    gx_sample *owed = &task->owed.sample;
    if (task->acks_itself) gx_task_processed(task, &sample, spent);
    if (!task->gathers) return;
    uint64_t before = owed->weight;
    if (!before) *owed = sample;
    owed->weight = before + sample.weight;
}

/* A call whose time is taken. Before a slow one, what is finished is shown to others. */
GX_NOINLINE static int timed_call(gx_executor *ex, gx_task *task) {
    if (task->slow) gx_turn_publish(ex);
    uint64_t root = gx_load_relaxed(&ex->cursor.root);
    ex->sample = (gx_sample){ gx_executor_tell_time(ex), task->unsampled + 1, ex->cursor.edge };
    gx_executor_call(ex, task); /* since now */
    gx_store_relaxed(&ex->cursor.root, root);
    int rc = call(ex, task);
    int64_t spent = gx_executor_tell_time(ex) - ex->sample.began;
    note_time(ex, task, spent, 1);
    task->unsampled = task->sample_in - 1;
    if (rc >= 0 && gx_cursor_is_open(&ex->cursor) && ex->cursor.tuple.source) note_processed(task, spent, ex->sample);
    ex->sample.weight = 0;
    return rc;
}

/* What has waited too long is not executed: its trees fail here. */
GX_NOINLINE static void expire(gx_executor *ex, gx_task *task, const gale_head *head) {
    char text[GALE_FAILURE_TEXT];
    double over = (double)(ex->now - gx_row_deadline(head)) / 1e9;
    snprintf(text, sizeof text, "waited in queues until %.3f s after its deadline (topology.message.deadline.secs)",
             over);
    gx_acks_fail(ex, task, gx_row_roots(head), GALE_REASON_DEADLINE, text);
    gx_count(&task->counters.expired, 1);
    gx_count(&ex->cursor.edge->expired, 1);
    gx_row_release(head, &ex->blocks);
}

/* Rows of one batch that were run: how many there were, and of those the exceptions. */
typedef struct tally {
    size_t run;
    size_t not_counted; /* ticks, and what was too late */
    size_t not_acked;   /* by the engine, in the plain way */
    size_t answered;    /* or held, or failed, in their call */
    uint64_t blocks;    /* bytes of blocks that they named */
} tally;

static int call_or_time(gx_executor *ex, gx_task *task) {
    return GX_UNLIKELY(--task->sample_in == 0) ? timed_call(ex, task) : call(ex, task);
}

static void settle(gx_executor *ex, gx_task *task, int rc) {
    GX_CHECK(ex->cursor.task == task);
    if (gx_hooks_any(task)) gx_hooks_call_execute(task, &ex->cursor.tuple, rc);
    gx_collector_settle_current(ex, rc);
}

/* It finished after the tick was made, or the row has waited for too long. */
static bool is_over(gx_executor *ex, gx_task *task, const gale_head *head) {
    if (GX_UNLIKELY(head->flags & GX_ROW_DEADLINE) && gx_row_deadline(head) < ex->now) {
        expire(ex, task, head);
        return true;
    }
    if (ex->cursor.tuple.source || !gx_task_is_over(task)) return false;
    gx_tick_restart(ex, task);
    return true;
}

/* Any row. False: it is not to be executed. */
static bool begin_any(gx_executor *ex, gx_task *task, const gale_head *head, tally *t) {
    gx_roots roots = gx_row_roots(head);
    gx_stem stem = roots.count > 1 ? GX_STEM_OTHER : roots.count ? GX_STEM_ONE : GX_STEM_NONE;
    t->blocks += gx_row_block_bytes(head);
    if (is_over(ex, task, head)) {
        t->not_acked++;
        t->not_counted++;
        return false;
    }
    set_cursor(ex, task, head, gx_row_body(head), stem, roots.count ? roots.pairs[0].root : 0);
    return true;
}

/* Its call has returned. */
static void end_any(gx_executor *ex, gx_task *task, int rc, tally *t) {
    gx_cursor *cursor = &ex->cursor;
    const gale_head *head = cursor->tuple.head;
    t->not_acked++;
    t->answered += rc < 0 || !gx_cursor_is_open(cursor);
    if (cursor->tuple.source == 0) {
        if (cursor->state == GX_CURSOR_OPEN) gx_cursor_leave(cursor, GX_CURSOR_ANSWERED);
        gx_tick_restart(ex, task);
        gx_count(&task->counters.ticks, 1);
        t->not_counted++;
    }
    settle(ex, task, rc);
    gx_row_release(head, &ex->blocks);
}

GX_NOINLINE static void execute_any(gx_executor *ex, gx_task *task, const gale_head *head, tally *t) {
    if (begin_any(ex, task, head, t)) end_any(ex, task, call_or_time(ex, task), t);
}

/* A row with one root or none, all of it in its own bytes, for a task whose calls the engine acks. `hooked`: somebody
 * wants to hear of it. */
GX_INLINE void execute_plain(gx_executor *ex, gx_task *task, const gale_head *head, const gale_body *body,
                             uint32_t roots, bool hooked, tally *t) {
    gx_cursor *cursor = &ex->cursor;
    const gx_root *pair = (const gx_root *)(head + 1);
    set_cursor(ex, task, head, body, roots ? GX_STEM_ONE : GX_STEM_NONE, roots ? pair->root : 0);
    int rc = call_or_time(ex, task);
    if (hooked) gx_hooks_call_execute(task, &cursor->tuple, rc);
    if (GX_LIKELY(rc >= 0 && gx_cursor_is_open(cursor))) {
        if (roots && !gx_ledger_ack_kept(&ex->ledger, pair->root, pair->edge ^ cursor->ack))
            gx_acks_ack_one(ex, pair->root, pair->edge ^ cursor->ack);
        if (hooked) gx_hooks_call_ack(task, cursor->tuple.handle);
    } else {
        t->not_acked++;
        gx_collector_settle_current(ex, rc);
    }
}

/* Is it a row for that? A tick is none, nor is what has waited for too long. */
GX_INLINE bool is_plain_row(const gx_executor *ex, const gx_task *task, const gale_head *head) {
    if (head->roots > 1 || (head->flags & ~GX_ROW_DEADLINE) || !task->acks_itself || !ex->cursor.tuple.source)
        return false;
    return !head->flags || (int64_t)gx_load64((const gx_root *)(head + 1) + head->roots) >= ex->now;
}

/* A row that is not as most of its batch are. */
GX_NOINLINE static void execute_other(gx_executor *ex, gx_task *task, const gale_head *head, tally *t) {
    if (!is_plain_row(ex, task, head)) {
        execute_any(ex, task, head, t);
        return;
    }
    bool hooked = task->hook_count > 0;
    if (GX_LIKELY(head->roots))
        execute_plain(ex, task, head, gx_row_body(head), 1, hooked, t);
    else
        execute_plain(ex, task, head, gx_row_body(head), 0, hooked, t);
}

/* Where a row begins that came by another edge, or the end of the batch. */
GX_NOINLINE static const unsigned char *end_of_edge(const gx_batch *batch) {
    const gale_head *first = gx_batch_front(batch), *head = first;
    while (head && head->stream == first->stream) head = gx_batch_next(batch, head);
    return head ? (const unsigned char *)head : batch->bytes + batch->used;
}

static void begin_run(gx_executor *ex, gx_task *task, const gx_batch *batch) {
    GX_CHECK(task->executor == ex && task->open && batch->target == task->id);
    gx_cursor *cursor = &ex->cursor;
    cursor->task = task;
    cursor->tuple.source = batch->source;
    uint32_t generation = gx_handle_generation(cursor->tuple.handle);
    if (generation >= GX_HANDLE_GENERATIONS - GX_BATCH_LARGE) generation = 0;
    cursor->tuple.handle = gx_handle(task->id, GX_HELD_CURRENT, generation);
    gx_turn_begin(ex, task);
    const gale_head *first = (const gale_head *)(batch->bytes + batch->read);
    cursor->tuple.stream = first->stream;
    cursor->edge = gx_edges_find(&task->edges, batch->source, first->stream);
    ex->run_end = GX_UNLIKELY(cursor->edge->mixed) ? end_of_edge(batch) : batch->bytes + batch->used;
}

static void end_run(gx_executor *ex, gx_task *task, const tally *t) {
    GX_CHECK(t->not_counted <= t->run && t->not_acked <= t->run);
    gx_edge *edge = ex->cursor.edge;
    gx_cursor_leave(&ex->cursor, GX_CURSOR_NONE);
    ex->cursor.task = NULL;
    gx_turn_close(ex);
    if (t->run > t->not_counted) {
        gx_count(&edge->executed, t->run - t->not_counted);
        task->ran = true;
    }
    if (t->run > t->not_acked) gx_count(&edge->acked, t->run - t->not_acked);
}

/* --- Many at once --- */

/* The rows of a batch, as `execute_batch` goes over them. The cursor is at the one that was taken last. */
typedef struct rows {
    gale_batch given; /* first */
    uint16_t kind;    /* of the last, if such are settled and given in the plain way; else what no row is */
    bool bare;        /* some are */
    bool asked;       /* in this call */
    bool unpaid;      /* the one that was taken last is not settled yet, though it is none any more */
    gx_executor *ex;
    gx_task *task;
    const unsigned char *at, *end;
    gale_handle before; /* the call: each row that is taken has the next one */
    int64_t began;      /* the same, if its time is taken */
    tally t;
} rows;

static size_t taken(const rows *r) {
    return (size_t)(r->ex->cursor.tuple.handle - r->before);
}

/* Before each row of a slow task what is finished is shown to others. Its slice of time is over by the clock, or by what
 * so many rows are known to cost: their work may be done after the last. */
static void watch_time(rows *r) {
    gx_executor *ex = r->ex;
    gx_turn_publish(ex);
    int64_t spent = gx_executor_tell_time(ex) - r->began, cost = r->task->cost * (int64_t)taken(r);
    gx_executor_call(ex, r->task);
    if (ex->slow_ns + (uint64_t)(spent > cost ? spent : cost) > GX_RUN_SLOW_BUDGET) ex->run_end = NULL;
}

/* Where there is no memory to owe an answer a bolt is flushed at once, but not inside its call: that ends, and the row is
 * settled then. */
static bool can_owe(rows *r) {
    gx_executor *ex = r->ex;
    gx_cursor *cursor = &ex->cursor;
    if (!r->task->gathers || cursor->state != GX_CURSOR_OPEN) return true;
    if (GX_LIKELY(gx_flush_may_owe(r->task, gx_row_roots(cursor->tuple.head)))) return true;
    gx_cursor_leave(cursor, GX_CURSOR_NONE);
    ex->run_end = NULL;
    r->unpaid = true;
    return false;
}

/* Any row, behind any. The first of a call is given whatever happened before it was asked for. */
GX_NOINLINE static const gale_tuple *next_any(rows *r) {
    gx_executor *ex = r->ex;
    gx_task *task = r->task;
    if (ex->cursor.state != GX_CURSOR_NONE) {
        if (GX_UNLIKELY(!can_owe(r))) return NULL;
        end_any(ex, task, GALE_OK, &r->t);
        if (task->slow) watch_time(r);
    }
    r->asked = true;
    while (r->at < (taken(r) ? ex->run_end : r->end)) {
        const gale_head *head = (const gale_head *)r->at;
        r->at += head->length;
        r->t.run++;
        if (!begin_any(ex, task, head, &r->t)) continue;
        r->kind = r->bare && gx_row_kind(head) <= GX_ROW_BARE ? gx_row_kind(head) : GX_ROW_NO_KIND;
        return &ex->cursor.tuple;
    }
    return NULL;
}

/* Of a plain kind, like the one before, which is settled. */
GX_INLINE const gale_tuple *give_plain(rows *r, const gale_head *head, uint32_t roots) {
    const gx_root *pair = (const gx_root *)(head + 1);
    gx_executor *ex = r->ex;
    r->at += head->length;
    r->t.run++;
    set_cursor(ex, ex->cursor.task, head, (const gale_body *)(pair + roots), roots ? GX_STEM_ONE : GX_STEM_NONE,
               roots ? pair->root : 0);
    return &ex->cursor.tuple;
}

/* As execute_plain does it: each is acked when the next one is asked for. */
static const gale_tuple *next_row(gale_batch *given) {
    rows *r = (rows *)given;
    gx_executor *ex = r->ex;
    const gx_cursor *cursor = &ex->cursor;
    const gale_head *head = (const gale_head *)r->at;
    if (!gx_cursor_is_open(cursor) || r->at >= ex->run_end || gx_row_kind(head) != r->kind) return next_any(r);
    if (r->kind == GX_ROW_ROOTLESS) return give_plain(r, head, 0);
    const gx_root *last = (const gx_root *)(cursor->tuple.head + 1);
    if (GX_UNLIKELY(!gx_ledger_ack_kept(&ex->ledger, last->root, last->edge ^ cursor->ack))) return next_any(r);
    return give_plain(r, head, 1);
}

/* It took none, and would for ever. */
GX_NOINLINE static int take_one(rows *r, int rc) {
    (void)next_any(r);
    if (rc >= 0) gx_task_report(r->task, "execute_batch returned without asking for a tuple");
    return rc < 0 ? rc : GALE_COMPONENT;
}

/* A call is timed whole and divided by its rows, since nobody knows between which of them a bolt does its work. Some were
 * answered in it. */
static void note_call(rows *r, int64_t spent, size_t count, size_t answered) {
    uint64_t weight = note_time(r->ex, r->task, spent, count);
    gx_sample sample = { r->began, answered < count ? weight - answered : 0, r->ex->cursor.edge };
    if (sample.weight && r->ex->cursor.tuple.source) note_processed(r->task, spent / (int64_t)count, sample);
}

/* Before the last row is settled. */
static int64_t end_call(rows *r, size_t count, bool timed) {
    gx_task *task = r->task;
    r->ex->sample.weight = 0;
    if (timed) return gx_executor_tell_time(r->ex) - r->began;
    task->sample_in = task->sample_in > count ? task->sample_in - (uint32_t)count : 1;
    task->unsampled += count;
    return 0;
}

static void call_at_once(rows *r) {
    gx_executor *ex = r->ex;
    gx_task *task = r->task;
    bool timed = task->sample_in <= 1;
    r->bare = task->acks_itself && !task->hook_count && !task->slow && ex->cursor.tuple.source;
    r->asked = task->reported = false;
    r->before = ex->cursor.tuple.handle;
    size_t answered = r->t.answered;
    if (timed && task->slow) gx_turn_publish(ex);
    if (timed) r->began = gx_executor_tell_time(ex);
    if (timed) gx_executor_call(ex, task);
    if (timed) ex->sample = (gx_sample){ r->began, 1, ex->cursor.edge };
    int rc = task->execute_batch(task->self, &r->given, &task->out);
    size_t count = taken(r) ? taken(r) : 1;
    int64_t spent = end_call(r, count, timed);
    if (GX_UNLIKELY(!r->asked)) rc = take_one(r, rc);
    if (ex->cursor.state == GX_CURSOR_NONE && rc < 0) {
        if (!task->reported) gx_task_report(task, gale_error_text(rc));
        rc = GALE_OK;
    }
    if (GX_UNLIKELY(r->unpaid)) ex->cursor.state = GX_CURSOR_OPEN;
    r->unpaid = false;
    if (ex->cursor.state != GX_CURSOR_NONE) end_any(ex, task, rc, &r->t);
    if (timed) note_call(r, spent, count, r->t.answered - answered);
}

static tally run_at_once(gx_executor *ex, gx_task *task, gx_batch *batch) {
    rows r = { .given = { sizeof r.given, next_row },
               .ex = ex,
               .task = task,
               .at = batch->bytes + batch->read,
               .end = ex->run_end };
    do call_at_once(&r);
    while (r.at < ex->run_end);
    batch->read = (uint32_t)(r.at - batch->bytes);
    return r.t;
}

/* A batch most of whose rows are of one kind, which is known where this is inlined. */
GX_INLINE tally run_kind(gx_executor *ex, gx_task *task, gx_batch *batch, gx_row_shape kind, bool hooked) {
    tally t = { 0 };
    size_t run = 0;
    const unsigned char *at = batch->bytes + batch->read;
    uint32_t roots = kind == GX_ROW_ROOTLESS ? 0 : 1;
    do {
        const gale_head *head = (const gale_head *)at;
        const gx_root *behind = (const gx_root *)(head + 1) + roots;
        at += head->length;
        run++;
        if (GX_UNLIKELY(gx_row_kind(head) != kind) ||
            (kind == GX_ROW_DATED && GX_UNLIKELY((int64_t)gx_load64(behind) < ex->now)))
            execute_other(ex, task, head, &t);
        else
            execute_plain(ex, task, head, (const gale_body *)((const char *)behind + (kind == GX_ROW_DATED ? 8 : 0)),
                          roots, hooked, &t);
    } while (at < ex->run_end);
    batch->read = (uint32_t)(at - batch->bytes);
    t.run = run;
    return t;
}

GX_NOINLINE static tally run_bare(gx_executor *ex, gx_task *task, gx_batch *batch) {
    return run_kind(ex, task, batch, GX_ROW_BARE, false);
}

GX_NOINLINE static tally run_dated(gx_executor *ex, gx_task *task, gx_batch *batch) {
    return run_kind(ex, task, batch, GX_ROW_DATED, false);
}

GX_NOINLINE static tally run_rootless(gx_executor *ex, gx_task *task, gx_batch *batch) {
    return run_kind(ex, task, batch, GX_ROW_ROOTLESS, false);
}

GX_NOINLINE static tally run_hooked(gx_executor *ex, gx_task *task, gx_batch *batch) {
    return run_kind(ex, task, batch, GX_ROW_BARE, true);
}

GX_NOINLINE static tally run_any(gx_executor *ex, gx_task *task, gx_batch *batch) {
    return run_kind(ex, task, batch, GX_ROW_NO_KIND, false);
}

/* Most of a batch's rows are of the kind of its first. */
static tally run_one_by_one(gx_executor *ex, gx_task *task, gx_batch *batch) {
    uint16_t kind = gx_row_kind(gx_batch_front(batch));
    if (GX_UNLIKELY(!task->acks_itself || !batch->source)) return run_any(ex, task, batch); /* or it is a tick */
    if (GX_UNLIKELY(task->hook_count)) return run_hooked(ex, task, batch);
    if (kind == GX_ROW_DATED) return run_dated(ex, task, batch);
    return kind == GX_ROW_ROOTLESS ? run_rootless(ex, task, batch) : run_bare(ex, task, batch);
}

/* The rows of a batch, until what happens here interrupts it: at least one. What others say about flow is heard between
 * batches, which are short. */
static size_t run_rows(gx_executor *ex, gx_task *task, gx_batch *batch, uint64_t *ret_blocks) {
    size_t run = 0;
    *ret_blocks = 0;
    do {
        begin_run(ex, task, batch);
        tally t = task->execute_batch ? run_at_once(ex, task, batch) : run_one_by_one(ex, task, batch);
        end_run(ex, task, &t);
        *ret_blocks += t.blocks;
        run += t.run;
    } while (GX_UNLIKELY(ex->run_end && batch->read < batch->used)); /* a row of another edge */
    return run;
}

static bool may_run(gx_executor *ex, const gx_task *task) {
    gx_executor_check_gates(ex);
    return !ex->gated[task->component];
}

/* Parked lists, inlets and the local queue have a budget of slow time each: one cannot starve another. */
static void begin_stage(gx_executor *ex) {
    ex->slow_ns = 0;
}

/* After the last run of a stage no function runs. */
static void end_stage(gx_executor *ex) {
    gx_turn_end(ex);
}

static void show_queued(gx_task *task) {
    gx_store_relaxed(&task->queued_seen, task->queued + (task->lanes ? task->lanes->weight : 0));
}

/* `weight` less waits for the task. */
static void take_off(gx_executor *ex, gx_task *task, uint16_t lane, uint64_t weight) {
    if (GX_UNLIKELY(lane))
        gx_drop_dequeued(ex, task, gx_drop_at(task, lane), weight);
    else
        gx_executor_dequeued(ex, task, weight);
    show_queued(task);
}

/* Of a batch that waited here some rows were run. True when it is read to its end, and gone; `*ret_weight`
 * is what it weighs less, which may be all. */
static bool settle_run(gx_executor *ex, gx_task *task, gx_batch *batch, uint64_t blocks, uint64_t *ret_weight) {
    uint16_t lane = batch->lane;
    bool over = batch->read == batch->used, tick = batch->source == 0; /* which does not count there */
    *ret_weight = over ? gx_batch_weight(batch) : blocks;
    batch->blocks -= blocks;
    if (over) gx_executor_send_home(ex, batch);
    if (*ret_weight && !tick) take_off(ex, task, lane, *ret_weight);
    return over;
}

static void overflow(gx_executor *ex, gx_task *task, gx_batch *batch, gale_reason reason) {
    for (const gale_head *head = gx_batch_front(batch); head; head = gx_batch_next(batch, head)) {
        if (!GX_MUTANT(overflow_lost)) gx_acks_overflow(ex, task, gx_row_roots(head), reason);
        gx_row_release(head, &ex->blocks);
    }
    gx_executor_send_home(ex, batch);
}

/* What came from another executor goes behind the others that wait for its task. A copy that a ring holds is copied once
 * more: its place is needed. */
static void park(gx_executor *ex, gx_task *task, gx_batch *batch) {
    const gx_plan_drop *drop = batch->lane ? gx_drop_at(task, batch->lane) : NULL;
    if (GX_UNLIKELY(drop && gx_drop_refuses(ex, task, drop))) {
        gx_drop_settle(ex, task, batch);
        return;
    }
    if (GX_UNLIKELY(!drop && gx_executor_is_full(ex, task))) {
        overflow(ex, task, batch, GALE_REASON_OVERFLOW);
        return;
    }
    gx_batch *kept = gx_batch_home(batch) ? batch : gx_batch_copy(&ex->batches, batch);
    if (GX_UNLIKELY(!kept)) {
        overflow(ex, task, batch, GALE_REASON_NO_MEMORY);
        return;
    }
    batch = kept;
    gx_waiting_push(ex, task, batch);
    if (GX_UNLIKELY(drop != NULL))
        gx_drop_queued(task, drop, gx_batch_weight(batch));
    else
        gx_executor_queued(ex, task, gx_batch_weight(batch));
    show_queued(task);
}

/* --- The local queue --- */

static size_t run_local_batch(gx_executor *ex, gx_task *task) {
    gx_batch *batch = gx_executor_unqueue(ex);
    uint64_t blocks, weight;
    size_t done = run_rows(ex, task, batch, &blocks);
    bool over = settle_run(ex, task, batch, blocks, &weight);
    ex->local_bytes -= weight;
    if (over) return done;
    ex->local_touched += gx_batch_touched(batch);
    gx_batch_list_put_back(&ex->local, batch);
    return done;
}

/* The first of the queue, which is the task's, waits with those that are parked. */
static void park_local(gx_executor *ex, gx_task *task) {
    gx_batch *batch = gx_executor_unqueue(ex);
    ex->local_bytes -= gx_batch_weight(batch);
    gx_waiting_push(ex, task, batch); /* it counts already */
    show_queued(task);
}

void gx_run_park_all(gx_executor *ex) {
    while (ex->local.count) park_local(ex, ex->shared->tasks[ex->local.head->target]);
}

size_t gx_run_local(gx_executor *ex) {
    size_t done = 0;
    begin_stage(ex);
    while (ex->local.count && done < GX_RUN_BUDGET && !out_of_time(ex)) {
        gx_task *task = ex->shared->tasks[ex->local.head->target];
        if (GX_LIKELY(!gx_waiting_any(task) && may_run(ex, task))) {
            done += run_local_batch(ex, task);
        } else {
            park_local(ex, task);
            done++;
        }
    }
    end_stage(ex);
    return done;
}

/* --- Parked lists --- */

/* The first of a list. What its rows emit must not push rows out of the lane that it lies in. */
static size_t run_waiting(gx_executor *ex, gx_task *task, gx_batch_list *list) {
    gx_batch *batch = gx_waiting_pop(ex, task, list);
    uint64_t blocks, weight;
    if (GX_UNLIKELY(batch->lane)) task->lanes->busy = batch->lane;
    size_t done = run_rows(ex, task, batch, &blocks);
    if (GX_UNLIKELY(task->lanes != NULL)) task->lanes->busy = 0;
    if (!settle_run(ex, task, batch, blocks, &weight)) gx_waiting_put_back(ex, task, list, batch);
    return done;
}

static size_t run_parked_task(gx_executor *ex, gx_task *task) {
    size_t done = 0;
    gx_batch_list *list;
    while (done < GX_RUN_BUDGET && !out_of_time(ex) && may_run(ex, task) && (list = gx_waiting_first(task)) != NULL)
        done += run_waiting(ex, task, list);
    return done;
}

/* A different task begins each time, so that a slow one does not use up the time of all. */
size_t gx_run_parked(gx_executor *ex) {
    size_t done = 0;
    begin_stage(ex);
    uint32_t first = ex->next_parked++;
    for (uint32_t i = 0; ex->parked_tasks && i < ex->task_count; i++) {
        gx_task *task = ex->tasks[(first + i) % ex->task_count];
        if (gx_waiting_any(task)) done += run_parked_task(ex, task);
    }
    end_stage(ex);
    return done;
}

/* --- Inlets --- */

/* The batch at the front of the ring. */
static size_t run_ring_batch(gx_executor *ex, gx_inlet *inlet, gx_task *task, gx_batch *batch) {
    uint64_t blocks;
    size_t done = run_rows(ex, task, batch, &blocks);
    batch->blocks -= blocks;
    if (batch->read == batch->used) {
        gx_batch_ring_advance(&inlet->data);
        inlet->received++;
        gx_executor_send_home(ex, batch);
    }
    return done;
}

/* A ring is always read to what was seen of it, so that it never waits at a batch whose task may not run. When slow
 * tasks have used up the step's time, the rest is parked: a ring is not a place to wait in for those behind. */
static size_t run_ring(gx_executor *ex, gx_inlet *inlet) {
    size_t done = 0;
    gx_batch *batch;
    while (done < GX_RUN_BUDGET && (batch = gx_batch_ring_peek(&inlet->data)) != NULL) {
        gx_task *task = ex->shared->tasks[batch->target];
        if (GX_LIKELY(!gx_waiting_any(task) && !out_of_time(ex) && may_run(ex, task))) {
            done += run_ring_batch(ex, inlet, task, batch);
        } else {
            gx_batch_ring_advance(&inlet->data);
            inlet->received++;
            park(ex, task, batch);
            done++;
        }
    }
    return done;
}

/* To the end of what was seen; what came since has set the bit again. */
static bool is_read(const gx_inlet *inlet) {
    return inlet->data.head == inlet->data.tail_cached && inlet->acks.head == inlet->acks.tail_cached;
}

size_t gx_run_inlets(gx_executor *ex) {
    size_t done = 0;
    uint32_t n = ex->shared->executor_count;
    begin_stage(ex);
    for (uint32_t i = gx_ready_next(&ex->ready, 0); i < n; i = gx_ready_next(&ex->ready, i + 1)) {
        gx_inlet *inlet = &ex->inlets[i];
        if (inlet->data.ring && gx_batch_ring_refresh(&inlet->data)) {
            done += run_ring(ex, inlet);
            inlet->freed |= gx_batch_ring_release(&inlet->data);
        }
        if (is_read(inlet)) gx_ready_done(&ex->ready, i);
    }
    end_stage(ex);
    return done;
}
