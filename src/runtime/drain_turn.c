#include "runtime/drain_turn.h"

#include "base/assert.h"
#include "engine/turn.h"

enum { RANK_BITS = 32 };

/* --- Who is asked --- */

uint64_t gx_drain_progress(gx_shared *shared) {
    uint64_t sum = 0;
    for (uint32_t t = 1; t <= shared->plan->task_count; t++) {
        const gx_task_counters *c = &shared->tasks[t]->counters;
        sum += gx_task_executed(shared->tasks[t]) + gx_task_acked(shared->tasks[t]) + gx_load_relaxed(&c->failed) +
               gx_load_relaxed(&c->timed_out) + gx_load_relaxed(&c->rejected);
    }
    return sum;
}

static bool can_be_asked(const gx_task *task) {
    return !task->is_spout && task->plan->built->bolt.drain && gx_load_relaxed(&task->counters.held);
}

/* The lowest rank from `from` on of which a task can be asked; UINT32_MAX: none. */
static uint32_t find_rank(const gx_shared *shared, uint32_t from) {
    uint32_t found = UINT32_MAX;
    for (uint32_t t = 1; t <= shared->plan->task_count; t++) {
        uint32_t rank = shared->tasks[t]->plan->rank;
        if (rank >= from && rank < found && can_be_asked(shared->tasks[t])) found = rank;
    }
    return found;
}

/* --- When --- */

typedef struct still_in {
    uint64_t phase, turn;
} still_in;

/* An executor that has taken the last turn, and waits in this phase. */
static bool is_still(const gx_shown *shown, const void *what) {
    const still_in *in = what;
    return shown->still == in->phase && shown->turn == in->turn;
}

size_t gx_drain_turn_give(gx_drain_turn *turn, gx_shared *shared) {
    uint64_t given = gx_load_relaxed(&shared->drain_turn), progress = gx_drain_progress(shared);
    if (progress != turn->progress) turn->next = 0;
    uint32_t rank = find_rank(shared, turn->next);
    turn->waits = rank != UINT32_MAX;
    still_in in = { (uint64_t)gx_phase(shared), given };
    if (!turn->waits || !gx_shown_twice(&turn->still, shared, is_still, &in)) return 0;
    turn->still.true_of_all = false;
    turn->progress = progress;
    turn->next = rank + 1;
    gx_store_release(&shared->drain_turn, ((given >> RANK_BITS) + 1) << RANK_BITS | rank);
    gx_executors_wake(shared);
    return 1;
}

/* --- The turn of a task --- */

static void ask(gx_executor *ex, gx_task *task) {
    task->reported = false;
    task->stirred = true;
    gx_turn_begin(ex, task);
    int rc = task->plan->built->bolt.drain(task->self, &task->out);
    if (rc < 0 && !task->reported) gx_task_report(task, gale_error_text(rc));
    gx_turn_end(ex);
}

size_t gx_drain_turn_ask(gx_executor *ex, uint64_t given) {
    uint32_t rank = (uint32_t)given;
    ex->drain_turn = given;
    for (uint32_t i = 0; i < ex->task_count; i++) {
        gx_task *task = ex->tasks[i];
        if (task->open && task->plan->rank == rank && task->held.count && can_be_asked(task)) ask(ex, task);
    }
    return 1;
}
