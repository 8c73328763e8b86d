#include "runtime/step.h"

#include "base/assert.h"
#include "base/seqlock.h"
#include "engine/acks_inlet.h"
#include "engine/cut.h"
#include "engine/flush.h"
#include "engine/remote_run.h"
#include "engine/replay.h"
#include "engine/run.h"
#include "engine/spout.h"
#include "engine/taps.h"
#include "engine/tick.h"
#include "engine/tune.h"
#include "engine/watches.h"
#include "runtime/drain_turn.h"
#include "runtime/lifecycle.h"
#include "runtime/locate.h"
#include "runtime/opening.h"
#include "runtime/reopen.h"
#include "runtime/timeout_warning.h"
#include "runtime/whole.h"

static bool phase_runs(int32_t phase) {
    return phase == GALE_PHASE_RUNNING || phase == GALE_PHASE_DRAINING || phase == GALE_PHASE_FINISHING;
}

static bool may_open(gx_shared *shared) {
    uint32_t seen = gx_load_relaxed(&shared->activity);
    while (!(seen & GX_OPENING_BEGUN)) {
        if (seen & GX_INACTIVE) return false;
        if (gx_cas_relaxed(&shared->activity, &seen, seen | GX_OPENING_BEGUN)) break;
    }
    return true;
}

/* Opening, finishing and closing, when the phase asks for them. Returns how much was done. */
static size_t follow_phase(gx_executor *ex, int32_t phase) {
    if (GX_LIKELY(phase == GALE_PHASE_RUNNING)) return 0;
    if (phase == GALE_PHASE_DRAINING) {
        gx_inbox_close_queue(ex->inbox, GX_INBOX_SPOUTS);
        return 0;
    }
    if (phase == GALE_PHASE_OPENING && ex->opened) return ex->unopened ? gx_opening_again(ex) : 0;
    if (phase == GALE_PHASE_OPENING && may_open(ex->shared)) {
        gx_opening_begin(ex);
        return 1;
    }
    if (phase == GALE_PHASE_FINISHING) {
        uint32_t rank = gx_load_acquire(&ex->shared->finish_rank);
        if (ex->finished_rank > rank) return gx_lifecycle_finish_more(ex);
        if (rank == ex->shared->plan->component_count) gx_inbox_close_queue(ex->inbox, GX_INBOX_BOLTS);
        gx_lifecycle_finish(ex, rank);
        ex->finished_rank = rank + 1;
        return 1;
    }
    if (phase == GALE_PHASE_CLOSING && !ex->closed) {
        if (ex->shared->cut.store)
            (void)gx_cut_watch(ex); /* the last checkpoint lasts: they are told before they close */
        gx_lifecycle_close(ex);
        gx_add_release(&ex->shared->closed, 1);
        return 1;
    }
    return 0;
}

static bool outboxes_are_empty(const gx_executor *ex) {
    for (uint32_t i = 0; i < ex->shared->executor_count; i++)
        if (ex->outlets[i].outbox.count || gx_ack_outlet_waiting(&ex->ack_outlets[i])) return false;
    return true;
}

/* What a bolt holds of trees that are over, or of none, it may mean to answer in `finish`: it is not waited for before
 * that. What is held of open trees is: those are open. */
static bool holds_nothing(const gx_executor *ex) {
    for (uint32_t i = 0; i < ex->task_count; i++) {
        const gx_task *task = ex->tasks[i];
        if (task->held.count && (task->finished || !task->plan->built->bolt.finish)) return false;
    }
    return true;
}

static bool owes_nothing(const gx_executor *ex) {
    for (uint32_t i = 0; i < ex->task_count; i++)
        if (ex->tasks[i]->owed.tuples) return false;
    return true;
}

/* Nothing is to be executed, sent or answered: what is open is held. Never before it has made a step with the
 * topology running: a
 * spout that was not asked yet looks like one that has nothing. */
