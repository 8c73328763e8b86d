/* Commands to a server, in order, at least once, many on their way at once on one connection of a task:
 *
 *      add --> kept --sent, as far as `window` and the socket go--> on its way --its reply--> taken, or refused
 *                ^------------------- the connection is lost -----------'
 *
 * What:    a command is kept until its reply. One that the server refuses for what is in it (redis_reply_refuses) is told alone; any other error
 *          ends the connection, and what has no reply goes again, in order, after a pause.
 * Threads: the task's. Owner: redis_writer_close. */
#ifndef GALE_CONNECT_REDIS_WRITER_H
#define GALE_CONNECT_REDIS_WRITER_H

#include "connect/redis/link.h"

/* What becomes of commands, by their ids. */
typedef struct redis_writer_ops {
    void (*taken)(void *user, uint64_t id, const redis_reply *reply);
    void (*refused)(void *user, uint64_t id, const char *why);
    /* What ends the connection each time is found by these: gale_dispatch_may_send, _sent and _lost. All of them, or none. */
    bool (*may_send)(void *user);
    void (*sent)(void *user, uint64_t id);
    uint64_t (*lost)(void *user, bool counts, const char *why);
} redis_writer_ops;

typedef struct redis_written {
    uint64_t id;
    size_t size;
} redis_written;

typedef struct redis_writer {
    redis_link link;
    const redis_writer_ops *ops;
    void *user;
    size_t window;
    wire_unsent bytes;    /* of the commands that have no reply */
    redis_written *queue; /* those, the oldest at `first`; a ring, `room` is a power of two, or 0 */
    size_t first, count, room;
    size_t sent, sent_size; /* so many of them, the first, are on their way */
} redis_writer;

/* `window` commands are on their way at once; one that is larger than the task's `most` is never sent: who adds it sees to that. */
int redis_writer_open(redis_writer *writer, const redis_settings *given, const redis_task *task, size_t window,
                      const redis_writer_ops *ops, void *user, gale_error *error);
void redis_writer_close(redis_writer *writer);

/* A command, as a whole. GALE_NO_MEMORY: it is not kept. It is sent by redis_writer_flush, or with others. */
int redis_writer_add(redis_writer *writer, uint64_t id, const void *command, size_t size);
void redis_writer_flush(redis_writer *writer);

/* At the end: waits for news, so many milliseconds at the most. */
void redis_writer_drive(redis_writer *writer, int milliseconds);

#endif
