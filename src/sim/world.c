#include "sim/world.h"

#include "engine/replay.h"
#include "engine/spout.h"
#include "runtime/locate.h"
#include "runtime/opening.h"
#include "runtime/step.h"
#include "runtime/whole.h"
#include "sim/listener.h"
#include "sim/remote.h"

#include <string.h>

enum { LATE_STEPS_MAX = 32, TICKS_PATIENCE = 4 };

static gx_shared *shared_of(const gx_world *world) {
    return &world->sim->runtime->shared;
}

static int64_t now_of(const gx_world *world) {
    const gale_clock *clock = &shared_of(world)->clock;
    return clock->now(clock->user);
}

/* --- What must hold --- */

/* By its name, which begins as nobody else's may: what the engine takes a task for is not to be trusted here. */
static bool is_acker(const gx_task *task) {
    return strncmp(task->context.component, "__", 2) == 0;
}

/* After every step: the ledgers' figures add up, and tasks executed what came to them. */
static void check_step(gx_world *world, const gx_executor *ex) {
    gx_oracle *oracle = &world->sim->oracle;
    if (ex->has_ledger) {
        gx_tree_counters c = gx_ledger_read(&ex->ledger);
        if (c.trees != c.acked + c.failed + c.timed_out + c.rejected + c.stopped + c.open)
            gx_oracle_violated(oracle, "the figures of ledger %u do not add up", ex->index);
    }
    for (uint32_t i = 0; i < ex->task_count; i++) {
        const gx_task *task = ex->tasks[i];
        const gx_sim_counts *counts = &oracle->counts[task->id];
        uint64_t drops = gx_sim_drops(task);
        if (!is_acker(task) && counts->received != gx_task_executed(task))
            gx_oracle_violated(oracle, "task %u has executed %llu tuples, but says %llu", task->id,
                               (unsigned long long)counts->received, (unsigned long long)gx_task_executed(task));
        if (counts->delivered + counts->dropped + counts->unclear < counts->received + drops)
            gx_oracle_violated(oracle, "task %u has executed or dropped more than was sent to it", task->id);
    }
}

enum { WALK_EVERY = 127 }; /* steps; a prime, so that every executor's turn comes */

/* After some steps: everything that the executor has is as it says. */
static void check_whole(gx_world *world, const gx_executor *ex) {
    const char *flaw = gx_whole_flaw(ex);
    if (!flaw) flaw = gx_whole_batches_flaw(ex->shared);
    if (flaw) gx_oracle_violated(&world->sim->oracle, "executor %u: %s", ex->index, flaw);
}

static void check_figure(gx_oracle *oracle, uint32_t task, const char *name, uint64_t is, uint64_t says) {
    if (is != says)
        gx_oracle_violated(oracle, "task %u: %s is %llu, but its figure says %llu", task, name, (unsigned long long)is,
                           (unsigned long long)says);
}

/* When nothing moves: transferred = executed + shed + overflowed, and every other figure is the true one. */
static void check_figures(gx_world *world) {
    gx_oracle *oracle = &world->sim->oracle;
    gx_shared *shared = shared_of(world);
    for (uint32_t t = 1; t <= shared->plan->task_count; t++) {
        const gx_task *task = shared->tasks[t];
        const gx_sim_counts *counts = &oracle->counts[t];
        if (is_acker(task)) continue;
        uint64_t drops = gx_sim_drops(task);
        uint64_t transferred = 0;
        for (uint32_t s = 0; s < task->stream_count + task->is_spout; s++)
            transferred += gx_stream_transferred(&task->streams[s].counters);
        uint64_t came = counts->received + drops, sent = counts->delivered + counts->dropped;
        bool unclear = came > sent && came <= sent + counts->unclear;
        if (!oracle->ending && !unclear) check_figure(oracle, t, "delivered and dropped", sent, came);
        check_figure(oracle, t, "transferred", counts->sent, transferred);
        if (task->is_spout) continue;
        check_figure(oracle, t, "acked", counts->acked, gx_task_acked(task));
        check_figure(oracle, t, "failed", counts->failed, gx_load_relaxed(&task->counters.failed));
        check_figure(oracle, t, "rejected", counts->rejected, gx_load_relaxed(&task->counters.rejected));
        check_figure(oracle, t, "forgotten", counts->forgotten, gx_load_relaxed(&task->counters.forgotten));
    }
}