static bool is_still(const gx_executor *ex, int32_t phase) {
    return phase_runs(phase) && !ex->unfinished && ex->local.count == 0 && ex->parked_tasks == 0 &&
           gx_inbox_is_empty(ex->inbox) && gx_settle_is_empty(&ex->settle) && outboxes_are_empty(ex) &&
           !(ex->has_ledger && gx_ledger_has_answers(&ex->ledger)) && owes_nothing(ex) &&
           gx_spout_all_quiet(ex, phase == GALE_PHASE_RUNNING);
}

static bool is_quiet(const gx_executor *ex) {
    return (!ex->has_ledger || gx_ledger_open_trees(&ex->ledger) == 0) && holds_nothing(ex);
}

static bool shows_news(const gx_executor *ex, const uint64_t words[sizeof(gx_shown) / 8]) {
    for (size_t i = 0; i < sizeof(gx_shown) / 8; i++)
        if (gx_load_relaxed(&((gx_executor *)ex)->shown[i]) != words[i]) return true;
    return false;
}

/* What the control reads. */
static void show(gx_executor *ex, int32_t phase) {
    if (ex->has_ledger) gx_ledger_publish(&ex->ledger);
    if (GX_LIKELY(phase == GALE_PHASE_RUNNING && !ex->shared->until_drained) && !gx_cut_stage_of(ex->cut.seen)) return;
    bool still = is_still(ex, phase);
    gx_shown shown = { .work = ex->work,
                       .still = still ? (uint64_t)phase : 0,
                       .quiet = still && is_quiet(ex) ? (uint64_t)phase : 0,
                       .turn = ex->drain_turn,
                       .finished = ex->finished_rank,
                       .cut = gx_cut_ready(ex) };
    for (uint32_t i = 0; i < ex->shared->executor_count; i++) {
        shown.sent += ex->outlets[i].sent + ex->ack_outlets[i].sent;
        shown.received += ex->inlets[i].received;
    }
    uint64_t words[sizeof shown / 8];
    memcpy(words, &shown, sizeof words);
    if (!shows_news(ex, words)) return;
    gx_seqlock_publish(&ex->shown_version, ex->shown, words, sizeof words / 8);
    if ((shown.still || shown.cut) && ex->index != 0)
        gx_bell_ring(&ex->shared->executors[0]->bell); /* the control sleeps there */
}

static size_t run_phase(gx_executor *ex) {
    gx_ready_take(&ex->ready, ex->idle);
    size_t done = gx_acks_inlet_run(ex);
    done += gx_tick_run(ex);
    done += gx_watches_run(ex);
    done += gx_reopen_run(ex);
    done += gx_drain_turn_take(ex);
    if (ex->has_ledger) done += gx_ledger_sweep(&ex->ledger, ex->now);
    done += gx_locate_run(ex);
    gx_acks_inlet_rotate(ex);
    if (GX_UNLIKELY(!gx_inbox_is_empty(ex->inbox))) done += gx_remote_run(ex);
    done += gx_run_parked(ex);
    done += gx_run_inlets(ex);
    done += gx_run_local(ex);
    done += gx_flush_run(ex);
    done += gx_replay_run(ex);
    done += gx_spout_answers(ex);
    done += gx_spout_activation(ex);
    gx_timeout_warning_run(ex);
    done += gx_spout_run(ex);
    /* Where a failure may not be the last word, none is shown that has not been looked at. */
    if (GX_UNLIKELY(ex->retention.segments != NULL)) done += gx_spout_answers(ex);
    return done;
}

/* Is there something for the next step, though this one did nothing? What a spout that waits from now on or a flush
 * emitted; or an answer: a tuple for nobody is complete at once. */
static bool leaves_work(const gx_executor *ex, int32_t phase) {
    return ex->sent_here || (phase_runs(phase) && ex->has_ledger && gx_ledger_has_answers(&ex->ledger));
}

