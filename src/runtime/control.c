#include "runtime/control.h"

#include "base/assert.h"
#include "base/mutant.h"
#include "base/seqlock.h"
#include "engine/dead_letter.h"
#include "runtime/drain_watch.h"

/* Is an executor quiet in this phase, which it has shown that it saw, and in finishing this rank of it? One that is
 * showing just now is looked at later. */
static bool read_executor(const gx_executor *ex, gale_phase phase, uint32_t rank, gx_shown *ret_shown) {
    uint64_t words[sizeof *ret_shown / 8];
    if (!gx_seqlock_read(&ex->shown_version, ex->shown, words, sizeof words / 8)) return false;
    memcpy(ret_shown, words, sizeof words);
    return ret_shown->quiet == (uint64_t)phase && (phase != GALE_PHASE_FINISHING || ret_shown->finished > rank);
}

/* A reading of all executors; true when they are quiet and nothing is on its way. */
static bool read_quiet(gx_shared *shared, gale_phase phase, uint64_t *ret_work) {
    uint32_t rank = gx_load_acquire(&shared->finish_rank);
    uint64_t on_the_way = 0;
    *ret_work = 0;
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        gx_shown shown;
        if (!read_executor(shared->executors[i], phase, rank, &shown)) return false;
        on_the_way += shown.sent - shown.received;
        *ret_work += shown.work;
    }
    return on_the_way == 0;
}

/* Two such readings with no work in between: then all were quiet at the moment between them, and what had been sent
 * by then had been received. */
static bool nothing_moves(gx_control *control, gx_shared *shared, gale_phase phase) {
    uint64_t work;
    bool quiet = read_quiet(shared, phase, &work);
    bool twice = quiet && control->seen_quiet && control->seen_work == work;
    control->seen_quiet = quiet;
    control->seen_work = work;
    return twice;
}

static void forget(gx_control *control) {
    control->seen_quiet = false;
}

static size_t finish_next(gx_control *control, gx_shared *shared) {
    uint32_t rank = gx_load_acquire(&shared->finish_rank);
    GX_CHECK(rank <= shared->plan->component_count);
    if (!nothing_moves(control, shared, GALE_PHASE_FINISHING) && !GX_MUTANT(rank_not_awaited)) return 0;
    forget(control);
    if (rank >= shared->plan->component_count) {
        gx_executors_move(shared, GALE_PHASE_FINISHING, GALE_PHASE_CLOSING);
        return 1;
    }
    gx_store_release(&shared->finish_rank, rank + 1);
    gx_executors_wake(shared);
    return 1;
}

static size_t open_all(gx_shared *shared) {
    if (gx_load_acquire(&shared->opened) < shared->executor_count) return 0;
    gx_store_release(&shared->started_at, (uint64_t)shared->clock.now(shared->clock.user) + 1);
    gx_monitor_lock(&shared->monitor);
    gx_executors_move(shared, GALE_PHASE_OPENING, GALE_PHASE_RUNNING);
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
    switch (gx_phase(shared)) {
    case GALE_PHASE_OPENING: return open_all(shared);
    case GALE_PHASE_RUNNING:
        if (!shared->until_drained || !nothing_moves(control, shared, GALE_PHASE_RUNNING)) return 0;
        forget(control);
        return gx_executors_move(shared, GALE_PHASE_RUNNING, GALE_PHASE_DRAINING);
    case GALE_PHASE_DRAINING:
        if (!nothing_moves(control, shared, GALE_PHASE_DRAINING) && !GX_MUTANT(drain_not_awaited)) return 0;
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
    if (!gx_control_waits(shared)) return -1;
    if (gx_phase(shared) != GALE_PHASE_RUNNING || control->seen_quiet) return SOON;
    return gx_drain_is_watched(shared) ? GX_DRAIN_WATCH_LOOK : -1;
}

size_t gx_control_step(gx_control *control, gx_shared *shared) {
    size_t moved = move_on(control, shared);
    if (!moved && gx_control_waits(shared)) gx_drain_watch(shared, shared->executors[0]->now);
    return moved;
}

bool gx_control_waits(gx_shared *shared) {
    int32_t phase = gx_phase(shared);
    return (phase != GALE_PHASE_RUNNING || shared->until_drained) && phase != GALE_PHASE_CLOSED &&
           phase != GALE_PHASE_NEW;
}
