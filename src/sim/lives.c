#include "sim/lives.h"

#include "engine/cut.h"
#include "runtime/runtime.h"
#include "runtime/step.h"
#include "runtime/whole.h"
#include "sim/delay.h"
#include "sim/life.h"

#include <stdio.h>
#include <string.h>

enum { EXECUTORS = 4, STEPS_MAX = 4000000, LATE_STEPS = 24, LIVES_MAX = 64, WALK_EVERY = 127 };

/* How a life ends that does not come to its end. */
typedef enum ending { ENDS_ITSELF, ENDS_DEAD, ENDS_SUSPENDED, ENDS_STOPPED } ending;

/* Where the generators of a life's executors began, and from which checkpoint it went on. */
typedef struct begun {
    uint64_t number;
    uint32_t executors;
    gx_random random[EXECUTORS];
} begun;

typedef struct world {
    gx_life life;
    gale_runtime *runtime;
    gx_delays delays;
    const gale_logger *logger;
    uint64_t seed; /* of the runtimes: the same in each life, which must not matter */
    int64_t interval, pace;
    bool hasty;           /* its lives are short, on one executor, and cut as often as can be */
    uint32_t late, eager; /* odds: something is seen late; what is cut is committed */
    ending ending;
    uint64_t end_at;  /* the step at which it is suspended or stopped */
    uint64_t steps;   /* of this life */
    uint32_t at_rest; /* steps that did nothing, in a row */
    bool over;        /* it came to the end */
    begun begun[LIVES_MAX];
    uint32_t begun_count;
    gx_lives_result result;
} world;

static uint32_t below(world *w, uint32_t n) {
    return gx_random_below(&w->life.random, n);
}

static bool holds(const world *w) {
    return gx_deeds_hold(&w->life.deeds);
}

static gx_shared *shared_of(const world *w) {
    return &w->runtime->shared;
}

static void trace(world *w, uint64_t what) {
    w->result.trace = gx_random_mix(w->result.trace ^ what) + 1;
}

/* --- A life's begin --- */

static void plan_end(world *w, bool last) {
    gx_death *death = &w->life.death;
    static const ending endings[] = { ENDS_DEAD, ENDS_DEAD, ENDS_DEAD,      ENDS_DEAD,
                                      ENDS_DEAD, ENDS_DEAD, ENDS_SUSPENDED, ENDS_STOPPED };
    w->ending = last ? ENDS_ITSELF : endings[below(w, 8)];
    gx_place place = w->ending == ENDS_DEAD ? (gx_place)(1 + below(w, GX_PLACE_COUNT - 1)) : GX_PLACE_NONE;
    uint32_t scale = place == GX_PLACE_STEP ? 11 : place == GX_PLACE_PUT || place == GX_PLACE_READ ? 7 : 5;
    if (w->hasty && w->ending == ENDS_DEAD) { /* soon after the first checkpoints */
        place = (gx_place)(GX_PLACE_COMMITTED + below(w, GX_PLACE_TOLD - GX_PLACE_COMMITTED + 1));
        scale = 2;
    }
    gx_death_plan(death, place, 1 + below(w, 1u << below(w, scale)));
    w->end_at = 1 + below(w, 1u << below(w, 12));
}

/* Can it have another number of tasks, as far as what is expected of it goes? The engine may still refuse it. */
static bool may_change(const gx_life_node *node) {
    for (uint32_t i = 0; i < node->input_count; i++)
        if (node->inputs[i].grouping == GALE_GROUPING_ALL) return false;
    return node->kind != GX_LIFE_SPOUT;
}

static int make_once(world *w, gale_error *error) {
    gx_life *life = &w->life;
    gale_topology *topology = gx_life_build(life, error);
    if (!topology) return error->code ? error->code : GALE_NO_MEMORY;
    gale_clock clock = gale_manual_clock_handle(life->clock);
    gale_store store = gx_vault_open(&life->vault);
    gx_knobs knobs = { .batch_room = below(w, 2) ? 1u << below(w, 13) : 0,
                       .ring_capacity = 2048u << below(w, 4),
                       .ack_capacity = 1024u << below(w, 3),
                       .queue_high = 512u << below(w, 8) };
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.clock = &clock;
    options.logger = w->logger;
    options.seed = w->seed;
    options.executors = w->hasty ? 1 : 1 + below(w, EXECUTORS);
    options.until_drained = true;
    options.store = &store;
    options.checkpoint_interval = w->interval;
    options.state_memory = 1u << (8 + below(w, 12));
    int rc = gx_runtime_make(topology, &options, &knobs, &w->runtime, error);
    gale_topology_free(topology);
    return rc;
}

