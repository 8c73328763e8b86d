#include "runtime/runtime.h"

#include "base/bits.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "base/os/cpu.h"
#include "base/os/entropy.h"
#include "base/os/time.h"
#include "engine/collector.h"
#include "engine/health.h"
#include "engine/hooks.h"
#include "engine/spout.h"
#include "engine/taps.h"
#include "engine/tune.h"
#include "runtime/debug.h"
#include "runtime/drain_watch.h"
#include "runtime/durable_warning.h"
#include "runtime/idle.h"
#include "runtime/locate.h"
#include "runtime/step.h"
#include "runtime/timeout_warning.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    RING_MAX = 256 << 10,
    RING_MIN = 32 << 10,
    LOOKS = 4, /* for news, between two empty steps of one that spins */
    WAIT_LOOK = 250 * GALE_MILLISECOND,
};

static_assert(RING_MIN >= 4 * GX_BATCH_LARGE, "several batches go into a ring");

#define RING_MEMORY (UINT64_C(32) << 20)
#define STATE_MEMORY_MB 64
#define QUEUE_LIMIT (UINT64_C(64) << 20)

/* --- Making --- */

static uint64_t ring_capacity(const gale_runtime *runtime, uint64_t memory) {
    const gx_shared *shared = &runtime->shared;
    if (shared->knobs.ring_capacity) return shared->knobs.ring_capacity;
    uint64_t pairs = 0;
    for (uint32_t a = 0; a < shared->executor_count; a++)
        for (uint32_t b = 0; b < shared->executor_count; b++) pairs += a != b && gx_plan_feeds(shared->plan, a, b);
    uint64_t each = (memory ? memory : RING_MEMORY) / (pairs ? pairs : 1);
    uint64_t capacity = RING_MAX;
    while (capacity > RING_MIN && capacity > each) capacity /= 2;
    return capacity;
}

static int make_executors(gale_runtime *runtime, const gale_runtime_options *options) {
    gx_shared *shared = &runtime->shared;
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        int rc = gx_executor_new(shared, (uint16_t)i, gx_collector_ops(), &shared->executors[i]);
        if (rc < 0) return rc;
    }
    uint64_t capacity = ring_capacity(runtime, options->ring_memory);
    for (uint32_t a = 0; a < shared->executor_count; a++)
        for (uint32_t b = 0; b < shared->executor_count; b++) {
            int rc = a == b ? GALE_OK : gx_executor_connect(shared->executors[a], shared->executors[b], capacity);
            if (rc < 0) return rc;
        }
    return GALE_OK;
}

static int make_tables(gale_runtime *runtime) {
    gx_shared *shared = &runtime->shared;
    gx_heap *heap = &shared->heap;
    uint32_t tasks = runtime->plan->task_count;
    shared->tasks = gx_alloc_array(heap, GX_TAG_PLAN, tasks + 1u, sizeof *shared->tasks);
    shared->flow.congested = gx_alloc_array(heap, GX_TAG_PLAN, tasks + 1u, 1);
    shared->flow.efforts = gx_alloc_array(heap, GX_TAG_PLAN, shared->executor_count, sizeof *shared->flow.efforts);
    shared->executors = gx_alloc_array(heap, GX_TAG_PLAN, shared->executor_count, sizeof *shared->executors);
    runtime->threads = gx_alloc_array(heap, GX_TAG_PLAN, shared->executor_count, sizeof *runtime->threads);
    shared->mailboxes = gx_alloc_array(heap, GX_TAG_PLAN, (shared->executor_count + 1u) * shared->executor_count,
                                       sizeof *shared->mailboxes);
    runtime->logged = gx_alloc_array(heap, GX_TAG_PLAN, runtime->plan->component_count, sizeof *runtime->logged);
    shared->tuned = gx_alloc_array(heap, GX_TAG_PLAN, runtime->plan->component_count, sizeof *shared->tuned);
    if (!shared->tuned) return GALE_NO_MEMORY;
    gx_tune_begin(shared);
    shared->warned = gx_alloc_array(heap, GX_TAG_PLAN, runtime->plan->component_count, sizeof *shared->warned);
    return shared->warned && runtime->logged && shared->mailboxes && shared->tasks && shared->flow.congested &&
                   shared->flow.efforts && shared->executors && runtime->threads
               ? GALE_OK
               : GALE_NO_MEMORY;
}