/* What the step's time went to. After the end nobody counts any more. */
static gx_share share_of(const gx_executor *ex, size_t done) {
    if (GX_UNLIKELY(ex->closed)) return GX_SHARE_NONE;
    if (GX_LIKELY(done)) return GX_SHARE_BUSY;
    return gx_spout_is_held(ex) ? GX_SHARE_HELD : GX_SHARE_WAITING;
}

size_t gx_step(gx_executor *ex) {
    GX_CHECK(ex->cursor.state == GX_CURSOR_NONE);
    int32_t phase = gx_phase(ex->shared);
    if (GX_UNLIKELY(gx_cut_stops(ex->shared)) && phase_runs(phase)) return gx_cut_run(ex);
    gx_shares_begin(&ex->shares, gx_executor_tell_time(ex));
    if (GX_LIKELY(!ex->closed)) gx_taps_look(ex);
    gx_tune_look(ex);
    ex->sent_here = false;
    gx_executor_check_gates(ex); /* also when nothing is to be run: an epoch not taken in counts as news */
    size_t done = follow_phase(ex, phase);
    if (GX_UNLIKELY(ex->shared->cut.store != NULL) && phase_runs(phase)) done += gx_cut_watch(ex);
    if (GX_UNLIKELY(ex->unopened) && phase_runs(phase)) done += gx_opening_again(ex);
    if (GX_LIKELY(phase_runs(phase))) done += run_phase(ex);
    gx_turn_publish(ex);
    if (GX_UNLIKELY(!done && leaves_work(ex, phase))) done = 1;
    ex->work += done;
    ex->idle = done == 0;
    gx_shares_end(&ex->shares, share_of(ex, done));
    GX_CHECK_WHOLE(gx_whole_flaw(ex));
    show(ex, phase);
    return done;
}

int64_t gx_step_due(const gx_executor *ex) {
    int32_t phase = gx_phase(ex->shared);
    int64_t opens = phase < GALE_PHASE_CLOSING ? gx_opening_due(ex) : INT64_MAX;
    if (!phase_runs(phase)) return opens;
    int64_t due = gx_spout_due(ex), watched = gx_watches_due(&ex->watches, ex->now);
    if (watched < due) due = watched;
    if (opens < due) due = opens;
    if (ex->tick_due < due) due = ex->tick_due;
    if (ex->has_ledger && gx_ledger_due(&ex->ledger) < due) due = gx_ledger_due(&ex->ledger);
    if (gx_locate_due(ex) < due) due = gx_locate_due(ex);
    if (gx_replay_due(ex) < due) due = gx_replay_due(ex);
    return due;
}

static bool can_flush(gx_outlet *data, gx_ack_outlet *acks) {
    return gx_outlet_may_flush(data) || (gx_ack_outlet_waiting(acks) && gx_ring_has_room(&acks->ring));
}

/* Before all is open nothing is taken in: what lies in a ring is no news yet, and the next phase rings the bell. */
bool gx_step_has_news(gx_executor *ex) {
    if (GX_UNLIKELY(gx_cut_stops(ex->shared)) && phase_runs(gx_phase(ex->shared))) return gx_cut_is_to_save(ex);
    if (!phase_runs(gx_phase(ex->shared))) return gx_flow_epoch(&ex->shared->flow) != ex->epoch;
    for (uint32_t i = 0; i < ex->shared->executor_count; i++) {
        gx_inlet *inlet = &ex->inlets[i];
        if (inlet->data.ring && gx_batch_ring_refresh(&inlet->data)) return true;
        if (inlet->acks.ring && gx_ring_refresh(&inlet->acks)) return true;
        if (can_flush(&ex->outlets[i], &ex->ack_outlets[i])) return true;
    }
    return ex->gates_stale || gx_locate_is_news(ex) || gx_inbox_has_news(ex->inbox) ||
           gx_flow_epoch(&ex->shared->flow) != ex->epoch;
}
