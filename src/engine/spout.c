#include "engine/spout.h"

#include "base/assert.h"
#include "base/log.h"
#include "engine/hooks.h"
#include "engine/replay.h"
#include "engine/turn.h"
#include "engine/watches.h"

enum {
    IDLE_PATIENCE = 16, /* times that a spout may have nothing before it is asked less often */
    IDLE_PAUSE = 1 * GALE_MILLISECOND,
    UNWATCHED_PAUSE = 1 * GALE_MILLISECOND, /* a descriptor that cannot be watched is tried this often */
    ERROR_PAUSE_MAX = 1 * GALE_SECOND,
    TOLD_AT_ONCE = 64,
};

static bool wanted(const gx_executor *ex) {
    return gx_phase(ex->shared) == GALE_PHASE_RUNNING && !(gx_load_relaxed(&ex->shared->activity) & GX_INACTIVE);
}

static void activate(gx_executor *ex, gx_task *task, bool active) {
    GX_CHECK(task->is_spout && task->open);
    const gale_spout_ops *ops = &task->plan->built->spout;
    void (*function)(void *self) = active ? ops->activate : ops->deactivate;
    task->spout.active = active;
    task->spout.not_before = 0;
    gx_turn_begin(ex, task);
    if (function) function(task->self);
    gx_turn_end(ex);
}

size_t gx_spout_activation(gx_executor *ex) {
    bool active = wanted(ex);
    size_t told = 0;
    if (GX_LIKELY(active == ex->activated)) return 0;
    ex->activated = active;
    for (uint32_t i = 0; i < ex->spout_count; i++) {
        if (!ex->spouts[i]->open || ex->spouts[i]->spout.active == active) continue;
        activate(ex, ex->spouts[i], active);
        told++;
    }
    return told;
}

void gx_spout_late(gx_executor *ex, gx_task *task) {
    if (ex->activated) activate(ex, task, true);
}

static bool may_emit(gx_executor *ex, const gx_task *task) {
    const gx_spout_life *life = &task->spout;
    if (!life->active || life->done || life->pending >= life->max_pending) return false;
    if (life->not_before > ex->now) return false;
    gx_executor_check_gates(ex);
    return !ex->gated[task->component];
}

static void back_off(gx_executor *ex, gx_task *task, int rc) {
    GX_CHECK(rc < 0);
    gx_spout_life *life = &task->spout;
    int64_t pause = GALE_MILLISECOND << (life->errors < 10 ? life->errors : 10);
    life->errors++;
    life->not_before = ex->now + (pause < ERROR_PAUSE_MAX ? pause : ERROR_PAUSE_MAX);
    if (!task->reported) gx_task_report(task, gale_error_text(rc));
}

static void set_done(gx_task *task, bool done) {
    gx_task_set_done(task, done);
    if (done)
        gx_bell_ring(&task->executor->shared->executors[0]->bell); /* a drain may have begun: it is watched there */
}

/* For something else, but no longer than that. */
static int64_t until_of(const gale_wait *wait) {
    return wait->until <= 0 ? INT64_MAX : wait->until;
}

static void wait_unwatched(const gx_executor *ex, gx_spout_life *life) {
    int64_t soon = ex->now + UNWATCHED_PAUSE;
    if (life->not_before > soon) life->not_before = soon;
}

/* What `next` said. True when it should be asked again at once. */
static bool take_answer(gx_executor *ex, gx_task *task, int said, const gale_wait *wait) {
    gx_spout_life *life = &task->spout;
    if (said >= 0) life->errors = 0;
    if (said != GALE_NEXT_NOTHING) life->idle = 0;
    switch (said) {
    case GALE_NEXT_EMITTED: return true; /* what most say: burst does not ask each time */
    case GALE_NEXT_NOTHING:
        if (++life->idle > IDLE_PATIENCE) life->not_before = ex->now + IDLE_PAUSE;
        return false;
    case GALE_NEXT_UNTIL: life->not_before = wait->until; return false;
    case GALE_NEXT_READABLE:
        life->not_before = until_of(wait);
        if (!gx_watches_await(task, wait->fd)) wait_unwatched(ex, life);
        return false;
    case GALE_NEXT_WATCHED: life->not_before = until_of(wait); return false;
    case GALE_NEXT_DONE: set_done(task, true); return false;
    default: back_off(ex, task, said < 0 ? said : GALE_INVALID); return false;
    }
}