static void take_options(gale_runtime *runtime, const gale_runtime_options *options, const gx_knobs *knobs) {
    gx_shared *shared = &runtime->shared;
    if (knobs) shared->knobs = *knobs;
    shared->flow.high = shared->knobs.queue_high ? shared->knobs.queue_high : GX_FLOW_HIGH;
    shared->flow.low = shared->knobs.queue_high ? shared->knobs.queue_high / 2 : GX_FLOW_LOW;
    shared->logger = *options->logger;
    shared->clock = *options->clock;
    shared->seed = options->seed ? options->seed : gx_os_entropy();
    shared->until_drained = options->until_drained;
    shared->queue_limit = options->queue_limit ? options->queue_limit : QUEUE_LIMIT;
    snprintf(
        shared->limit_text, sizeof shared->limit_text,
        "the queue of the task was at its limit of %llu bytes (queue_limit): one call that feeds it emits more, or "
        "a cycle does",
        (unsigned long long)shared->queue_limit);
    gx_store_relaxed(&shared->activity, options->inactive ? GX_INACTIVE : 0);
    shared->executor_count = options->executors ? options->executors : gx_os_cpu_count();
    if (shared->executor_count > GALE_EXECUTORS_MAX) shared->executor_count = GALE_EXECUTORS_MAX;
    shared->fatal = (gale_error)GALE_ERROR_INIT;
    runtime->spins = options->spins;
}

/* The runtime's clock goes on from the checkpoint's. */
static int64_t durable_now(void *user) {
    const gx_cut_shared *cut = user;
    return cut->clock.now(cut->clock.user) + cut->clock_offset;
}

static void make_durable(gx_shared *shared, const gale_topology *topology, const gale_runtime_options *options) {
    if (!options->store) return;
    shared->cut.clock = shared->clock;
    uint64_t configured =
        (uint64_t)gale_config_i64(gale_topology_config(topology), "gale.state.memory.mb", STATE_MEMORY_MB) << 20;
    shared->cut.state_memory = options->state_memory ? options->state_memory : configured;
    shared->clock.now = durable_now;
    shared->clock.user = &shared->cut;
}

/* What components are to know before they are opened. */
static void tell_tasks(gx_shared *shared, bool resumes) {
    for (uint32_t id = 1; id <= shared->plan->task_count; id++) {
        gx_task *task = shared->tasks[id];
        task->context.durable = true;
        task->context.resumes = resumes;
    }
}

/* A store that was opened for another topology. */
static int check_owner(const gale_runtime *runtime, const gale_store *store, gale_error *error) {
    gale_store_about about = { .size = sizeof about };
    const char *name = gale_topology_name(runtime->topology);
    int rc = store->about(store->self, &about, error);
    if (rc < 0 || !about.topology || strcmp(about.topology, name) == 0) return rc;
    return gale_error_set(error, GALE_STATE, "the store has the state of topology '%s', not of '%s'", about.topology,
                          name);
}

/* Goes on from the last checkpoint, if there is one. The executors are made, and none runs. */
static int resume(gale_runtime *runtime, const gale_runtime_options *options, gale_error *error) {
    gx_shared *shared = &runtime->shared;
    gx_checkpoint *checkpoint = &runtime->checkpoint;
    if (!options->store) return GALE_OK;
    int rc = check_owner(runtime, options->store, error);
    if (rc < 0) return rc;
    int64_t interval = options->checkpoint_interval;
    if (interval <= 0)
        interval = GALE_MILLISECOND * gale_config_i64(gale_topology_config(runtime->topology),
                                                      "topology.state.checkpoint.interval.ms", 1000);
    gx_adopt_words words = { options->adopt, options->adopt_count };
    rc = gx_checkpoint_init(checkpoint, shared, options->store, interval, words, error);
    if (rc < 0) return gale_error_add(error, "'%s' cannot go on", gale_topology_name(runtime->topology)), rc;
    shared->cut.store = &checkpoint->store;
    shared->cut.restore = &checkpoint->restore;
    shared->cut.complete = checkpoint->is.complete;
    runtime->control.checkpoint = checkpoint;
    gx_durable_warning(shared);
    tell_tasks(shared, checkpoint->restore.found);
    return GALE_OK;
}

static void release(gale_runtime *runtime);