/* With another number of tasks of one component, sometimes; when that is refused, with as many as before. */
static int make(world *w, gale_error *error) {
    gx_life *life = &w->life;
    gx_life_node *node = &life->nodes[below(w, life->count)];
    bool changes = life->vault.commits > 0 && below(w, 3) == 0 && may_change(node);
    uint32_t before = node->tasks;
    if (changes) node->tasks = 1 + below(w, 4);
    bool reordered = node->reordered;
    node->reordered |= node->tasks != before;
    int rc = make_once(w, error);
    if (rc == GALE_OK || node->tasks == before) return rc;
    node->tasks = before;
    node->reordered = reordered;
    if (rc != GALE_STATE) return rc;
    w->result.refused++;
    *error = (gale_error)GALE_ERROR_INIT;
    return make_once(w, error);
}

/* --- A life --- */

static gx_place place_now(const world *w) {
    if (w->runtime->checkpoint.image == GX_IMAGE_CUT) return GX_PLACE_CUT;
    switch (gx_cut_stage_of(gx_cut_word(shared_of(w)))) {
    case GX_CUT_HOLD: return GX_PLACE_HOLD;
    case GX_CUT_STOP: return GX_PLACE_STOP;
    case GX_CUT_SAVE: return GX_PLACE_SAVE;
    default: return GX_PLACE_STEP;
    }
}

/* What the executor wrote for others, and whether each sees it now. */
static void show_what_is_written(world *w, gx_executor *ex) {
    for (uint32_t to = 0; w->late && to < shared_of(w)->executor_count; to++) {
        bool is_new = gx_delays_is_new(&w->delays, ex, to);
        if (is_new && below(w, w->late) == 0)
            gx_delays_hide(&w->delays, ex, to, w->steps + 1 + below(w, LATE_STEPS));
        else if (is_new)
            gx_delays_show(&w->delays, ex, to);
        else
            gx_delays_keep(&w->delays, ex, to);
    }
}

static size_t step(world *w) {
    gx_executor *ex = shared_of(w)->executors[below(w, shared_of(w)->executor_count)];
    ex->thread = gx_thread_self();
    w->life.closing = gx_phase(ex->shared) >= GALE_PHASE_CLOSING;
    size_t done = gx_step(ex);
    w->steps++;
    show_what_is_written(w, ex);
    if (w->steps % WALK_EVERY == 0 && !w->life.death.dead) {
        const char *flaw = gx_whole_flaw(ex);
        if (flaw) gx_deeds_violated(&w->life.deeds, "executor %u: %s", ex->index, flaw);
    }
    trace(w, (uint64_t)done << 8 | ex->index);
    return done;
}

/* The committer has a thread of its own: the run goes on meanwhile. */
static void meanwhile(void *user) {
    world *w = user;
    if (!w->life.death.meanwhile || below(w, 4)) return;
    w->life.death.meanwhile = NULL;
    for (uint32_t more = 1 + below(w, 3); more > 0; more--) step(w);
    if (below(w, 2)) gx_control_step(&w->runtime->control, shared_of(w));
    w->life.death.meanwhile = meanwhile;
}

static bool has_to_commit(const world *w) {
    const gx_checkpoint *c = &w->runtime->checkpoint;
    return c->image == GX_IMAGE_CUT || c->image == GX_IMAGE_STORED || gx_keepers_due(&c->keepers) != INT64_MAX;
}

static size_t commit(world *w) {
    gale_error error = GALE_ERROR_INIT;
    if (!has_to_commit(w) || below(w, w->eager)) return 0;
    const gx_checkpoint *c = &w->runtime->checkpoint;
    int64_t due = gx_keepers_due(&c->keepers);
    uint32_t image = c->image;
    w->life.death.user = w;
    w->life.death.meanwhile = meanwhile;
    int rc = gale_runtime_commit(w->runtime, &error);
    w->life.death.meanwhile = NULL;
    if (rc < 0 && !w->life.death.dead)
        gx_deeds_violated(&w->life.deeds, "a checkpoint could not be committed: %s", error.text);
    if (rc == 1) w->result.checkpoints++;
    trace(w, (uint64_t)rc << 32);
    return rc == 1 || image != c->image || due != gx_keepers_due(&c->keepers);
}

