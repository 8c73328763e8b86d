/* gale/hook.h: watching tasks.
 *
 * What:    a hook is a table of functions that a topology calls as its tasks live (Storm's ITaskHook). It sees; it
 *          changes nothing. A topology without hooks pays one test of a number an event.
 * Threads: each function is called on the thread of the task that it is about, so a hook of several tasks is called
 *          from several threads at once.
 * Misuse:  gale_topology_add_hook refuses a hook whose size was not set.
 * Owner:   what is passed is borrowed for the call. `user` is freed with `free_user` when the topology is freed, or
 *          when adding the hook fails.
 */
#ifndef GALE_HOOK_H
#define GALE_HOOK_H

#include <gale/component.h>

GALE_BEGIN

/* Every function may be NULL. `id` is the message id for a spout, the tuple's handle for a bolt. */
typedef struct gale_hook {
    size_t size;
    void *user;
    void (*free_user)(void *user);
    void (*prepare)(void *user, const gale_context *task); /* it is open */
    void (*emit)(void *user, const gale_context *task, uint32_t stream, const gale_value *values, size_t count,
                 uint32_t deliveries); /* an emit that succeeded */
    void (*execute)(void *user, const gale_context *task, const gale_tuple *tuple, int returned); /* after the call */
    void (*ack)(void *user, const gale_context *task, uint64_t id);
    void (*fail)(void *user, const gale_context *task, uint64_t id, const gale_failure *failure);
    void (*cleanup)(void *user, const gale_context *task); /* before it is closed */
} gale_hook;

/* A tuple that was emitted, for a tap or the event log (gale_runtime_tap, gale_runtime_log_events). */
typedef struct gale_event {
    size_t size;
    int64_t when; /* ns since 1970, UTC */
    const char *component;
    const char *stream;
    uint32_t task;
    bool tracked; /* a spout's, with a message id */
    uint64_t message_id;
    const gale_value *values;
    size_t count;
} gale_event;

GALE_END

#endif