static int make(gale_runtime *runtime, gale_topology *topology, const gale_runtime_options *options,
                gale_error *error) {
    gx_shared *shared = &runtime->shared;
    runtime->has_monitor = gx_monitor_init(&shared->monitor);
    if (!runtime->has_monitor) return gale_error_set(error, GALE_NO_MEMORY, "the system refuses a mutex");
    int rc = gx_plan_new(&shared->heap, topology, shared->executor_count, options->inline_blocking, &runtime->plan,
                         error);
    if (rc < 0) return rc;
    shared->plan = runtime->plan;
    shared->debug = gx_debug_hook();
    shared->executor_count = runtime->plan->executor_count;
    make_durable(shared, runtime->topology, options);
    rc = make_tables(runtime);
    if (rc == GALE_OK) rc = make_executors(runtime, options);
    if (rc == GALE_OK) gx_timeout_warning_start(shared);
    if (rc == GALE_NO_MEMORY) return gale_error_set(error, rc, "no memory to run '%s'", gale_topology_name(topology));
    if (rc < 0) return gale_error_set(error, rc, "no eventfd for an executor of '%s'", gale_topology_name(topology));
    return resume(runtime, options, error);
}

/* The options as this version knows them, with the handles that they name. */
typedef struct wishes {
    gale_runtime_options options;
    gale_allocator allocator;
    gale_logger logger;
    gale_clock clock;
} wishes;

static int take_wishes(wishes *to, const gale_runtime_options *given, gale_error *error) {
    gale_runtime_options *options = &to->options;
    int rc = gx_options_take(options, sizeof *options, given, "runtime: options", error);
    if (rc == GALE_OK) rc = gx_allocator_take(&to->allocator, options->allocator, "runtime: options.allocator", error);
    if (rc == GALE_OK) rc = gx_logger_take(&to->logger, options->logger, "runtime: options.logger", error);
    if (rc == GALE_OK) rc = gx_clock_take(&to->clock, options->clock, "runtime: options.clock", error);
    if (rc < 0) return rc;
    options->allocator = &to->allocator;
    options->logger = &to->logger;
    options->clock = &to->clock;
    if (options->executors <= GALE_EXECUTORS_MAX) return GALE_OK;
    return gale_error_set(error, GALE_INVALID, "%u executors are more than the %d that are possible",
                          options->executors, GALE_EXECUTORS_MAX);
}

int gx_runtime_make(gale_topology *topology, const gale_runtime_options *options, const gx_knobs *knobs,
                    gale_runtime **ret_runtime, gale_error *error) {
    wishes given;
    int rc = take_wishes(&given, options, error);
    if (rc == GALE_OK) rc = gale_topology_check(topology, error);
    if (rc < 0) return rc;
    gx_heap heap;
    gx_heap_init(&heap, &given.allocator);
    gale_runtime *runtime = gx_alloc_apart(&heap, GX_TAG_PLAN, sizeof *runtime);
    if (!runtime) return gale_error_set(error, GALE_NO_MEMORY, "no memory to run '%s'", gale_topology_name(topology));
    runtime->shared.heap = heap;
    runtime->topology = topology;
    runtime->loop = (gx_loop)GX_LOOP_INIT;
    gx_topology_ref(topology);
    take_options(runtime, &given.options, knobs);
    rc = make(runtime, topology, &given.options, error);
    if (rc < 0) {
        release(runtime);
        return rc;
    }
    gx_mark_begin(&runtime->mark, GX_KIND_RUNTIME);
    *ret_runtime = runtime;
    return GALE_OK;
}

int gale_runtime_new(gale_topology *topology, const gale_runtime_options *options, gale_runtime **ret_runtime,
                     gale_error *error) {
    if (!ret_runtime) return gale_error_set(error, GALE_INVALID, "a new runtime needs a place for its pointer");
    return gx_runtime_make(topology, options, NULL, ret_runtime, error);
}

