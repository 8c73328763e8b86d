/* Redis told of ends: what the sources of Redis were given and is done (XACK, LREM), and what was given up before (a dead letter), in order, on a connection of its
 * own, as one that waits for news says nothing else.
 *
 *      redis_teller_end ----> gathered --many, or a few milliseconds later--> one command of many, where Redis has one --its reply--> gone from the book
 *      redis_teller_letter -> written at once --its reply--> redis_teller_end
 *
 * What:    what is gathered or on its way is ANSWERED in the book. While `keeps` is set, what was told stays there as TOLD.
 * Threads: the task's. Owner: redis_teller_close; `book` lives longer. */
#ifndef GALE_CONNECT_REDIS_TELLER_H
#define GALE_CONNECT_REDIS_TELLER_H

#include "connect/redis/book.h"
#include "connect/redis/writer.h"

enum { REDIS_TOGETHER = 500 };

/* Each writes one command. */
typedef struct redis_teller_ops {
    size_t together; /* pages that `end` may be of, all of one source; REDIS_TOGETHER at the most */
    void (*end)(void *user, const redis_page *const *pages, size_t count, redis_text *to);
    void (*letter)(void *user, const redis_page *page, const gale_answered *answered, redis_text *to);
} redis_teller_ops;

typedef struct redis_teller_options {
    const redis_settings *given;
    const gale_context *context;
    gale_collector *out;
    size_t in_flight;    /* so many are open at the most */
    wire_health *health; /* of the task, whose second connection it is */
    const redis_teller_ops *ops;
    void *user;
} redis_teller_options;

typedef struct redis_teller {
    redis_teller_options options;
    redis_writer writer;
    redis_book *book;
    redis_text command;
    int64_t gathered[REDIS_TOGETHER]; /* places; 0: it is in a command already */
    size_t count;
    gale_watch timer;
    bool waits; /* for the timer */
    bool keeps;
    size_t told; /* pages that are TOLD */
} redis_teller;

/* With a report; redis_teller_close is called then, too. */
int redis_teller_open(redis_teller *teller, redis_book *book, const redis_teller_options *options, gale_error *error);

/* Waits a little for what was not told. */
void redis_teller_close(redis_teller *teller);

void redis_teller_end(redis_teller *teller, int64_t place);
void redis_teller_letter(redis_teller *teller, int64_t place, const gale_answered *answered);

/* Behind some of them: they go out soon; or (redis_teller_flush) now. */
void redis_teller_settle(redis_teller *teller);
void redis_teller_flush(redis_teller *teller);

void redis_teller_keep(redis_teller *teller, bool keeps);

/* Reports it, with where the server is. */
void redis_teller_say(redis_teller *teller, const char *what, const char *why);

#endif