/* A spout whose `next` takes long tells the time at each emit: its trees would be born old. */
static void learn_pace(gx_task *task, int64_t spent, size_t calls) {
    gx_turn_set_slow(task, spent > GX_TASK_SLOW_NS * (int64_t)(calls + 1) || task->blocks);
}

/* Nothing but what it emits and what others say about flow can end its turn. */
GX_INLINE bool goes_on(gx_executor *ex, const gx_task *task) {
    if (GX_UNLIKELY(task->spout.pending >= task->spout.max_pending)) return false;
    if (GX_LIKELY(ex->run_end != NULL)) return true;
    return ex->local_touched < GX_TURN_ENOUGH && may_emit(ex, task);
}

/* A turn of a spout that may emit. */
static size_t burst(gx_executor *ex, gx_task *task) {
    GX_CHECK(task->executor == ex && task->open);
    int (*next)(void *, gale_collector *, gale_wait *) = task->plan->built->spout.next;
    gx_spout_life *life = &task->spout;
    bool more = true;
    if (GX_UNLIKELY(task->spout.readable)) gx_watches_let_go(task);
    int64_t began = gx_executor_time(ex);
    learn_pace(task, began - task->spout.began, task->spout.calls); /* all since: the last one took no more */
    task->spout.began = began;
    gx_turn_begin(ex, task);
    ex->run_end = (const unsigned char *)ex; /* any place */
    life->room = GX_SPOUT_BURST;
    while (life->room && more && goes_on(ex, task)) {
        gale_wait wait = { 0, -1 };
        task->reported = false;
        int said = next(task->self, &task->out, &wait);
        life->room--;
        if (GX_LIKELY(said == GALE_NEXT_EMITTED)) continue;
        if (life->room < GX_SPOUT_BURST - 1) take_answer(ex, task, GALE_NEXT_EMITTED, NULL);
        more = take_answer(ex, task, said, &wait);
    }
    size_t calls = GX_SPOUT_BURST - life->room;
    life->room = 0;
    if (more && calls) take_answer(ex, task, GALE_NEXT_EMITTED, NULL);
    gx_turn_end(ex);
    task->spout.calls = calls;
    if (task->slow) learn_pace(task, gx_executor_tell_time(ex) - began, calls);
    return more ? calls : calls - 1;
}

/* Whom the front of an outbox that is in the way waits for; 0: nobody. */
static uint16_t behind_outbox(const gx_executor *ex) {
    for (uint32_t i = 0; i < ex->shared->executor_count; i++) {
        const gx_batch *first = ex->outlets[i].outbox.count ? ex->outlets[i].outbox.head : NULL;
        if (first) return first->target;
    }
    return 0;
}

static uint16_t local_front(const gx_executor *ex) {
    return ex->local.count ? ex->local.head->target : 0;
}

/* Who keeps the spout from emitting: a congested task, what another executor has no room for, what is to be worked off
 * here first. */
static uint16_t holder_of(gx_executor *ex, const gx_task *task) {
    uint16_t by = gx_flow_holder(&ex->shared->flow, &ex->shared->plan->tasks[task->id], task->spout.throttle.by);
    if (!by) by = behind_outbox(ex);
    if (!by) by = local_front(ex);
    gx_task *holder = by ? ex->shared->tasks[by] : NULL;
    if (holder && holder->executor == ex) gx_count_max(&holder->counters.queued_max, holder->queued);
    return by;
}

static void note_hold(gx_executor *ex, gx_task *task) {
    gx_spout_life *life = &task->spout;
    gx_throttle *throttle = &life->throttle;
    if (!life->active || life->done || life->not_before > ex->now) {
        gx_throttle_set(throttle, GX_THROTTLE_NONE, 0, ex->now);
    } else if (life->pending >= life->max_pending) {
        gx_throttle_set(throttle, GX_THROTTLE_PENDING, 0, ex->now);
    } else if (throttle->reason != GX_THROTTLE_FLOW || throttle->epoch != ex->epoch) {
        uint16_t by = holder_of(ex, task);
        throttle->epoch = ex->epoch;
        gx_throttle_set(throttle, GX_THROTTLE_FLOW, by, ex->now);
    }
}