static void release(gale_runtime *runtime) {
    gx_shared *shared = &runtime->shared;
    gx_heap *heap = &shared->heap;
    uint32_t n = shared->executor_count;
    gx_mark_end(&runtime->mark);
    gx_loop_fini(&runtime->loop);
    gx_locate_fini(shared);
    gx_checkpoint_fini(&runtime->checkpoint);
    for (uint32_t i = 0; shared->executors && i < n; i++)
        if (shared->executors[i]) gx_executor_empty(shared->executors[i]);
    for (uint32_t i = 0; shared->executors && i < n; i++) gx_executor_free(shared->executors[i]);
    if (runtime->plan) {
        uint32_t tasks = runtime->plan->task_count;
        gx_free(heap, GX_TAG_PLAN, shared->tasks, (tasks + 1u) * sizeof *shared->tasks);
        gx_free(heap, GX_TAG_PLAN, shared->flow.congested, tasks + 1u);
        gx_free(heap, GX_TAG_PLAN, shared->flow.efforts, n * sizeof *shared->flow.efforts);
        gx_free(heap, GX_TAG_PLAN, shared->executors, n * sizeof *shared->executors);
        gx_free(heap, GX_TAG_PLAN, shared->mailboxes, (n + 1u) * n * sizeof *shared->mailboxes);
        size_t components = runtime->plan->component_count;
        gx_free(heap, GX_TAG_PLAN, runtime->logged, components * sizeof *runtime->logged);
        gx_free(heap, GX_TAG_PLAN, shared->tuned, components * sizeof *shared->tuned);
        gx_free(heap, GX_TAG_PLAN, shared->warned, components * sizeof *shared->warned);
        gx_free(heap, GX_TAG_PLAN, runtime->threads, n * sizeof *runtime->threads);
    }
    gx_taps_fini(shared);
    gx_metric_names_free(&shared->metric_names, heap);
    gx_plan_free(runtime->plan);
    if (runtime->has_monitor) gx_monitor_fini(&shared->monitor);
    gx_topology_unref(runtime->topology);
    gx_heap last = *heap; /* the account is inside what is freed */
    gx_free_apart(&last, GX_TAG_PLAN, runtime, sizeof *runtime);
}

/* --- Where a call comes from --- */

/* The runtimes whose components this thread is calling: one of them may step another runtime, never its own. */
typedef struct inside {
    const gale_runtime *runtime;
    const struct inside *outer;
} inside;

static _Thread_local const inside *innermost;

/* What waits for its executors, or takes them away, would do so for ever, or from under its own feet. */
static bool is_inside(const gale_runtime *runtime) {
    for (const inside *i = innermost; i; i = i->outer)
        if (i->runtime == runtime) return true;
    return false;
}

static int refuse_inside(gale_error *error) {
    return gale_error_set(error, GALE_STATE, "called from inside a component of this runtime");
}

static int refuse_nothing(gale_error *error) {
    return gale_error_set(error, GALE_INVALID, "there is no runtime");
}

/* --- Threads --- */

typedef struct body_arguments {
    gale_runtime *runtime;
    gx_executor *executor;
} body_arguments;

/* Until something wants it. */
static void park(gale_runtime *runtime, gx_executor *ex, gx_idle *idle) {
    if (!gx_bell_may_park(&ex->bell)) return;
    int64_t due = gx_step_due(ex), pause = due == INT64_MAX ? -1 : due > ex->now ? due - ex->now : 0;
    int64_t look = ex->index == 0 ? gx_control_pause(&runtime->control, &runtime->shared) : -1;
    if (look >= 0 && (pause < 0 || pause > look)) pause = look;
    gx_watches *watches = &ex->watches;
    bool readable = false;
    if (pause != 0 && !gx_step_has_news(ex))
        gx_idle_slept(idle, gx_wake_park(&ex->bell.wake, watches->armed ? watches->set : -1, &readable, pause));
    if (readable) watches->look_due = 0;
    gx_bell_wake(&ex->bell);
}

/* Looking for news takes a tenth of a step. What comes in the middle of one waits for its end. */
static void look_out(gx_executor *ex) {
    for (int i = 0; i < LOOKS && !gx_step_has_news(ex); i++) gx_os_cpu_relax();
}

/* An empty step. */
static void rest(gale_runtime *runtime, gx_executor *ex, uint32_t times, gx_idle *idle) {
    if (gx_idle_parks(idle, times, ex->now))
        park(runtime, ex, idle);
    else if (times < idle->steps / 4)
        look_out(ex);
    else
        gx_os_cpu_yield();
}

/* The last executor that closes its tasks must still see the phase closed: executor 0 stays for that. */
static bool is_over(const gx_executor *ex) {
    return ex->closed && (ex->index != 0 || gx_phase(ex->shared) == GALE_PHASE_CLOSED);
}

