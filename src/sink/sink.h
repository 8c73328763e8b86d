/* sink/sink.h: the task of a sink whose system has transactions: what it is beside its system's words.
 *
 * What:    as it is, a tuple is held until the system has its row (gale_dispatch); in a durable run its row goes out with the checkpoint that has it
 *          (gale_epochs), under a marker that is named after topology, component and task.
 *
 *              sink_task_open -- not durable --> dispatch: the sink's writer says sink_be_taken, sink_be_refused
 *                             '- durable ------> epochs: sink_take_once, and what `once` makes commits them
 *
 * Misuse:  a `sink_task` is the first member of a task, so that what is given `self` here finds it.
 * Threads: the task's; what `once` makes is the committer's. Owner: sink_task_close. */
#ifndef GALE_SINK_SINK_H
#define GALE_SINK_SINK_H

#include <gale/connect.h>

enum { SINK_ID_MAX = 300 };

/* What commits epochs: made for the settings of a sink, which live longer, and the id of a task. `make` returns NULL when memory is out; `look` may be
 * NULL (gale_epochs_options). */
typedef struct sink_once {
    void *(*make)(const void *given, const char *id);
    void (*free)(void *once);
    gale_epoch_commit_fn *commit;
    int (*look)(void *once, gale_error *error);
} sink_once;

typedef struct sink_task {
    const gale_context *context;
    bool once; /* of the two it has one: */
    gale_dispatch *dispatch;
    gale_epochs *epochs;
} sink_task;

/* It holds so many bytes, and at most so many tuples (0: no bound of its own). Closed by sink_task_close, also after an error. */
int sink_task_open(sink_task *task, const gale_context *context, gale_collector *out, uint64_t memory, uint64_t most,
                   const sink_once *once, const void *given, gale_error *error);
void sink_task_close(sink_task *task);

/* A sink's writer tells what became of a tuple that is held, by the id of its dispatch; `self` is the task. */
void sink_be_taken(void *self, uint64_t id);
void sink_be_refused(void *self, uint64_t id, const char *why);

/* gale_dispatch_may_send, _sent and _lost. */
bool sink_may_send(void *self);
void sink_be_sent(void *self, uint64_t id);
uint64_t sink_be_lost(void *self, bool counts, const char *why);

/* A row is kept for the checkpoint, and its tuple is acked: that reaches the outside with the same checkpoint. */
int sink_take_once(sink_task *task, const gale_tuple *tuple, gale_collector *out, const gale_value *row, size_t count);

/* gale_dispatch_finish; in a durable run there is nothing to wait for. */
int sink_finish(sink_task *task, int64_t patience, const char *name, const char *what, gale_dispatch_drive_fn *drive);

/* What a sink's `ops.durable` points to. */
extern const gale_durable_ops sink_durable;

#endif
