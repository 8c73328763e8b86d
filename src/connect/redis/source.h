/* What the sources of Redis share that answer: rows that are asked for on one connection and go out by gale_intake, what is open by its bytes (book.h), and Redis told
 * of ends on another one (teller.h).
 *
 *      `step`: asks, hears --redis_source_take--> the intake --emitted--> acked: told, gone from the book
 *                                                                '-> given up: a letter, then told
 *
 * What:    in a durable run Redis is told when a checkpoint has the answer. What a checkpoint has is in the book of the run that goes on from it: open, and emitted again by
 *          the intake; or answered, and told again. So what Redis says is ours, and is not in the book, is new.
 * Users:   `self` of a task, and `user` of its callbacks, begins with its redis_source.
 * Threads: the task's. Owner: redis_source_close. */
#ifndef GALE_CONNECT_REDIS_SOURCE_H
#define GALE_CONNECT_REDIS_SOURCE_H

#include "connect/redis/teller.h"

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

/* Of one kind of them; `self` is the task. */
typedef struct redis_source_ops {
    redis_link_ops link; /* of the connection on which is asked; its `heard` is redis_source_hear */
    redis_teller_ops teller;
    bool (*step)(void *self, size_t room); /* one step of asking and taking; false: nothing before there is news */
    bool (*is_over)(const void *self);     /* with untilEnd: there is no more */
    const char *(*key)(const void *self, uint32_t from); /* the stream's or the list's */
} redis_source_ops;

typedef struct redis_source {
    const redis_source_settings *given;
    const gale_context *context;
    gale_collector *out;
    const redis_source_ops *ops;
    redis_link link;
    wire_health health; /* of the link, and of the teller's */
    redis_text question;
    redis_book book;
    redis_teller teller;
    gale_intake *intake;
} redis_source;

/* `emits`: so many of a row's values go out. With a report; redis_source_close is called then, too. */
int redis_source_open(redis_source *source, const redis_source_settings *given, size_t emits,
                      const gale_context *context, gale_collector *out, const redis_source_ops *ops, gale_error *error);

/* Waits a little for what was not told. */
void redis_source_close(redis_source *source);

int64_t redis_source_now(const redis_source *source);

/* Asks what is in `question`, which is empty then, and has so many replies. False: it could not; the connection is given up. */
bool redis_source_ask(redis_source *source, uint64_t replies);

void redis_source_nonsense(redis_source *source); /* it is given up: it answers what was not asked for */

/* While Redis is asked for what is open, and its list is gone through, what is told meanwhile stays in the book: the list may still have it. */
void redis_source_keep(redis_source *source, bool keeps);

/* One more row. GALE_NO_MEMORY, or what makes it no tuple: it is not taken. */
int redis_source_take(redis_source *source, const gale_value *values, size_t count, uint32_t from, gale_str bytes);

/* One that needs no answer: it is told at once. GALE_NO_MEMORY. */
int redis_source_pass(redis_source *source, uint32_t from, gale_str bytes);

/* One that can be no tuple: it is reported, and passed. GALE_NO_MEMORY. */
int redis_source_refuse(redis_source *source, uint32_t from, gale_str bytes, const char *why);

/* "entry 1526919030474-55 of orders" */
void redis_source_name(const redis_source *source, uint32_t from, gale_str bytes, char *to, size_t size);

/* What a spout's own are. */
void redis_source_hear(void *self);
int redis_source_next(void *self, gale_collector *out, gale_wait *wait);
void redis_source_ack(void *self, const uint64_t *message_ids, size_t count);
void redis_source_fail(void *self, uint64_t message_id, const gale_failure *failure);
void redis_source_committed(void *self, uint64_t checkpoint);

/* In a durable run. `about` says what the rows are of, and must be the same in the run that goes on: GALE_INVALID with a report where it is not. */
int redis_source_save(redis_source *source, const gale_value *about, size_t count, gale_saver *to);
int redis_source_restore(redis_source *source, const gale_value *about, size_t count, gale_saved *from);

/* The name by which Redis knows the task, the same in each run: as given, or host/topology/component; then the task's number. */
void redis_source_consumer(const redis_source_settings *given, const gale_context *context,
                           char name[REDIS_CONSUMER_MAX]);

#endif