static void *executor_body(void *user) {
    body_arguments *arguments = user;
    gale_runtime *runtime = arguments->runtime;
    gx_executor *ex = arguments->executor;
    free(arguments);
    const inside here = { runtime, NULL };
    innermost = &here;
    ex->thread = gx_thread_self();
    gx_effort *effort = &ex->shared->flow.efforts[ex->index];
    gx_idle idle = gx_idle_new(runtime->spins);
    size_t before = 0;
    for (uint32_t times = 0; !is_over(ex);) {
        int64_t began = ex->now;
        size_t done = gx_step(ex);
        if (done && before) gx_effort_measure(effort, ex->now - began, before); /* an empty step may have slept */
        before = done;
        if (ex->index == 0) done += gx_control_step(&runtime->control, &runtime->shared);
        if (done) {
            gx_idle_worked(&idle, times);
            times = 0;
        } else {
            rest(runtime, ex, ++times, &idle);
        }
    }
    return NULL;
}

static bool start_thread(gale_runtime *runtime, uint32_t index) {
    body_arguments *arguments = malloc(sizeof *arguments);
    if (!arguments) return false;
    *arguments = (body_arguments){ runtime, runtime->shared.executors[index] };
    char name[32];
    snprintf(name, sizeof name, "gale-%u", index);
    if (gx_thread_start(&runtime->threads[index], name, executor_body, arguments)) return true;
    free(arguments);
    return false;
}

static int fatal_error(gx_shared *shared, gale_error *error) {
    gx_monitor_lock(&shared->monitor);
    int rc = shared->fatal.code;
    if (rc && error) *error = shared->fatal;
    gx_monitor_unlock(&shared->monitor);
    return rc;
}

/* Is nothing opened before it is activated? */
static bool is_shut(gx_shared *shared) {
    return gx_load_acquire(&shared->activity) == GX_INACTIVE;
}

/* All were asked, and some said "not now". */
static bool waits_for_others(gx_shared *shared) {
    return gx_load_acquire(&shared->tried) == shared->executor_count && gx_load_acquire(&shared->unopened);
}

/* From the first thread to the last tuple's component: what comes after the phase was moved. */
static int start(gale_runtime *runtime, gale_error *error) {
    gx_shared *shared = &runtime->shared;
    gx_store_relaxed(&runtime->threaded, 1);
    if (shared->cut.store && !gx_checkpoint_start(&runtime->checkpoint)) {
        gx_store_relaxed(&runtime->threaded, 0);
        gx_executors_close(shared);
        gx_add_release(&shared->closed, shared->executor_count);
        gx_control_step(&runtime->control, shared);
        return gale_error_set(error, GALE_NO_MEMORY, "the system refuses the committer's thread");
    }
    while (runtime->threads_started < shared->executor_count && start_thread(runtime, runtime->threads_started))
        runtime->threads_started++;
    if (runtime->threads_started < shared->executor_count) {
        /* Those that never ran have nothing to close. */
        gx_store_relaxed(&runtime->threaded, runtime->threads_started > 0);
        gx_executors_close(shared);
        for (uint32_t i = runtime->threads_started; i < shared->executor_count; i++) gx_add_release(&shared->closed, 1);
        if (!runtime->threads_started) gx_control_step(&runtime->control, shared); /* nobody else would close it */
        return gale_error_set(error, GALE_NO_MEMORY, "the system refuses thread %u of %u", runtime->threads_started + 1,
                              shared->executor_count);
    }
    gx_monitor_lock(&shared->monitor);
    while (gx_phase(shared) == GALE_PHASE_OPENING && !is_shut(shared) && !waits_for_others(shared))
        gx_monitor_wait(&shared->monitor, 100 * GALE_MILLISECOND);
    gx_monitor_unlock(&shared->monitor);
    /* Once it has run, what stopped it is gale_runtime_wait's to tell, however soon that was. */
    return gx_load_acquire(&shared->started_at) ? GALE_OK : fatal_error(shared, error);
}

static int begin(gale_runtime *runtime, gale_error *error) {
    if (!gx_runtime_is(runtime)) return refuse_nothing(error);
    if (gx_executors_move(&runtime->shared, GALE_PHASE_NEW, GALE_PHASE_OPENING)) return GALE_OK;
    return gale_error_set(error, GALE_STATE, "the runtime was started before");
}

int gale_runtime_start(gale_runtime *runtime, gale_error *error) {
    int rc = begin(runtime, error);
    return rc < 0 ? rc : start(runtime, error);
}

/* One step of every executor, on the calling thread. */
static size_t step_all(gale_runtime *runtime) {
    gx_shared *shared = &runtime->shared;
    const inside here = { runtime, innermost };
    size_t done = 0;
    innermost = &here;
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        shared->executors[i]->thread = gx_thread_self();
        done += gx_step(shared->executors[i]);
    }
    done += gx_control_step(&runtime->control, shared);
    if (!done) { /* the control reads twice */
        for (uint32_t i = 0; i < shared->executor_count; i++) done += gx_step_has_news(shared->executors[i]);
        if (!done) done += gx_control_step(&runtime->control, shared);
    }
    innermost = here.outer;
    return done;
}

