#include "sim/simulator.h"

#include "sim/random.h"
#include "sim/remote.h"
#include "sim/world.h"
#include "sim/wrap.h"

#include <stdio.h>
#include <string.h>

struct gx_simulator {
    gx_sim sim;
    gx_simulator_options options;
    gx_world world;       /* of the run */
    gale_topology *drawn; /* for the run, or NULL */
};

int gx_simulator_new(const gx_simulator_options *options, gx_simulator **ret_simulator, gale_error *error) {
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    gx_simulator *simulator = gx_alloc(&heap, GX_TAG_OTHER, sizeof *simulator);
    if (!simulator) return gale_error_set(error, GALE_NO_MEMORY, "no memory for a simulator");
    gx_sim *sim = &simulator->sim;
    simulator->options = *options;
    sim->heap = heap;
    gx_sim_disk_init(&sim->own_disk, &sim->heap);
    sim->disk = options->disk ? options->disk : &sim->own_disk;
    sim->generate = options->topology && !options->keep_spouts;
    sim->capture = options->topology && !options->keep_sinks;
    sim->by_class = sim->crowded = !options->topology;
    sim->watcher = options->watcher;
    int rc = gx_oracle_init(&sim->oracle, &sim->heap);
    if (rc == GALE_OK) rc = gx_coverage_init(&sim->coverage, &sim->heap);
    if (rc < 0) gale_error_set(error, rc, "no memory for a simulator");
    if (rc == GALE_OK && options->topology) rc = gale_topology_check(options->topology, error);
    if (rc == GALE_OK && options->topology) rc = gx_sim_wrap(sim, options->topology, error);
    if (rc < 0)
        gx_simulator_free(simulator);
    else
        *ret_simulator = simulator;
    return rc < 0 ? rc : GALE_OK;
}

void gx_simulator_free(gx_simulator *simulator) {
    if (!simulator) return;
    gx_sim *sim = &simulator->sim;
    gx_sim_unwrap(sim);
    gx_oracle_fini(&sim->oracle);
    gx_book_fini(&sim->book);
    gx_sim_letters_fini(&sim->letters);
    gx_sim_disk_fini(&sim->own_disk);
    gx_coverage_fini(&sim->coverage);
    gx_delays_fini(&sim->delays, &sim->heap);
    gx_free(&sim->heap, GX_TAG_OTHER, sim->tasks, sim->task_capacity * sizeof *sim->tasks);
    gx_free(&sim->heap, GX_TAG_OTHER, sim->before, sim->before_capacity * sizeof *sim->before);
    gx_heap heap = sim->heap;
    gx_free(&heap, GX_TAG_OTHER, simulator, sizeof *simulator);
}

const gx_coverage *gx_simulator_coverage(const gx_simulator *simulator) {
    return &simulator->sim.coverage;
}

/* --- One run --- */

/* Sizes that a few hundred trees can fill: from batches of one row up. */
static void draw_sizes(gx_simulator *simulator, gx_knobs *knobs, gale_runtime_options *options) {
    gx_sim *sim = &simulator->sim;
    gx_random *random = &sim->random;
    knobs->ring_capacity = simulator->options.topology ? 32u << 10 : 2048u << gx_random_below(random, 4);
    if (gx_random_below(random, 4)) knobs->batch_room = 1u << gx_random_below(random, 13);
    knobs->ack_capacity = 1024u << gx_random_below(random, 3);
    knobs->queue_high = 512u << gx_random_below(random, 8);
    sim->limited = !simulator->options.led && gx_random_below(random, 4) == 0;
    if (sim->limited) options->queue_limit = 1024u << gx_random_below(random, 6);
}

