#include "runtime/control.h"

#include "base/assert.h"
#include "base/mutant.h"
#include "engine/dead_letter.h"
#include "runtime/drain_watch.h"
#include "runtime/durable_warning.h"

/* Which phase, and in finishing which rank of it. */
typedef struct quiet_in {
    gale_phase phase;
    uint32_t rank;
} quiet_in;

/* Is an executor quiet in this phase, which it has shown that it saw? */
static bool is_quiet(const gx_shown *shown, const void *what) {
    const quiet_in *in = what;
    return shown->quiet == (uint64_t)in->phase && (in->phase != GALE_PHASE_FINISHING || shown->finished > in->rank);
}

static bool nothing_moves(gx_control *control, gx_shared *shared, gale_phase phase) {
    quiet_in in = { phase, gx_load_acquire(&shared->finish_rank) };
    return gx_shown_twice(&control->seen, shared, is_quiet, &in);
}

static void forget(gx_control *control) {
    control->seen.true_of_all = false;
}

static size_t finish_next(gx_control *control, gx_shared *shared) {
    uint32_t rank = gx_load_acquire(&shared->finish_rank);
    GX_CHECK(rank <= shared->plan->component_count);
    if (!nothing_moves(control, shared, GALE_PHASE_FINISHING) && !GX_MUTANT(rank_not_awaited))
        return gx_drain_turn_give(&control->turn, shared);
    if (rank >= shared->plan->component_count) {
        if (!gx_checkpoint_is_over(control->checkpoint)) return 0; /* the end is a checkpoint, too */
        forget(control);
        gx_executors_move(shared, GALE_PHASE_FINISHING, GALE_PHASE_CLOSING);
        return 1;
    }
    forget(control);
    gx_store_release(&shared->finish_rank, rank + 1);
    gx_executors_wake(shared);
    return 1;
}

/* A durable run begins with all of it. One that is to be drained before that has nothing to drain. */
static bool awaits_tasks(gx_shared *shared) {
    if (!shared->cut.store || !gx_load_acquire(&shared->unopened)) return false;
    if (gx_load_seq(&shared->drain_asked)) gx_executors_close(shared);
    return true;
}

static size_t open_all(gx_control *control, gx_shared *shared) {
    if (gx_load_acquire(&shared->tried) < shared->executor_count || awaits_tasks(shared)) return 0;
    gx_store_release(&shared->started_at, (uint64_t)shared->clock.now(shared->clock.user) + 1);
    gx_checkpoint_open(control->checkpoint);
    gx_durable_warning_forgets(shared);
    gx_monitor_lock(&shared->monitor);
    /* What has finished before is not run again. */
    gx_executors_move(shared, GALE_PHASE_OPENING, shared->cut.complete ? GALE_PHASE_CLOSING : GALE_PHASE_RUNNING);
    if (gx_load_seq(&shared->drain_asked)) gx_executors_move(shared, GALE_PHASE_RUNNING, GALE_PHASE_DRAINING);
    gx_monitor_notify(&shared->monitor);
    gx_monitor_unlock(&shared->monitor);
    return 1;
}

static size_t close_all(gx_shared *shared) {
    if (gx_load_acquire(&shared->closed) < shared->executor_count) return 0;
    gx_dead_letters_close(shared);
    gx_store_release(&shared->ended_at, (uint64_t)shared->clock.now(shared->clock.user) + 1);
    gx_monitor_lock(&shared->monitor);
    gx_executors_move(shared, GALE_PHASE_CLOSING, GALE_PHASE_CLOSED);
    gx_monitor_notify(&shared->monitor);
    gx_monitor_unlock(&shared->monitor);
    return 1;
}

static size_t move_on(gx_control *control, gx_shared *shared) {
    int32_t phase = gx_phase(shared);
    if (gx_checkpoint_starts(control->checkpoint) && phase < GALE_PHASE_CLOSING) return 0; /* nothing has begun */
    switch (phase) {
    case GALE_PHASE_OPENING: return open_all(control, shared);
    case GALE_PHASE_RUNNING:
        if (!shared->until_drained) return 0;
        if (!nothing_moves(control, shared, GALE_PHASE_RUNNING)) return gx_drain_turn_give(&control->turn, shared);
        forget(control);
        return gx_executors_move(shared, GALE_PHASE_RUNNING, GALE_PHASE_DRAINING);
    case GALE_PHASE_DRAINING:
        if (!nothing_moves(control, shared, GALE_PHASE_DRAINING) && !GX_MUTANT(drain_not_awaited))
            return gx_drain_turn_give(&control->turn, shared);
        forget(control);
        return gx_executors_move(shared, GALE_PHASE_DRAINING, GALE_PHASE_FINISHING);
    case GALE_PHASE_FINISHING: return finish_next(control, shared);
    case GALE_PHASE_CLOSING: return close_all(shared);
    default: return 0;
    }
}

/* After one quiet reading another follows soon; what else moves the phase on rings no bell. */
int64_t gx_control_pause(const gx_control *control, gx_shared *shared) {
    enum { SOON = 1 * GALE_MILLISECOND };
    int64_t pause = gx_checkpoint_pause(control->checkpoint);
    if (pause >= 0 && pause < SOON) return pause;
    if (!gx_control_waits(shared) || gx_phase(shared) == GALE_PHASE_OPENING) return pause;
    bool asks = control->turn.waits && control->turn.still.true_of_all;
    if (gx_phase(shared) != GALE_PHASE_RUNNING || control->seen.true_of_all || asks) return SOON;
    if (!gx_drain_is_watched(shared)) return pause;
    return pause >= 0 && pause < GX_DRAIN_WATCH_LOOK ? pause : GX_DRAIN_WATCH_LOOK;
}

size_t gx_control_step(gx_control *control, gx_shared *shared) {
    size_t moved = gx_checkpoint_step(control->checkpoint);
    moved += move_on(control, shared);
    if (!moved && gx_control_waits(shared)) gx_drain_watch(shared, shared->executors[0]->now);
    return moved;
}

bool gx_control_waits(gx_shared *shared) {
    int32_t phase = gx_phase(shared);
    return (phase != GALE_PHASE_RUNNING || shared->until_drained) && phase != GALE_PHASE_CLOSED &&
           phase != GALE_PHASE_NEW;
}