size_t gx_spout_run(gx_executor *ex) {
    size_t emitted = 0;
    uint32_t n = ex->spout_count;
    bool behind = ex->local_touched >= GX_TURN_ENOUGH / 2;
    for (uint32_t k = 0; k < n; k++) { /* a different one begins each time */
        gx_task *task = ex->spouts[(ex->next_spout + k) % n];
        bool may = may_emit(ex, task);
        if (GX_UNLIKELY(!may || behind))
            note_hold(ex, task);
        else if (GX_UNLIKELY(task->spout.throttle.reason))
            gx_throttle_set(&task->spout.throttle, GX_THROTTLE_NONE, 0, ex->now);
        if (may) emitted += burst(ex, task);
    }
    if (n && ++ex->next_spout >= n) ex->next_spout = 0;
    return emitted;
}

bool gx_spout_is_held(const gx_executor *ex) {
    for (uint32_t i = 0; i < ex->spout_count; i++)
        if (ex->spouts[i]->spout.throttle.reason != GX_THROTTLE_NONE) return true;
    return false;
}

/* --- Answers --- */

/* A task that the plan does not have is a place that is not known. */
static void fill_place(const gx_executor *ex, uint32_t task, gale_failure *failure) {
    if (task == 0 || task > ex->shared->plan->task_count) return;
    failure->task = task;
    failure->component = ex->shared->tasks[task]->context.component;
}

static void fill_failure(const gx_executor *ex, const gx_answer *answer, gale_failure *failure) {
    *failure = (gale_failure){ .size = sizeof *failure,
                               .reason = GALE_REASON_FAILED,
                               .text = "",
                               .attempts = answer->attempts,
                               .final = answer->final };
    if (answer->state == GX_TREE_LATE) {
        failure->reason = GALE_REASON_TIMEOUT;
        failure->text = "not answered within topology.message.timeout.secs";
    } else if (answer->state == GX_TREE_STOPPED) {
        failure->reason = GALE_REASON_STOPPED;
        failure->text = "the run ended first";
    } else if (answer->state == GX_TREE_LOST) {
        failure->reason = GALE_REASON_SOURCE_LOST;
        failure->text = "where it came from is gone";
    } else if (answer->state == GX_TREE_REJECTED) {
        failure->reason = GALE_REASON_REJECTED;
    }
    if (answer->note) {
        failure->reason = answer->note->reason;
        failure->text = answer->note->text;
        fill_place(ex, answer->note->task, failure);
    }
}

static void count_failure(gx_task *task, uint8_t state) {
    GX_CHECK(state > GX_TREE_ACKED && state <= GX_TREE_STOPPED);
    gx_task_counters *c = &task->counters;
    switch (state) {
    case GX_TREE_LATE: gx_count(&c->timed_out, 1); break;
    case GX_TREE_REJECTED: gx_count(&c->rejected, 1); break;
    case GX_TREE_STOPPED: gx_count(&c->stopped, 1); break;
    default: gx_count(&c->failed, 1); break;
    }
}

/* Is it not the spout's to hear? */
static bool is_taken(gx_executor *ex, gx_task *task, gx_answer *answer) {
    gale_failure failure;
    if (GX_LIKELY(!ex->retention.segments)) return false;
    fill_failure(ex, answer, &failure);
    return gx_replay_takes(ex, task, answer, &failure);
}

/* Who listens hears of each first. */
static void tell_acked(gx_task *task, const uint64_t *message_ids, size_t count) {
    const gale_spout_ops *ops = &task->plan->built->spout;
    void (*ack)(void *, uint64_t) = ops->ack;
    for (size_t i = 0; gx_hooks_any(task) && i < count; i++) gx_hooks_call_ack(task, message_ids[i]);
    task->reported = false;
    if (ops->ack_batch)
        ops->ack_batch(task->self, message_ids, count);
    else
        for (size_t i = 0; ack && i < count; i++) ack(task->self, message_ids[i]);
}