static void draw_run(gx_simulator *simulator, uint64_t seed) {
    gx_sim *sim = &simulator->sim;
    const gx_simulator_options *o = &simulator->options;
    sim->random = gx_random_new(seed, 1);
    sim->faults = o->draw_faults ? gx_faults_draw(&sim->random) : o->faults;
    sim->rarities = (gx_sim_rarities){ false };
    if (!o->topology)
        sim->rarities = gx_sim_rarities_draw(gx_random_new(seed, 6)); /* apart: the others stay as they are */
    if (sim->rarities.scarce && o->draw_faults) sim->faults.odds[GX_FAULT_ALLOC] = UINT32_MAX / 32;
    sim->memory = (gx_sim_memory){ .random = gx_random_new(seed, 2),
                                   .odds = sim->faults.odds[GX_FAULT_ALLOC],
                                   .fail_at = o->fail_at };
    if (sim->disk == &sim->own_disk) {
        gx_sim_disk_fini(&sim->own_disk);
        gx_sim_disk_init(&sim->own_disk, &sim->heap);
    }
    gx_sim_disk_begin(sim->disk, gx_random_new(seed, 5), sim->faults.odds[GX_FAULT_DISK], o->dies_at);
    sim->emitted = sim->captured = 0;
    sim->in_call = 0;
    sim->drained = sim->broken = sim->resumed = false;
}

static int make(gx_simulator *simulator, gale_error *error) {
    gx_sim *sim = &simulator->sim;
    gx_world *world = &simulator->world;
    const gx_simulator_options *o = &simulator->options;
    gx_random *random = &sim->random;
    sim->roots = o->roots ? o->roots : 100 + gx_random_below(random, 160);
    world->led = world->still = o->led;
    if (!o->led) world->orders = gx_orders_draw(random, sim->roots);
    gale_allocator allocator = gx_sim_memory_handle(&sim->memory);
    gale_clock clock = gale_manual_clock_handle(sim->clock);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gx_knobs knobs = { 0 };
    draw_sizes(simulator, &knobs, &options);
    options.allocator = &allocator;
    options.clock = &clock;
    options.logger = o->logger;
    options.seed = gx_random_id(random);
    options.executors = o->executors ? o->executors : 1 + gx_random_below(random, 8);
    options.until_drained = true;
    options.inactive = world->orders.begins_inactive;
    options.inline_blocking = true;
    /* Most runs get to their start: what fails there is soon said. */
    sim->memory.armed = !o->led && gx_random_below(random, 8) == 0;
    return gx_runtime_make(sim->wrapped, &options, &knobs, &sim->runtime, error);
}

static uint32_t count_spout_tasks(const gx_plan *plan) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->component_count; i++)
        if (plan->components[i].built && plan->components[i].built->is_spout) count += plan->components[i].task_count;
    return count ? count : 1;
}

static bool has_cycle(const gx_plan *plan) {
    for (uint32_t c = 0; c < plan->component_count; c++)
        for (uint32_t s = 0; s < plan->components[c].stream_count; s++)
            for (uint32_t e = 0; e < plan->components[c].streams[s].edge_count; e++)
                if (plan->components[c].streams[s].edges[e].back) return true;
    return false;
}

/* A cycle that makes more than it takes reaches any limit of its queues: one that is watched, and near. */
static void bound_cycles(gx_sim *sim) {
    enum { LIMIT = 1 << 20 };
    gx_shared *shared = &sim->runtime->shared;
    if (sim->limited || !has_cycle(shared->plan)) return;
    shared->queue_limit = LIMIT;
    sim->limited = true;
}