/* Is it stepped by its caller, and this a call of his? */
static bool may_step(const gale_runtime *runtime) {
    bool threaded = gx_load_relaxed(&((gale_runtime *)(uintptr_t)runtime)->threaded);
    return !is_inside(runtime) && !threaded && !runtime->plan->blocking_count;
}

int64_t gale_runtime_step(gale_runtime *runtime) {
    if (!gx_runtime_is(runtime)) return GALE_INVALID;
    gx_shared *shared = &runtime->shared;
    if (!may_step(runtime)) return GALE_STATE;
    gx_executors_move(shared, GALE_PHASE_NEW, GALE_PHASE_OPENING);
    if (gx_phase(shared) == GALE_PHASE_CLOSED) return GALE_STOPPED;
    return (int64_t)step_all(runtime);
}

int64_t gale_runtime_next_due(const gale_runtime *runtime) {
    int64_t due = INT64_MAX;
    if (!gx_runtime_is(runtime)) return due;
    for (uint32_t i = 0; i < runtime->shared.executor_count; i++) {
        int64_t one = gx_step_due(runtime->shared.executors[i]);
        if (one < due) due = one;
    }
    return due;
}

int gale_runtime_fd(gale_runtime *runtime) {
    if (!gx_runtime_is(runtime)) return GALE_INVALID;
    return may_step(runtime) ? gx_loop_open(&runtime->loop, &runtime->shared) : GALE_STATE;
}

/* When the control wants to look again, too. */
static int64_t next_look(const gale_runtime *runtime) {
    gx_shared *shared = &((gale_runtime *)(uintptr_t)runtime)->shared;
    int64_t due = gale_runtime_next_due(runtime), pause = gx_control_pause(&runtime->control, shared);
    if (pause < 0) return due;
    int64_t look = shared->clock.now(shared->clock.user) + pause;
    return look < due ? look : due;
}

int64_t gale_runtime_step_for(gale_runtime *runtime, int64_t nanoseconds) {
    if (!gx_runtime_is(runtime)) return GALE_INVALID;
    if (!may_step(runtime)) return GALE_STATE;
    int64_t until = gx_os_deadline(nanoseconds), done;
    gx_loop_wake(&runtime->loop, &runtime->shared);
    while ((done = gale_runtime_step(runtime)) > 0 && (nanoseconds < 0 || gx_os_monotonic() < until)) {
    }
    return done ? (done < 0 ? done : 0) : gx_loop_park(&runtime->loop, &runtime->shared, next_look(runtime));
}

int gale_runtime_run(gale_runtime *runtime, gale_error *error) {
    int rc = begin(runtime, error);
    if (rc < 0) return rc;
    rc = start(runtime, error);
    int waited = gale_runtime_wait(runtime, -1, rc < 0 ? NULL : error);
    return rc < 0 ? rc : waited;
}

/* --- Commands --- */

void gale_runtime_drain(gale_runtime *runtime) {
    if (!gx_runtime_is(runtime)) return;
    gx_shared *shared = &runtime->shared;
    if (gx_executors_move(shared, GALE_PHASE_RUNNING, GALE_PHASE_DRAINING)) return;
    int32_t phase = gx_phase(shared);
    if (phase == GALE_PHASE_NEW || (phase == GALE_PHASE_OPENING && is_shut(shared))) {
        gale_runtime_stop(runtime); /* nothing has begun */
    } else if (phase <= GALE_PHASE_RUNNING) {
        gx_store_seq(&shared->drain_asked, 1);
        gx_executors_move(shared, GALE_PHASE_RUNNING, GALE_PHASE_DRAINING); /* if the control has not seen that */
        gx_bell_ring(&shared->executors[0]->bell);
    }
}

void gale_runtime_stop(gale_runtime *runtime) {
    if (!gx_runtime_is(runtime)) return;
    gx_shared *shared = &runtime->shared;
    if (gx_executors_move(shared, GALE_PHASE_NEW, GALE_PHASE_CLOSED)) return; /* nothing was opened */
    gx_executors_close(shared);
}

void gale_runtime_deactivate(gale_runtime *runtime) {
    if (!gx_runtime_is(runtime)) return;
    gx_or_release(&runtime->shared.activity, GX_INACTIVE);
    gx_executors_wake(&runtime->shared);
}

