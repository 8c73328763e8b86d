/* A connection to a Redis server that speaks: greeted (AUTH, SELECT, PING), asked, and answered in order.
 *
 *      wire's: off ... up --greeting--> ready --lost, late, nonsense--> off, for a pause that grows
 *                             '- refused ------------------------------^
 *
 * What:    who has one asks with commands (redis_link_ask) and takes their replies one after the other (redis_link_reply) when it is told that some have come.
 *          While there are replies that did not come the server must not be silent for longer than the settings' timeout.
 * Threads: one at a time: the task's, or without a task (wire/wire.h) whoever drives it. Owner: redis_link_close. */
#ifndef GALE_CONNECT_REDIS_LINK_H
#define GALE_CONNECT_REDIS_LINK_H

#include "connect/redis/reply.h"
#include "connect/redis/settings.h"
#include "connect/redis/text.h"
#include "wire/wire.h"

/* Each may be NULL but `heard`. In all of them redis_link_fail may be called. */
typedef struct redis_link_ops {
    void (*ready)(void *user);
    void (*heard)(void *user); /* is to take replies until there are none, or to pause */
    void (*room)(void *user);  /* it was full, and is not any more */
    void (*lost)(void *user);  /* of one that was ready; what was asked has no reply any more */
} redis_link_ops;

typedef struct redis_link {
    wire wire;
    const redis_settings *given;
    const redis_link_ops *ops;
    void *user;
    redis_reader reader;
    uint64_t waiting; /* replies that are to come */
    uint64_t greets;  /* the first of them are of the greeting */
    bool ready;
    bool pushes;    /* it has subscribed: what comes is not asked for one by one */
    bool refused;   /* the last connection ended for what the server said: it is not ready, or wants another user */
    bool too_large; /* the last connection ended for a reply that was too large */
    char input[16 << 10];
} redis_link;

typedef struct redis_task {
    const gale_context *context; /* both NULL: without a task */
    gale_collector *out;
    size_t most;         /* bytes of commands that are not sent */
    wire_health *health; /* NULL: the task has no other connection */
    unsigned who;        /* in `health` */
    const char *what;    /* as of wire_options */
} redis_task;

/* What gale_watch_new says, GALE_NO_MEMORY, with a report; redis_link_close is called then, too. */
int redis_link_open(redis_link *link, const redis_settings *given, const redis_task *task, const redis_link_ops *ops,
                    void *user, gale_error *error);
void redis_link_close(redis_link *link);

/* Commands that have so many replies: all of them, or none. As wire_write. They go out by redis_link_flush, or by themselves behind a callback. */
int redis_link_ask(redis_link *link, const void *commands, size_t size, uint64_t replies);
void redis_link_flush(redis_link *link);

/* The next reply, good until the next call. NULL: none is there now, or it was lost. */
const redis_reply *redis_link_reply(redis_link *link);

/* Nothing is heard meanwhile. */
void redis_link_pause(redis_link *link, bool paused);

/* It is given up, for this. `redis_link_refuse`: for what the server said. */
void redis_link_fail(redis_link *link, const char *why);
void redis_link_refuse(redis_link *link, const redis_reply *reply);

void redis_link_well(redis_link *link);

#endif
