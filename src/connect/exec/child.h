/* A task's child: run, listened to, ended, and started again as the settings say.
 *
 * What:
 *              begin --> runs --its end--> `ended` is called --> gx_exec_child_again: when it may begin again, or not
 *                          ^                                          |
 *                          +------------------------------------------+
 *
 * Threads: the task's. Owner: the task's instance; watches go with the task, the rest is for gx_exec_child_fini. What it is given
 * beside standard error is the caller's.
 * Errors:  in words, which gx_exec_child_words has of its last end. */
#ifndef GX_CONNECT_EXEC_CHILD_H
#define GX_CONNECT_EXEC_CHILD_H

#include "base/os/process.h"
#include "connect/exec/said.h"
#include "connect/exec/settings.h"
#include "kit/define.h"

typedef struct gx_exec_child {
    const gx_exec_settings *settings;
    const gale_context *context;
    gale_collector *out;
    gx_heap *heap;
    const char **environment;
    char numbers[2][32]; /* GALE_TASK and GALE_TASKS */
    gx_process process;
    gx_exec_said said;
    uint64_t watch; /* of its end; 0: none */
    bool runs;
    int64_t began;
    uint32_t failed; /* in a row */
    bool unwell;     /* it has failed, and the next one has done nothing yet */
    gale_error last; /* why it could not begin, if so */
    void (*ended)(void *user);
    void *user;
} gx_exec_child;

/* Allocates its environment. GALE_NO_MEMORY. `ended` is called when one that was begun has ended, outside of the other functions. */
int gx_exec_child_init(gx_exec_child *child, const gx_exec_settings *settings, gx_instance *instance,
                       gale_collector *out, void (*ended)(void *user), void *user);
void gx_exec_child_fini(gx_exec_child *child);

/* Begins one with this end of a pipe (gx_process_fd), whose other end is put there. What gx_process_start and gale_watch_new say,
 * with the words in `last`. */
int gx_exec_child_begin(gx_exec_child *child, gx_process_fd *pipe);

/* One that was begun cannot be talked to, since a watch could not be made (`rc`): it is killed, and could not begin. Returns `rc`. */
int gx_exec_child_abandon(gx_exec_child *child, int rc);

/* Of one that has ended: did it so well? */
bool gx_exec_child_succeeded(const gx_exec_child *child);

/* It has ended, or could not begin. True: it is to begin again at `*ret_due`; the log says so, and a failure is told as the task's
 * health (gale_health). */
bool gx_exec_child_again(gx_exec_child *child, int64_t *ret_due);

/* It has written or read something: whatever was, it is well again. */
void gx_exec_child_tell_well(gx_exec_child *child);
GX_INLINE void gx_exec_child_works(gx_exec_child *child) {
    if (GX_UNLIKELY(child->unwell)) gx_exec_child_tell_well(child);
}

/* "command 'x' ended with exit status 3: its last words" in `error`, with this code. Returns the code. */
int gx_exec_child_words(const gx_exec_child *child, int code, gale_error *error);

/* It is to end: SIGTERM now, SIGKILL later. When to call again, as gx_process_end. */
int64_t gx_exec_child_urge(gx_exec_child *child);

/* Listens to it until it has ended, or the time has come (of the machine's clock). True: it has; `ended` is not called. */
bool gx_exec_child_await(gx_exec_child *child, int64_t until);

/* Tells it to end, and waits for that so long until it is killed. True: it was. `ended` is not called. */
bool gx_exec_child_end(gx_exec_child *child, int64_t patience);

#endif