void gale_runtime_activate(gale_runtime *runtime) {
    if (!gx_runtime_is(runtime)) return;
    gx_and_release(&runtime->shared.activity, ~(uint32_t)GX_INACTIVE);
    gx_executors_wake(&runtime->shared);
}

void gale_runtime_reopen(gale_runtime *runtime) {
    if (!gx_runtime_is(runtime)) return;
    gx_add_release(&runtime->shared.reopen, 1);
    gx_executors_wake(&runtime->shared);
}

/* --- Durable runs --- */

int gale_runtime_commit(gale_runtime *runtime, gale_error *error) {
    if (!gx_runtime_is(runtime)) return refuse_nothing(error);
    if (!runtime->shared.cut.store) return gale_error_set(error, GALE_STATE, "the run is not durable");
    if (gx_load_relaxed(&runtime->threaded))
        return gale_error_set(error, GALE_STATE, "the runtime has a thread that commits");
    return gx_checkpoint_commit(&runtime->checkpoint, error);
}

int gale_runtime_checkpoint(gale_runtime *runtime, int64_t nanoseconds, uint64_t *ret_number) {
    uint64_t number = 0;
    if (!gx_runtime_is(runtime)) return GALE_INVALID;
    if (!runtime->shared.cut.store || !gx_load_relaxed(&runtime->threaded) || is_inside(runtime)) return GALE_STATE;
    uint64_t before = gx_load_acquire(&runtime->shared.cut.lasting);
    gx_checkpoint_wish(&runtime->checkpoint, GX_CHECKPOINT_ASKED);
    int rc = gx_checkpoint_wait(&runtime->checkpoint, before, nanoseconds, &number);
    if (ret_number) *ret_number = number;
    return rc;
}

void gale_runtime_suspend(gale_runtime *runtime) {
    if (!gx_runtime_is(runtime)) return;
    if (!runtime->shared.cut.store || gx_phase(&runtime->shared) < GALE_PHASE_RUNNING) {
        gale_runtime_stop(runtime);
        return;
    }
    gx_checkpoint_wish(&runtime->checkpoint, GX_CHECKPOINT_ASKED | GX_CHECKPOINT_THEN_STOP);
}

bool gale_runtime_checkpoint_stats(const gale_runtime *runtime, gale_checkpoint_stats *ret_stats) {
    if (!gx_runtime_is(runtime) || !ret_stats || !runtime->shared.cut.store) return false;
    gx_checkpoint *checkpoint = &((gale_runtime *)(uintptr_t)runtime)->checkpoint;
    size_t size = ret_stats->size;
    gale_checkpoint_stats stats = gx_checkpoint_stats(checkpoint);
    if (size == 0 || size > sizeof stats) size = sizeof stats;
    stats.size = size;
    memcpy(ret_stats, &stats, size);
    return true;
}

int gale_runtime_open_trees(gale_runtime *runtime, gale_open_tree *ret_trees, uint32_t room, int64_t nanoseconds) {
    if (!gx_runtime_is(runtime) || !ret_trees) return GALE_INVALID;
    if (is_inside(runtime)) return GALE_STATE;
    gx_shared *shared = &runtime->shared;
    size_t stride = ret_trees->size;
    if (stride == 0 || stride > sizeof(gale_open_tree) || nanoseconds < 0) return GALE_INVALID;
    if (room > GALE_OPEN_TREES_MAX) room = GALE_OPEN_TREES_MAX;
    int32_t phase = gx_phase(shared);
    if (room == 0 || phase < GALE_PHASE_RUNNING || phase >= GALE_PHASE_CLOSING) return 0;
    gale_open_tree *trees = calloc(room, sizeof *trees);
    if (!trees) return GALE_NO_MEMORY;
    /* Who sees it running sees whether by threads: see gale_runtime_start. */
    bool steps_by_caller = !gx_load_relaxed(&runtime->threaded);
    int count = gx_locate_open_trees(shared, trees, room, gx_os_deadline(nanoseconds), steps_by_caller);
    for (int i = 0; i < count; i++) {
        trees[i].size = stride;
        memcpy((char *)ret_trees + (size_t)i * stride, &trees[i], stride);
    }
    free(trees);
    return count;
}