/* Ends it by order, when its moment has come. */
static void order(world *w) {
    if (w->steps != w->end_at || w->life.finished) return;
    if (w->ending == ENDS_SUSPENDED) gale_runtime_suspend(w->runtime);
    if (w->ending == ENDS_STOPPED) gale_runtime_stop(w->runtime);
}

/* How long nothing happens: before all are open, or where only a late commit is waited for, until one is asked again. */
static int64_t rest_of(const world *w) {
    bool opens = gx_phase(shared_of(w)) == GALE_PHASE_OPENING;
    int64_t due = opens ? gale_runtime_next_due(w->runtime) : gx_keepers_due(&w->runtime->checkpoint.keepers);
    int64_t now = gale_manual_clock_advance(w->life.clock, 0);
    return due != INT64_MAX && due > now ? due - now : GALE_MILLISECOND / 4;
}

static void turn(world *w) {
    size_t done = gx_delays_lift(&w->delays, shared_of(w), w->steps);
    done += step(w);
    if (gx_death_comes(&w->life.death, place_now(w))) return;
    if (below(w, 3) == 0) done += gx_control_step(&w->runtime->control, shared_of(w));
    done += commit(w);
    if (w->life.death.dead) return;
    if (below(w, 4) == 0 && !w->life.closing) gx_life_hand_over(&w->life);
    order(w);
    w->at_rest = done ? 0 : w->at_rest + 1;
    int64_t pass = w->at_rest > 4 * EXECUTORS ? rest_of(w) : 0;
    if (below(w, 4) == 0) pass += below(w, (uint32_t)w->pace);
    gale_manual_clock_advance(w->life.clock, pass);
}

static void live(world *w) {
    gx_shared *shared = shared_of(w);
    gx_executors_move(shared, GALE_PHASE_NEW, GALE_PHASE_OPENING);
    while (gx_phase(shared) != GALE_PHASE_CLOSED && holds(w) && !w->life.death.dead) {
        turn(w);
        if (w->steps > STEPS_MAX)
            gx_deeds_violated(&w->life.deeds, "a life does not end, in phase %s", gale_phase_name(gx_phase(shared)));
    }
    gx_delays_lift(&w->delays, shared, UINT64_MAX);
}

/* It has closed, or has died: is it as it should be? */
static void look_back(world *w) {
    const gx_shared *shared = shared_of(w);
    gale_checkpoint_stats stats = { .size = 0 };
    if (gale_runtime_checkpoint_stats(w->runtime, &stats)) w->result.put_off += stats.put_off;
    w->result.deaths += w->life.death.dead;
    if (w->life.death.dead || !holds(w)) return;
    if (shared->fatal.code) gx_deeds_violated(&w->life.deeds, "a life ended by an error: %s", shared->fatal.text);
    const gx_checkpoint *c = &w->runtime->checkpoint;
    w->over = c->is.complete && stats.number == c->is.number && gx_keepers_kept(&c->keepers, c->is.number);
    if (!w->over && w->ending == ENDS_ITSELF) gx_deeds_violated(&w->life.deeds, "a life ended too soon");
}

static void end(world *w) {
    w->life.death.dead |= !w->over; /* it is taken down: nothing that comes has an effect */
    w->life.closing = true;
    gale_runtime_free(w->runtime, -1, NULL);
    w->runtime = NULL;
    if (w->life.alive) gx_deeds_violated(&w->life.deeds, "%u tasks were opened and never closed", w->life.alive);
    w->result.steps += w->steps;
}

static void begin(world *w) {
    gx_life *life = &w->life;
    gx_deeds_begin(&life->deeds);
    life->closing = false;
    life->told = 0;
    w->steps = w->at_rest = 0;
    w->over = false;
    w->late = below(w, 2) ? 2 + below(w, 30) : 0;
    w->eager = w->hasty ? 1 : 1 + below(w, 1u << below(w, 8));
}

/* A life must not draw the edges again that one before the checkpoint drew: in a tree that goes on, they would cancel. */
static void check_edges(world *w) {
    const gx_shared *shared = shared_of(w);
    begun *now = &w->begun[w->begun_count < LIVES_MAX ? w->begun_count++ : LIVES_MAX - 1];
    *now = (begun){ .number = w->runtime->checkpoint.is.number, .executors = shared->executor_count };
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        now->random[i] = shared->executors[i]->random;
        for (const begun *before = w->begun; before < now; before++)
            if (before->number != now->number && i < before->executors &&
                memcmp(&before->random[i], &now->random[i], sizeof now->random[i]) == 0)
                gx_deeds_violated(&w->life.deeds,
                                  "executor %u goes on from checkpoint %llu, and draws edges that were drawn "
                                  "before it",
                                  i, (unsigned long long)now->number);
    }
}

