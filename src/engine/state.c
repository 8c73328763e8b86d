#include "engine/state.h"

/* The store cannot be read: nothing that comes from it can be trusted, and the run stops. */
static void stop(void *user, const gale_error *error) {
    gx_task *task = user;
    gale_error told = *error;
    gx_task_report(task, error->text);
    gale_error_add(&told, "task %u of '%s' stopped the run", task->id, task->context.component);
    gx_executors_fail(task->executor->shared, &told);
}

/* Of what all tasks may have in memory. */
static uint64_t share_of(const gx_shared *shared) {
    uint32_t tasks = shared->plan->task_count - shared->plan->acker_count;
    uint64_t share = shared->cut.state_memory / (tasks ? tasks : 1);
    return shared->cut.state_memory && !share ? 1 : share;
}

static bool make(gx_task *task) {
    gx_shared *shared = task->executor->shared;
    gx_task_states *states = gx_alloc(&shared->heap, GX_TAG_PLAN, sizeof *states);
    if (!states) return false;
    gx_heap_init(&states->heap, &shared->heap.allocator);
    const gx_keyed_about about = { .heap = &states->heap,
                                   .clock = shared->clock,
                                   .seed = gx_random_mix(shared->seed ^ gx_random_mix(task->id)),
                                   .store = shared->cut.store,
                                   .memory = share_of(shared),
                                   .component = task->context.component,
                                   .kept = shared->cut.kept ? shared->cut.kept[task->component] : NULL,
                                   .task_index = task->context.task_index,
                                   .task_count = task->context.task_count,
                                   .by_key = gx_plan_is_by_key(shared->plan, task->component),
                                   .failed = stop,
                                   .user = task };
    gx_keyed_init(&states->keyed, &about);
    task->states = states;
    return true;
}

static int open_state(gx_task *task, const gale_state_options *options, gale_state **ret_state) {
    gale_error error = GALE_ERROR_INIT;
    if (task->open) return GALE_STATE;
    if (!task->states && !make(task)) return GALE_NO_MEMORY;
    int rc = gx_keyed_open(&task->states->keyed, options, ret_state, &error);
    if (rc < 0) gx_task_report(task, error.text);
    return rc;
}

int gx_state_open(gale_collector *out, const gale_state_options *options, gale_state **ret_state) {
    gx_task *task = (gx_task *)out;
    if (gx_executor_is_elsewhere(task)) return GALE_THREAD;
    int rc = open_state(task, options, ret_state);
    if (rc < 0) gx_count(&task->counters.misused, 1);
    return rc;
}

int gx_state_cut(gx_task *task, uint64_t checkpoint, gx_changes *to) {
    return task->states ? gx_keyed_cut(&task->states->keyed, checkpoint, to) : GALE_OK;
}

void gx_state_committed(gx_task *task, uint64_t checkpoint) {
    if (task->states) gx_keyed_committed(&task->states->keyed, checkpoint);
}

void gx_state_wish(gale_collector *out) {
    gx_task *task = (gx_task *)out;
    gx_shared *shared = task->executor->shared;
    task->wishes = shared->cut.store != NULL;
    if (!shared->cut.store || gx_load_relaxed(&shared->cut.soon)) return;
    gx_store_relaxed(&shared->cut.soon, 1);
    gx_bell_ring(&shared->executors[0]->bell);
}