int gale_runtime_unwell(gale_runtime *runtime, gale_unwell *ret_unwell, uint32_t room) {
    if (!gx_runtime_is(runtime) || (room && !ret_unwell)) return GALE_INVALID;
    gx_shared *shared = &runtime->shared;
    size_t stride = room ? ret_unwell->size : sizeof *ret_unwell;
    if (stride == 0 || stride > sizeof *ret_unwell) return GALE_INVALID;
    if (room > shared->plan->task_count) room = shared->plan->task_count;
    gale_unwell *found = calloc(room + 1u, sizeof *found);
    if (!found) return GALE_NO_MEMORY;
    uint32_t count = gx_health_read(shared, found, room);
    for (uint32_t i = 0; i < room && i < count; i++) {
        found[i].size = stride;
        memcpy((char *)ret_unwell + i * stride, &found[i], stride);
    }
    free(found);
    return (int)count;
}

/* With the monitor's lock, which is free for the while. A drain is watched from here too, in case that executor 0 is in
 * a call; that one begins tells nobody, since a signal handler may begin it. */
static void wait_a_while(gx_shared *shared, int64_t left) {
    int64_t pause = gx_control_waits(shared) ? GX_DRAIN_WATCH_LOOK : WAIT_LOOK;
    gx_monitor_wait(&shared->monitor, left < 0 || left > pause ? pause : left);
    gx_monitor_unlock(&shared->monitor);
    gx_drain_watch(shared, shared->clock.now(shared->clock.user));
    gx_monitor_lock(&shared->monitor);
}

static bool wait_closed(gale_runtime *runtime, int64_t nanoseconds) {
    gx_shared *shared = &runtime->shared;
    int64_t until = gx_os_deadline(nanoseconds);
    gx_monitor_lock(&shared->monitor);
    while (gx_phase(shared) != GALE_PHASE_CLOSED) {
        int64_t left = nanoseconds < 0 ? -1 : until - gx_os_monotonic();
        if (nanoseconds >= 0 && left <= 0) break;
        wait_a_while(shared, left);
    }
    gx_monitor_unlock(&shared->monitor);
    return gx_phase(shared) == GALE_PHASE_CLOSED;
}

int gale_runtime_wait(gale_runtime *runtime, int64_t nanoseconds, gale_error *error) {
    if (!gx_runtime_is(runtime)) return refuse_nothing(error);
    if (is_inside(runtime)) return refuse_inside(error);
    if (!gx_load_relaxed(&runtime->threaded) && gx_phase(&runtime->shared) != GALE_PHASE_CLOSED)
        return gale_error_set(error, GALE_STATE, "the runtime has no threads to wait for");
    if (!wait_closed(runtime, nanoseconds))
        return gale_error_set(error, GALE_TIMED_OUT, "the runtime is still %s",
                              gale_phase_name(gx_phase(&runtime->shared)));
    return fatal_error(&runtime->shared, error);
}

static int report_stuck(gale_runtime *runtime, gale_error *error) {
    gx_shared *shared = &runtime->shared;
    for (uint32_t i = 0; i < shared->executor_count; i++) {
        const gx_task *task = gx_load_relaxed(&shared->executors[i]->in_call_seen);
        if (task)
            return gale_error_set(error, GALE_TIMED_OUT, "executor %u is still in a call of '%s' (task %u)", i,
                                  task->context.component, task->id);
    }
    return gale_error_set(error, GALE_TIMED_OUT, "the executors are still %s", gale_phase_name(gx_phase(shared)));
}

static bool join_all(gale_runtime *runtime, int64_t nanoseconds) {
    bool joined = true;
    for (uint32_t i = 0; i < runtime->threads_started; i++) joined &= gx_thread_join(&runtime->threads[i], nanoseconds);
    return joined;
}

int gale_runtime_free(gale_runtime *runtime, int64_t nanoseconds, gale_error *error) {
    if (!runtime) return GALE_OK;
    if (!gx_runtime_is(runtime)) return refuse_nothing(error);
    if (is_inside(runtime)) return refuse_inside(error);
    gale_runtime_stop(runtime);
    if (runtime->threads_started) {
        if (!wait_closed(runtime, nanoseconds) || !join_all(runtime, nanoseconds)) return report_stuck(runtime, error);
    } else {
        while (gx_phase(&runtime->shared) != GALE_PHASE_CLOSED) step_all(runtime);
    }
    int rc = runtime->shared.cut.store ? gx_checkpoint_join(&runtime->checkpoint, nanoseconds, error) : GALE_OK;
    if (rc < 0) return rc;
    release(runtime);
    return GALE_OK;
}