/* GALE_NO_MEMORY. */
static int one_life(world *w, bool last, gale_error *error) {
    begin(w);
    plan_end(w, last);
    w->result.lives++;
    int rc = make(w, error);
    if (rc < 0 && w->life.death.dead) {
        w->result.deaths++;
        return GALE_OK; /* as it read what was there */
    }
    if (rc == GALE_NO_MEMORY) return rc;
    if (rc < 0) {
        gx_deeds_violated(&w->life.deeds, "a life could not begin: %s", error->text);
        return GALE_OK;
    }
    check_edges(w);
    w->life.finished = shared_of(w)->cut.complete;
    w->result.tasks = shared_of(w)->plan->task_count;
    if (gx_delays_begin(&w->delays, &w->life.deeds.heap, shared_of(w)->executor_count) < 0) return GALE_NO_MEMORY;
    live(w);
    look_back(w);
    end(w);
    return GALE_OK;
}

/* What sinks have committed. */
static void keep_outside(gx_life *life) {
    for (size_t i = 0; i < life->outside.count; i++) {
        const gx_part *part = &life->outside.parts[i];
        for (size_t at = 0; part->committed && at < part->effects.size; at += sizeof(gx_effect)) {
            gx_effect effect;
            memcpy(&effect, part->effects.data + at, sizeof effect);
            gx_deeds_kept(&life->deeds, part->component, effect.message, effect.path, 1);
        }
    }
}

/* --- All lives --- */

static int all_lives(world *w, gale_error *error) {
    uint32_t most = 1 + below(w, w->hasty ? 40 : 12);
    int rc = GALE_OK;
    while (rc == GALE_OK && holds(w) && !w->over) rc = one_life(w, w->result.lives >= most, error);
    if (rc < 0 || !holds(w)) return rc;
    keep_outside(&w->life);
    gx_deeds_end(&w->life.deeds);
    if (!holds(w) || below(w, 4)) return rc;
    rc = one_life(w, true, error); /* what has ended is not run again */
    if (rc < 0 || !holds(w)) return rc;
    keep_outside(&w->life);
    gx_deeds_end(&w->life.deeds);
    return rc;
}

static int start(world *w, uint64_t seed, gale_error *error) {
    gx_life *life = &w->life;
    life->random = gx_random_new(seed, 7);
    life->clock = gale_manual_clock_new(0);
    gx_vault_init(&life->vault, &life->death);
    gx_outside_init(&life->outside);
    int rc = gx_deeds_init(&life->deeds);
    if (rc == GALE_OK && life->clock) rc = gx_life_draw(life);
    w->seed = gx_random_id(&life->random);
    w->hasty = below(w, 4) == 0;
    w->pace = GALE_MICROSECOND << (w->hasty ? 8 : below(w, 13));
    w->interval = (GALE_MILLISECOND / 20) << (w->hasty ? 0 : below(w, 8));
    if (rc < 0 || !life->clock) return gale_error_set(error, GALE_NO_MEMORY, "no memory for a durable run");
    return GALE_OK;
}

static void finish(world *w, gx_death *places) {
    gx_life *life = &w->life;
    for (int i = 0; places && i < GX_PLACE_COUNT; i++) {
        places->passed[i] += life->death.passed[i];
        places->deaths[i] += life->death.deaths[i];
    }
    w->result.holds = holds(w);
    w->result.exact = life->deeds.exact;
    w->result.messages = life->deeds.count;
    w->result.executed = life->executed;
    snprintf(w->result.text, sizeof w->result.text, "%s", life->deeds.problem);
    gx_delays_fini(&w->delays, &life->deeds.heap);
    gx_outside_fini(&life->outside);
    gx_vault_fini(&life->vault);
    gx_deeds_fini(&life->deeds);
    gale_manual_clock_free(life->clock);
}

int gx_lives_run(uint64_t seed, const gale_logger *logger, gx_death *places, gx_lives_result *ret_result,
                 gale_error *error) {
    world w = { .logger = logger };
    gale_error own = GALE_ERROR_INIT;
    if (!error) error = &own;
    int rc = start(&w, seed, error);
    if (rc == GALE_OK) rc = all_lives(&w, error);
    finish(&w, places);
    *ret_result = w.result;
    return rc;
}