/* The runtime's own sums. A dead letter is a tree in them, and how it ended nobody is told. */
static void check_sums(gx_world *world) {
    gx_oracle *oracle = &world->sim->oracle;
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(world->sim->runtime, &stats);
    const struct {
        const char *name;
        uint64_t is, says, more;
    } figures[] = {
        { "trees", oracle->messages + oracle->letters, stats.trees, 0 },
        { "acked", oracle->acked, stats.acked, oracle->letters },
        { "failed", oracle->failed, stats.failed, oracle->letters },
        { "timed out", oracle->timed_out, stats.timed_out, oracle->letters },
        { "rejected", oracle->rejected, stats.rejected, oracle->letters },
        { "stopped", oracle->stopped, stats.stopped, oracle->letters },
        { "open", oracle->open_count, stats.open, oracle->letters },
        { "emitted again", oracle->repeats, stats.replayed, 0 },
        { "executed", oracle->executed, stats.executed, 0 },
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (figures[i].says < figures[i].is || figures[i].says > figures[i].is + figures[i].more)
            gx_oracle_violated(oracle, "the run: %s is %llu, but its figure says %llu", figures[i].name,
                               (unsigned long long)figures[i].is, (unsigned long long)figures[i].says);
}

/* Which messages wait to be emitted again. One whose wait was over as its executor last looked, and that nothing keeps
 * from being emitted, waits for nothing. */
static void note_waiting(gx_world *world, const gx_executor *ex) {
    gx_oracle *oracle = &world->sim->oracle;
    for (uint32_t slot = 0; ex->retention.segments && slot < ex->ledger.slots; slot++) {
        const gx_tree *tree = gx_ledger_at(&ex->ledger, slot);
        uint16_t spout = gx_ledger_mark(&ex->ledger, slot)->task;
        if (gx_ledger_state(&ex->ledger, slot) != GX_TREE_WAITING || gx_retention_at(&ex->retention, slot)->letter)
            continue;
        if (tree->message_id < oracle->tree_count) oracle->trees[tree->message_id].waits_until = tree->start;
        if (tree->start <= world->looked[ex->index] && !ex->gated[shared_of(world)->tasks[spout]->component])
            gx_oracle_violated(oracle, "nothing moves, but tree %llu of task %u was to be emitted again",
                               (unsigned long long)tree->message_id, spout);
    }
}

static void note_all_waiting(gx_world *world) {
    gx_oracle *oracle = &world->sim->oracle;
    for (uint32_t i = 0; i < oracle->open_count; i++) oracle->trees[oracle->open_trees[i]].waits_until = 0;
    for (uint32_t i = 0; i < world->executors; i++) note_waiting(world, shared_of(world)->executors[i]);
}

static void check_rest(gx_world *world) {
    gx_oracle *oracle = &world->sim->oracle;
    gx_shared *shared = shared_of(world);
    if (gx_phase(shared) < GALE_PHASE_RUNNING || gx_phase(shared) >= GALE_PHASE_CLOSING) return;
    note_all_waiting(world);
    gx_oracle_rest(oracle, now_of(world));
    gx_sim_remotes_rest(world->sim);
    if (world->checked_trace == oracle->trace) return; /* nothing has happened since */
    world->checked_trace = oracle->trace;
    check_figures(world);
    check_sums(world);
}

/* --- Steps --- */

static void wake_all(gx_world *world) {
    memset(world->idle, 0, sizeof world->idle);
    world->idle_count = 0;
}

static void count_round(gx_world *world, uint32_t index) {
    if (world->stepped[index]) return;
    world->stepped[index] = true;
    if (++world->stepped_count < world->executors) return;
    memset(world->stepped, 0, sizeof world->stepped);
    world->stepped_count = 0;
    world->sim->oracle.round++;
}

/* Updates that found no memory. */
static void count_lost(gx_world *world) {
    uint64_t lost = 0;
    for (uint32_t i = 0; i < world->executors; i++) lost += shared_of(world)->executors[i]->settle.lost;
    world->sim->oracle.lost = lost;
}

/* Small ack rings let few items through a round: what waits behind one has not arrived long since. */
static void note_jam(gx_world *world, const gx_executor *ex) {
    for (uint32_t i = 0; i < world->executors; i++)
        if (gx_ack_outlet_waiting(&ex->ack_outlets[i])) world->sim->oracle.jam = world->sim->oracle.round + 1;
}

static void control(gx_world *world) {
    int32_t before = gx_phase(shared_of(world));
    if (!gx_control_step(&world->sim->runtime->control, shared_of(world))) return;
    bool closes = gx_phase(shared_of(world)) == GALE_PHASE_CLOSING;
    world->sim->drained |= before == GALE_PHASE_FINISHING && closes;
    wake_all(world);
}

static const char *place_of(uint32_t executor) {
    static const char *const names[] = { "executor 0", "executor 1", "executor 2", "executor 3",
                                         "executor 4", "executor 5", "executor 6", "executor 7" };
    return executor < sizeof names / sizeof *names ? names[executor] : "executors from 8";
}

/* What the executor wrote for others, and whether each sees it now. A publication in the middle of the step is hidden
 * with the rest: nobody else ran meanwhile. */
static void show_what_is_written(gx_world *world, gx_executor *ex) {
    gx_sim *sim = world->sim;
    uint32_t odds = sim->faults.odds[GX_FAULT_LATE];
    for (uint32_t to = 0; odds && to < world->executors; to++) {
        bool is_new = gx_delays_is_new(&sim->delays, ex, to);
        if (is_new && gx_fault_strikes(&sim->random, odds)) {
            gx_coverage_count(&sim->coverage, place_of(ex->index), GX_FAULT_LATE);
            gx_delays_hide(&sim->delays, ex, to, world->steps + 1 + gx_random_below(&sim->random, LATE_STEPS_MAX));
        } else if (is_new) {
            gx_delays_show(&sim->delays, ex, to);
        } else {
            gx_delays_keep(&sim->delays, ex, to);
        }
    }
}

static void step(gx_world *world, uint32_t index) {
    gx_executor *ex = shared_of(world)->executors[index];
    ex->thread = gx_thread_self();
    world->sim->phase = gx_phase(ex->shared);
    world->sim->oracle.ending = world->sim->phase >= GALE_PHASE_CLOSING;
    size_t done = world->sim->oracle.ending ? 0 : gx_sim_release(world->sim, ex);
    world->looked[index] = now_of(world);
    size_t moved = gx_step(ex);
    bool running = world->sim->phase >= GALE_PHASE_RUNNING && !world->sim->oracle.ending;
    bool left = ex->local.count || (ex->has_ledger && gx_ledger_has_answers(&ex->ledger));
    if (!moved && running && left) /* whoever steps it may sleep */
        gx_oracle_violated(&world->sim->oracle, "executor %u says that it did nothing, and has left rows or answers",
                           index);
    done += moved;
    world->steps++;
    show_what_is_written(world, ex);
    count_round(world, index);
    count_lost(world);
    note_jam(world, ex);
    check_step(world, ex);
    if (world->steps % WALK_EVERY == 0) check_whole(world, ex);
    if (done) {
        wake_all(world);
    } else if (!world->idle[index] && !gx_step_has_news(ex)) {
        world->idle[index] = true;
        world->idle_count++;
    }
}

static bool maybe_stall(gx_world *world, uint32_t index) {
    gx_sim *sim = world->sim;
    int64_t now = now_of(world);
    if (world->stalled[index] > now) return true;
    if (!gx_fault_strikes(&sim->random, sim->faults.odds[GX_FAULT_STALL])) return false;
    gx_coverage_count(&sim->coverage, place_of(index), GX_FAULT_STALL);
    world->stalled[index] = now + world->pace * (1 + gx_random_below(&sim->random, 400));
    return true;
}

/* --- When nothing moves --- */

int64_t gx_world_due(const gx_world *world) {
    int64_t due = gale_runtime_next_due(world->sim->runtime), now = now_of(world);
    int64_t held = gx_sim_release_due(world->sim);
    if (gx_phase(shared_of(world)) < GALE_PHASE_CLOSING && held < due) due = held;
    for (uint32_t i = 0; i < world->executors; i++)
        if (world->stalled[i] > now && world->stalled[i] < due) due = world->stalled[i];
    return due;
}

static bool someone_is_stalled(const gx_world *world) {
    for (uint32_t i = 0; i < world->executors; i++)
        if (world->stalled[i] > now_of(world)) return true;
    return false;
}

/* What comes for it waits, and moves once it is open. */
static bool someone_is_unopened(const gx_world *world) {
    return gx_load_relaxed(&shared_of(world)->unopened) > 0;
}

/* Is there nothing to come but ticks? */
static bool only_ticks_are_due(const gx_world *world) {
    int64_t due = gx_sim_release_due(world->sim);
    for (uint32_t i = 0; i < world->executors; i++) {
        const gx_executor *ex = shared_of(world)->executors[i];
        const int64_t dues[] = { gx_spout_due(ex), ex->has_ledger ? gx_ledger_due(&ex->ledger) : INT64_MAX,
                                 gx_locate_due(ex), gx_replay_due(ex), gx_opening_due(ex) };
        for (size_t k = 0; k < sizeof dues / sizeof *dues; k++)
            if (dues[k] < due) due = dues[k];
    }
    return due == INT64_MAX;
}

/* Have ticks come again and again, and nothing else? */
static bool ticks_in_vain(gx_world *world) {
    uint64_t trace = world->sim->oracle.trace;
    int64_t now = now_of(world), period = 0;
    if (trace != world->seen_trace || !only_ticks_are_due(world)) {
        world->seen_trace = trace;
        world->seen_changed = now;
    }
    for (uint32_t t = 1; t <= world->sim->oracle.tasks; t++)
        if (shared_of(world)->tasks[t]->tick.period > period) period = shared_of(world)->tasks[t]->tick.period;
    return period && now - world->seen_changed > TICKS_PATIENCE * period && !someone_is_stalled(world);
}

/* Does the task hold tuples that it will not answer, because it has no ticks, and has finished or never will? */
static bool holds_for_ever(const gx_world *world, uint32_t t) {
    const gx_task *task = shared_of(world)->tasks[t];
    const gx_sim_task *wrapped = world->sim->tasks[t];
    bool finishes = !task->is_spout && task->plan->built->bolt.finish && !(wrapped && wrapped->stage.finished);
    return task->held.count > 0 && !task->tick.period && !finishes;
}

/* Nothing will ever move again. That is legal only where a component keeps tuples for good. */
static void stop_what_is_kept(gx_world *world) {
    gx_oracle *oracle = &world->sim->oracle;
    bool keeps = oracle->open_count > 0 || oracle->lost;
    for (uint32_t t = 1; t <= oracle->tasks; t++) keeps |= holds_for_ever(world, t);
    if (world->stopped || !keeps)
        gx_oracle_violated(oracle, "nothing moves any more, in phase %s", gale_phase_name(gx_phase(shared_of(world))));
    world->stopped = true;
    gale_runtime_stop(world->sim->runtime);
}

/* A step that does nothing may still have made room for others, which rings their bells. */
static bool has_news(const gx_world *world) {
    for (uint32_t i = 0; i < world->executors; i++)
        if (gx_step_has_news(shared_of(world)->executors[i])) return true;
    return false;
}

/* Its threads have slept for long enough, or the application did not wait for longer. */
static bool hurry(gx_world *world) {
    return gx_sim_crowd_hurry(&world->sim->crowd) || gx_orders_hurry(&world->orders, world->sim->runtime);
}

static void rest(gx_world *world) {
    if (gx_delays_lift(&world->sim->delays, shared_of(world), UINT64_MAX) || has_news(world)) {
        wake_all(world);
        return;
    }
    if (!someone_is_stalled(world) && !someone_is_unopened(world)) check_rest(world);
    control(world);
    control(world);
    if (world->idle_count < world->executors) return;
    if (world->led) {
        world->rests = true;
        return;
    }
    int64_t due = gx_world_due(world), now = now_of(world);
    if (ticks_in_vain(world)) due = INT64_MAX;
    bool hurried = due == INT64_MAX || gx_random_below(&world->sim->random, 4) == 0;
    bool moved = hurried && hurry(world);
    if (!moved && due == INT64_MAX)
        stop_what_is_kept(world);
    else if (!moved)
        gale_manual_clock_advance(world->sim->clock, due > now ? due - now : 1);
    wake_all(world);
}

/* To when a tuple that a fault holds is answered, or a task is asked again to open. False: none is held, and all are open. */
static bool pass_to_release(gx_world *world) {
    int64_t due = gx_sim_release_due(world->sim), now = now_of(world);
    for (uint32_t i = 0; i < world->executors; i++) {
        int64_t opens = gx_opening_due(shared_of(world)->executors[i]);
        if (opens < due) due = opens;
    }
    if (due == INT64_MAX || gx_phase(shared_of(world)) >= GALE_PHASE_CLOSING) return false;
    gale_manual_clock_advance(world->sim->clock, due > now ? due - now : 1);
    return true;
}

/* Where ticks are due at every step, not all executors ever rest at once: what waits for that goes on after so many steps
 * in which nothing else happened. */
static void end_vain_steps(gx_world *world) {
    uint64_t trace = world->sim->oracle.trace;
    if (trace == world->told_trace && world->steps - world->told_steps < GX_WORLD_STEPS_IN_VAIN) return;
    if (trace == world->told_trace && !hurry(world) && !pass_to_release(world)) stop_what_is_kept(world);
    world->told_trace = trace;
    world->told_steps = world->steps;
}

/* --- The run --- */

/* Who waits for the end is told of what ended the run, and of nothing else. */
static void check_error(gx_world *world) {
    gx_oracle *oracle = &world->sim->oracle;
    int rc = shared_of(world)->fatal.code;
    bool asked = world->sim->broken, failed = world->sim->disk->failed;
    bool meddled = world->sim->disk->meddling.done && rc == GALE_DAMAGED;
    bool right = meddled || (asked && rc == GALE_COMPONENT) || (failed && rc == GALE_IO) || (!asked && rc == 0);
    if (!oracle->scarce && !right)
        gx_oracle_violated(oracle, "the run was %s by a component, its disk has %s, and its error is %s: %.200s",
                           asked ? "ended" : "not ended", failed ? "failed" : "not failed", gale_error_name(rc),
                           shared_of(world)->fatal.text);
}

static bool all_idle_but_stalled(const gx_world *world) {
    for (uint32_t i = 0; i < world->executors; i++)
        if (!world->idle[i] && world->stalled[i] <= now_of(world)) return false;
    return true;
}

static void turn(gx_world *world) {
    gx_sim *sim = world->sim;
    uint32_t index = gx_random_below(&sim->random, world->executors);
    if (gx_orders_give(&world->orders, sim->runtime, world->steps, sim->emitted)) wake_all(world);
    if (gx_delays_lift(&sim->delays, shared_of(world), world->steps)) wake_all(world);
    bool bustles = sim->crowd.count && gx_random_below(&sim->random, world->bustle) == 0;
    if (bustles && gx_sim_crowd_act(&sim->crowd)) wake_all(world);
    if (!world->still && gx_random_below(&sim->random, 4) == 0) gx_sim_pass_time(sim, world->pace);
    if (!maybe_stall(world, index)) step(world, index);
    if (gx_random_below(&sim->random, 8) == 0) control(world);
    if (world->idle_count == world->executors)
        rest(world);
    else if (all_idle_but_stalled(world))
        gx_sim_pass_time(sim, 4 * world->pace);
}

void gx_world_begin(gx_world *world, gx_sim *sim) {
    world->sim = sim;
    gx_shared *shared = shared_of(world);
    world->executors = shared->executor_count;
    sim->phase = GALE_PHASE_NEW;
    gx_orders_give(&world->orders, sim->runtime, 0, 0);
    gx_executors_move(shared, GALE_PHASE_NEW, GALE_PHASE_OPENING);
}

static bool goes_on(const gx_world *world) {
    const gx_sim *sim = world->sim;
    return gx_phase(shared_of(world)) != GALE_PHASE_CLOSED && gx_oracle_holds(&sim->oracle) && !sim->disk->dead;
}

static void check_steps(gx_world *world) {
    if (world->steps - world->rested_at > GX_WORLD_STEPS_MAX)
        gx_oracle_violated(&world->sim->oracle, "the run does not end");
}

void gx_world_run(gx_world *world) {
    while (goes_on(world)) {
        turn(world);
        end_vain_steps(world);
        check_steps(world);
    }
}

bool gx_world_settle(gx_world *world) {
    world->rests = false;
    world->rested_at = world->steps;
    wake_all(world);
    while (goes_on(world) && !world->rests) {
        turn(world);
        check_steps(world);
    }
    return world->rests;
}

void gx_world_move_to(gx_world *world, int64_t when) {
    int64_t now = now_of(world);
    if (when > now) gale_manual_clock_advance(world->sim->clock, when - now);
    wake_all(world);
}

void gx_world_end(gx_world *world) {
    gx_sim *sim = world->sim;
    gx_oracle *oracle = &sim->oracle;
    gx_delays_lift(&sim->delays, shared_of(world), UINT64_MAX);
    if (gx_phase(shared_of(world)) != GALE_PHASE_CLOSED || !gx_oracle_holds(oracle) || sim->disk->dead) return;
    oracle->ending = !sim->drained;
    check_figures(world);
    check_sums(world);
    if (oracle->open_count)
        gx_oracle_violated(oracle, "the run is over, but %u trees were never answered", oracle->open_count);
    gx_sim_tasks_check(sim);
    gx_sim_listener_end(sim);
    gx_book_end(&sim->book, sim->drained);
    gx_sim_letters_end(&sim->letters);
    if (!world->still) check_error(world);
}
