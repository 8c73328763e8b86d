#include "sink/sink.h"

#include <gale/state.h>
#include <inttypes.h>
#include <stdio.h>

/* --- Life ------------------------------------------------------------------------------------------------------------- */

static int begin(sink_task *task, gale_collector *out, uint64_t memory, uint64_t most, gale_error *error) {
    gale_dispatch_options options = GALE_DISPATCH_OPTIONS_INIT;
    options.memory = memory;
    if (most) options.most = most;
    return gale_dispatch_new(task->context, out, &options, &task->dispatch, error);
}

static int begin_once(sink_task *task, gale_collector *out, uint64_t memory, const sink_once *once, const void *given,
                      gale_error *error) {
    gale_epochs_options options = GALE_EPOCHS_OPTIONS_INIT;
    const gale_context *c = task->context;
    char id[SINK_ID_MAX];
    snprintf(id, sizeof id, "%s/%s/%" PRIu32, c->topology, c->component, c->task_index);
    options.memory = memory;
    options.commit = once->commit;
    options.look = once->look;
    options.drop = once->free;
    options.user = once->make(given, id);
    if (!options.user) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = gale_epochs_new(c, out, &options, &task->epochs, error);
    if (rc < 0) once->free(options.user);
    return rc;
}

int sink_task_open(sink_task *task, const gale_context *context, gale_collector *out, uint64_t memory, uint64_t most,
                   const sink_once *once, const void *given, gale_error *error) {
    task->context = context;
    task->once = context->durable;
    return task->once ? begin_once(task, out, memory, once, given, error) : begin(task, out, memory, most, error);
}

void sink_task_close(sink_task *task) {
    gale_dispatch_free(task->dispatch);
    gale_epochs_free(task->epochs);
}

/* --- Tuples ----------------------------------------------------------------------------------------------------------- */

void sink_be_taken(void *self, uint64_t id) {
    (void)gale_dispatch_ack(((sink_task *)self)->dispatch, id);
}

void sink_be_refused(void *self, uint64_t id, const char *why) {
    (void)gale_dispatch_fail(((sink_task *)self)->dispatch, id, GALE_REASON_REJECTED, why);
}

bool sink_may_send(void *self) {
    return gale_dispatch_may_send(((sink_task *)self)->dispatch);
}

void sink_be_sent(void *self, uint64_t id) {
    gale_dispatch_sent(((sink_task *)self)->dispatch, id);
}

uint64_t sink_be_lost(void *self, bool counts, const char *why) {
    return gale_dispatch_lost(((sink_task *)self)->dispatch, counts, why);
}

int sink_take_once(sink_task *task, const gale_tuple *tuple, gale_collector *out, const gale_value *row, size_t count) {
    int rc = gale_epochs_take(task->epochs, row, count);
    return rc < 0 ? rc : gale_ack(out, gale_tuple_handle(tuple));
}

int sink_finish(sink_task *task, int64_t patience, const char *name, const char *what, gale_dispatch_drive_fn *drive) {
    return task->once ? 0 : gale_dispatch_finish(task->dispatch, patience, name, what, drive, task);
}

/* --- Checkpoints ------------------------------------------------------------------------------------------------------ */

static int save(void *self, gale_saver *to) {
    return gale_epochs_save(((sink_task *)self)->epochs, to);
}

static int restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return gale_epochs_restore(((sink_task *)self)->epochs, from);
}

static void committed(void *self, uint64_t checkpoint) {
    gale_epochs_committed(((sink_task *)self)->epochs, checkpoint);
}

const gale_durable_ops sink_durable = {
    .size = sizeof sink_durable,
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = save,
    .restore = restore,
    .committed = committed,
};