static int prepare(gx_simulator *simulator) {
    gx_sim *sim = &simulator->sim;
    gx_world *world = &simulator->world;
    const gx_plan *plan = sim->runtime->plan;
    gx_random *random = &sim->random;
    int rc = gx_oracle_begin(&sim->oracle, plan);
    if (rc == GALE_OK) rc = gx_book_begin(&sim->book, &sim->heap, &sim->oracle, plan->task_count);
    gx_sim_letters_begin(&sim->letters, &sim->heap, &sim->oracle, sim->disk);
    if (rc == GALE_OK) rc = gx_delays_begin(&sim->delays, &sim->heap, plan->executor_count);
    if (rc < 0) return rc;
    if (!gx_grow(&sim->heap, GX_TAG_OTHER, &sim->before, &sim->before_capacity, plan->task_count + 1u,
                 sizeof *sim->before) ||
        !gx_grow(&sim->heap, GX_TAG_OTHER, &sim->tasks, &sim->task_capacity, plan->task_count + 1u, sizeof *sim->tasks))
        return GALE_NO_MEMORY;
    uint32_t spouts = count_spout_tasks(plan);
    sim->roots = (sim->roots + spouts - 1) / spouts;
    bound_cycles(sim);
    sim->limited |= plan->drop_slots > 0;
    sim->oracle.lossy = sim->limited || plan->deadline;
    sim->oracle.late = sim->faults.odds[GX_FAULT_LATE] > 0;
    sim->oracle.scarce = sim->memory.odds || sim->memory.fail_at;
    sim->memory.armed = true;
    world->bustle = 1u << gx_random_below(random, 8);
    gx_sim_remotes_watch(sim);
    world->pace = GALE_MICROSECOND << gx_random_below(random, 12);
    return GALE_OK;
}

static void fill(const gx_simulator *simulator, gx_simulator_result *result) {
    const gx_sim *sim = &simulator->sim;
    const gx_world *world = &simulator->world;
    const gx_oracle *oracle = &sim->oracle;
    *result = (gx_simulator_result){
        .holds = gx_oracle_holds(oracle),
        .cut = world->orders.ended || sim->runtime->shared.fatal.code,
        .died = sim->disk->dead,
        .executors = world->executors,
        .tasks = oracle->tasks,
        .roots = oracle->messages,
        .repeats = oracle->repeats,
        .letters = oracle->letters,
        .acked = oracle->acked,
        .failed = oracle->failed,
        .timed_out = oracle->timed_out,
        .rejected = oracle->rejected,
        .stopped = oracle->stopped,
        .deliveries = oracle->executed,
        .captured = sim->captured,
        .steps = world->steps,
        .allocations = sim->memory.calls,
        .failed_allocations = sim->memory.failed,
        .trace = oracle->trace,
    };
    for (uint32_t t = 1; t <= oracle->tasks; t++) {
        const gx_task_counters *counters = &sim->runtime->shared.tasks[t]->counters;
        result->shed += gx_load_relaxed(&counters->shed);
        result->overflowed += gx_load_relaxed(&counters->overflowed);
    }
    gale_clock clock = gale_manual_clock_handle(sim->clock);
    result->elapsed = clock.now(clock.user);
    snprintf(result->text, sizeof result->text, "%s", oracle->problem);
}

/* Ends the runtime, whatever state it is in; then nothing of its memory may be left. */
static void end_runtime(gx_simulator *simulator) {
    gx_sim *sim = &simulator->sim;
    sim->memory.armed = false;
    sim->memory.fail_at = 0;
    sim->oracle.ending = true;
    sim->oracle.dead = sim->disk->dead;
    gale_runtime_free(sim->runtime, -1, NULL);
    sim->oracle.dead = false;
    sim->runtime = NULL;
    gx_sim_crowd_end(&sim->crowd);
    gx_sim_tasks_free(sim);
    if (sim->memory.blocks || sim->memory.bytes)
        gx_oracle_violated(&sim->oracle, "the runtime is freed, but keeps %llu blocks of %llu bytes",
                           (unsigned long long)sim->memory.blocks, (unsigned long long)sim->memory.bytes);
}

/* A runtime that could not be made for want of memory leaves nothing behind and says so. */
static int refused(gx_simulator *simulator, int rc, const gale_error *error, gx_simulator_result *result) {
    gx_sim_memory *memory = &simulator->sim.memory;
    if (rc != GALE_NO_MEMORY || !memory->failed) return rc;
    *result = (gx_simulator_result){
        .holds = true, .refused = true, .allocations = memory->calls, .failed_allocations = memory->failed
    };
    if (memory->blocks || memory->bytes)
        snprintf(result->text, sizeof result->text, "a runtime that was refused keeps %llu blocks",
                 (unsigned long long)memory->blocks);
    else if (!error->length)
        snprintf(result->text, sizeof result->text, "a runtime was refused without a word");
    result->holds = !result->text[0];
    return GALE_OK;
}