static void tell(gx_executor *ex, gx_task *task, const gx_answer *answer) {
    GX_CHECK(task->spout.pending > 0);
    const gale_spout_ops *ops = &task->plan->built->spout;
    task->spout.pending--;
    if (answer->state == GX_TREE_ACKED) {
        gx_count(&task->counters.acked, 1);
        if (task->open) tell_acked(task, &answer->message_id, 1);
        return;
    }
    task->reported = false;
    count_failure(task, answer->state);
    set_done(task, false); /* it may want to emit it again, at once */
    task->spout.not_before = 0;
    gale_failure failure;
    fill_failure(ex, answer, &failure);
    gx_executor_count_failure(ex, &failure);
    if (!task->open) return; /* its `open` failed: it is told nothing more */
    if (gx_hooks_any(task)) gx_hooks_call_fail(task, answer->message_id, &failure);
    if (ops->fail) ops->fail(task->self, answer->message_id, &failure);
}

/* What was kept of complete trees goes. Dead letters' are taken out, since nobody hears of them, and trees that were
 * emitted more than once have latencies of their own. Returns how many are left, and counts of them those. */
static size_t drop_kept(gx_executor *ex, gx_complete *found, const uint32_t *slots, gx_histogram *complete,
                        size_t *ret_apart) {
    size_t left = 0, count = found->count;
    for (size_t i = 0; i < count; i++) {
        gx_retained *kept = gx_retention_at(&ex->retention, slots[i]);
        bool letter = kept && kept->letter;
        found->message_ids[left] = found->message_ids[i];
        left += !letter;
        if (GX_UNLIKELY(!kept)) continue;
        if (letter || kept->attempts > 1) {
            gx_histogram_add(complete, ex->now - kept->first);
            ++*ret_apart;
        }
        gx_retention_forget(&ex->retention, kept);
    }
    return left;
}

/* All complete trees before the first answer of another kind, told some at a time. */
static size_t tell_complete(gx_executor *ex) {
    uint64_t message_ids[TOLD_AT_ONCE];
    uint32_t slots[TOLD_AT_ONCE];
    size_t told = 0;
    gx_complete found;
    while ((found = gx_ledger_take_complete(&ex->ledger, ex->now, message_ids, slots, TOLD_AT_ONCE)).count) {
        gx_task *task = ex->shared->tasks[found.task];
        gx_histogram *complete = task->latencies->of[GALE_LATENCY_COMPLETE];
        size_t apart = 0, count = found.count;
        told += count;
        if (GX_UNLIKELY(ex->retention.segments != NULL)) count = drop_kept(ex, &found, slots, complete, &apart);
        gx_histogram_add_many(complete, ex->now - found.start, found.count - apart);
        task->spout.pending -= count;
        gx_count(&task->counters.acked, count);
        if (!task->open || !count) continue;
        gx_turn_begin(ex, task);
        tell_acked(task, message_ids, count);
    }
    return told;
}

size_t gx_spout_answers(gx_executor *ex) {
    if (!ex->has_ledger || !gx_ledger_has_answers(&ex->ledger)) return 0;
    gx_executor_time(ex);
    size_t told = tell_complete(ex);
    gx_answer answer;
    while (gx_ledger_next_answer(&ex->ledger, ex->now, &answer)) {
        gx_task *task = ex->shared->tasks[answer.task];
        told++;
        if (GX_UNLIKELY(is_taken(ex, task, &answer))) continue;
        gx_turn_begin(ex, task);
        tell(ex, task, &answer);
        if (answer.state == GX_TREE_ACKED) gx_histogram_add(task->latencies->of[GALE_LATENCY_COMPLETE], answer.latency);
        gx_ledger_answered(&ex->ledger, &answer, ex->now);
    }
    gx_turn_end(ex);
    return told;
}

/* --- Waiting --- */

int64_t gx_spout_due(const gx_executor *ex) {
    int64_t due = INT64_MAX;
    for (uint32_t i = 0; i < ex->spout_count; i++) {
        const gx_spout_life *life = &ex->spouts[i]->spout;
        if (!life->active || life->done || life->pending >= life->max_pending) continue;
        if (ex->gated[ex->spouts[i]->component]) continue;
        int64_t when = life->not_before > ex->now ? life->not_before : ex->now;
        if (when < due) due = when;
    }
    return due;
}

bool gx_spout_all_quiet(const gx_executor *ex, bool running) {
    for (uint32_t i = 0; i < ex->spout_count; i++)
        if ((running || ex->spouts[i]->spout.active) && !ex->spouts[i]->spout.done) return false;
    return true;
}
