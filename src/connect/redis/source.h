/* What the sources of Redis share that answer: rows until their answers (gale_intake), what is open by its bytes (book.h), and Redis told of ends, in order, on a
 * connection of its own, as one that waits for news says nothing else.
 *
 *      redis_source_take --> the intake --emitted--> acked: `tell`, by the writer --> gone from the book
 *                                                '-> given up: `letter`, then `tell`
 *
 * What:    in a durable run `tell` comes when a checkpoint has the answer. What a checkpoint has is in the book of the run that goes on from it: open, and emitted again by
 *          the intake; or answered, and told again. So what Redis says is ours, and is not in the book, is new.
 * Threads: the task's. Owner: redis_source_close. */
#ifndef GALE_CONNECT_REDIS_SOURCE_H
#define GALE_CONNECT_REDIS_SOURCE_H

#include "connect/redis/book.h"
#include "connect/redis/writer.h"

enum { REDIS_CONSUMER_MAX = 400 };

/* Of the parameters that these sources have. */
typedef struct redis_source_settings {
    redis_settings redis;
    char *consumer, *letters; /* NULL: not given */
    const char *what;         /* "entry" */
    uint64_t memory;
    uint32_t attempts;
    size_t in_flight;
    bool until_end;
} redis_source_settings;

int redis_source_settings_make(redis_source_settings *settings, const gale_args *args, gale_error *error);
void redis_source_settings_free(redis_source_settings *settings);

typedef struct redis_source redis_source;

/* Each writes one command. */
typedef struct redis_source_ops {
    void (*tell)(void *user, const redis_page *page, redis_text *to);
    void (*letter)(void *user, const redis_page *page, const gale_answered *answered, redis_text *to);
} redis_source_ops;

struct redis_source {
    const redis_source_settings *given;
    const gale_context *context;
    gale_collector *out;
    const redis_source_ops *ops;
    void *user;
    redis_book book;
    redis_writer teller;
    gale_intake *intake;
    redis_text command;
    bool keeps;  /* what was told stays in the book */
    size_t told; /* so many of it */
};

/* `emits`: so many of a row's values go out. With a report; redis_source_close is called then, too. */
int redis_source_open(redis_source *source, const redis_source_settings *given, size_t emits,
                      const gale_context *context, gale_collector *out, const redis_source_ops *ops, void *user,
                      gale_error *error);

/* Waits a little for what was not told. */
void redis_source_close(redis_source *source);

/* How many more it wants now; 0: it is full. */
size_t redis_source_room(const redis_source *source);

/* While Redis is asked for what is open, and its list is gone through, what is told meanwhile stays in the book: the list may still have it. */
void redis_source_keep(redis_source *source, bool keeps);

/* One more row. GALE_NO_MEMORY, or what makes it no tuple: it is not taken. */
int redis_source_take(redis_source *source, const gale_value *values, size_t count, uint32_t from, gale_str bytes);

/* One that needs no answer: it is told at once. GALE_NO_MEMORY. */
int redis_source_pass(redis_source *source, uint32_t from, gale_str bytes);

/* One that can be no tuple: it is reported, and passed. GALE_NO_MEMORY. */
int redis_source_refuse(redis_source *source, uint32_t from, gale_str bytes, const char *why);

void redis_source_ack(redis_source *source, const uint64_t *message_ids, size_t count);
void redis_source_fail(redis_source *source, uint64_t message_id, const gale_failure *failure);

/* In a durable run. `about` says what the rows are of, and must be the same in the run that goes on: GALE_INVALID with a report where it is not. */
int redis_source_save(redis_source *source, const gale_value *about, size_t count, gale_saver *to);
int redis_source_restore(redis_source *source, const gale_value *about, size_t count, gale_saved *from);
void redis_source_committed(redis_source *source, uint64_t checkpoint);

/* The name by which Redis knows the task, the same in each run: as given, or host/topology/component; then the task's number. */
void redis_source_consumer(const redis_source_settings *given, const gale_context *context,
                           char name[REDIS_CONSUMER_MAX]);

#endif