/* The topology and the clock of a run. */
static int set_up(gx_simulator *simulator, uint64_t seed, gale_error *error) {
    gx_sim *sim = &simulator->sim;
    int rc = GALE_OK;
    draw_run(simulator, seed);
    simulator->world = (gx_world){ 0 };
    if (!simulator->options.topology) {
        gx_random random = gx_random_new(seed, 3);
        gx_sim_crowd_begin(&sim->crowd, &sim->heap, gx_random_new(seed, 4));
        rc = gx_sim_random_topology(&random, &sim->rarities, &sim->crowd, &simulator->drawn, error);
        if (rc == GALE_OK) rc = gx_sim_wrap(sim, simulator->drawn, error);
    }
    sim->clock = rc >= 0 ? gale_manual_clock_new(0) : NULL;
    if (rc >= 0 && !sim->clock) rc = gale_error_set(error, GALE_NO_MEMORY, "no memory for a clock");
    return rc;
}

static void tidy_up(gx_simulator *simulator) {
    gx_sim *sim = &simulator->sim;
    for (; sim->disk->failed; sim->disk->failed--) gx_coverage_count(&sim->coverage, "disk", GX_FAULT_DISK);
    gx_sim_disk_end(sim->disk);
    gale_manual_clock_free(sim->clock);
    sim->clock = NULL;
    if (simulator->options.topology) return;
    gx_sim_unwrap(sim);
    gale_topology_free(simulator->drawn);
    simulator->drawn = NULL;
}

/* `*ret_made`: the runtime could be made. */
static int begin(gx_simulator *simulator, uint64_t seed, bool *ret_made, gale_error *error) {
    int rc = set_up(simulator, seed, error);
    if (rc >= 0) rc = make(simulator, error);
    *ret_made = rc >= 0;
    if (rc < 0) return tidy_up(simulator), rc;
    rc = prepare(simulator);
    if (rc == GALE_OK) return gx_world_begin(&simulator->world, &simulator->sim), GALE_OK;
    end_runtime(simulator);
    tidy_up(simulator);
    return gale_error_set(error, rc, "the simulator cannot take this topology: %s", gale_error_text(rc));
}

int gx_simulator_begin(gx_simulator *simulator, uint64_t seed, gale_error *error) {
    bool made;
    return begin(simulator, seed, &made, error);
}

gale_runtime *gx_simulator_runtime(gx_simulator *simulator) {
    return simulator->sim.runtime;
}

gx_world *gx_simulator_world(gx_simulator *simulator) {
    return &simulator->world;
}

void gx_simulator_let_go(gx_simulator *simulator) {
    simulator->world.led = false;
    simulator->world.rested_at = simulator->world.steps;
    gx_world_run(&simulator->world);
}

void gx_simulator_end(gx_simulator *simulator, gx_simulator_result *ret_result) {
    gx_world_end(&simulator->world);
    fill(simulator, ret_result);
    end_runtime(simulator);
    ret_result->holds = gx_oracle_holds(&simulator->sim.oracle);
    snprintf(ret_result->text, sizeof ret_result->text, "%s", simulator->sim.oracle.problem);
    tidy_up(simulator);
}

int gx_simulator_run(gx_simulator *simulator, uint64_t seed, gx_simulator_result *ret_result, gale_error *error) {
    gale_error local = GALE_ERROR_INIT;
    bool made;
    if (!error) error = &local;
    int rc = begin(simulator, seed, &made, error);
    if (rc < 0) return made ? rc : refused(simulator, rc, error, ret_result);
    gx_world_run(&simulator->world);
    gx_simulator_end(simulator, ret_result);
    return GALE_OK;
}
