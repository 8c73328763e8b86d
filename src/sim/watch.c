#include "sim/watch.h"

/* Lives as long as its task, so that it is there while its function frees the watch. */
typedef struct gx_sim_watch {
    gx_sim_task *task;
    gale_watch_fn *call;
    void *user;
    struct gx_sim_watch *next;
} gx_sim_watch;

static int call(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    gx_sim_watch *wrapped = user;
    gx_sim_task *task = wrapped->task;
    (void)out;
    gx_sim_enter_for(task, GX_SIM_CALL_WATCH);
    int rc = wrapped->call(wrapped->user, &task->out, watch, events);
    gx_sim_leave(task);
    return rc;
}

static gx_sim_watch *wrap(gx_sim_task *task, const gale_watch_options *options) {
    gx_sim_watch *wrapped = gx_alloc(&task->sim->heap, GX_TAG_OTHER, sizeof *wrapped);
    if (!wrapped) return NULL;
    *wrapped = (gx_sim_watch){ task, options->call, options->user, task->watches };
    return task->watches = wrapped;
}

void gx_sim_watches_end(gx_sim_task *task) {
    while (task->watches) {
        gx_sim_watch *wrapped = task->watches;
        task->watches = wrapped->next;
        gx_free(&task->sim->heap, GX_TAG_OTHER, wrapped, sizeof *wrapped);
    }
}

/* What makes no sense is refused by the engine. */
int gx_sim_watch_new(gale_collector *out, const gale_watch_options *options, gale_watch *ret_watch) {
    gx_sim_task *task = (gx_sim_task *)out;
    gale_watch_options wrapped;
    bool may = options && options->size >= sizeof wrapped && options->call;
    if (!may) return gx_sim_engine_ops(task)->watch_new(task->engine, options, ret_watch);
    wrapped = *options;
    wrapped.size = sizeof wrapped;
    wrapped.user = wrap(task, options);
    wrapped.call = call;
    if (!wrapped.user) return GALE_NO_MEMORY;
    return gx_sim_engine_ops(task)->watch_new(task->engine, &wrapped, ret_watch);
}

int gx_sim_watch_set(gale_collector *out, gale_watch watch, int32_t events, int64_t at) {
    gx_sim_task *task = (gx_sim_task *)out;
    return gx_sim_engine_ops(task)->watch_set(task->engine, watch, events, at);
}

int gx_sim_watch_free(gale_collector *out, gale_watch watch) {
    gx_sim_task *task = (gx_sim_task *)out;
    return gx_sim_engine_ops(task)->watch_free(task->engine, watch);
}
