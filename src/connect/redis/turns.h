/* What a RedisStream asks next: groups are made, then what is its own already is read, then what is new, and now and then what dead consumers left.
 *
 *      groups --> own: each stream, from the beginning to its end --> new, or claim when it is time: each stream, until its cursor is 0-0
 *                    ^------------- a while behind each connection: once more ------'
 *
 * What:    where an entry alone is larger than a reply may be, own ones are asked for one by one, the id of each before it (XPENDING): so its id is known
 *          when it ends the connection, and it is passed over.
 *          Own once more, as a question of a connection that was lost may be answered by the server after all: what it gave is the consumer's then, and nobody has it.
 * Threads: the task's. */
#ifndef GALE_CONNECT_REDIS_TURNS_H
#define GALE_CONNECT_REDIS_TURNS_H

#include "connect/redis/row.h"
#include "connect/redis/source.h"

enum { REDIS_STREAMS_MAX = 64, REDIS_ID_MAX = 48 };

typedef struct redis_stream_settings {
    redis_source_settings source; /* first */
    redis_texts streams;
    redis_row row;
    gale_output output;
    char *group, *start;
    int64_t claim_after; /* ms; 0: nothing is claimed */
    bool claims;         /* it is given: in a durable run, too */
    size_t batch;
} redis_stream_settings;

typedef enum redis_turn { REDIS_GROUPS, REDIS_OWN, REDIS_CLAIM, REDIS_NEW, REDIS_END } redis_turn;

typedef struct redis_turns {
    const redis_stream_settings *given;
    char consumer[REDIS_CONSUMER_MAX];
    bool claims;
    redis_turn turn;
    size_t at; /* of the streams, in all turns but NEW */
    char cursor[REDIS_ID_MAX];
    bool by_one;                  /* own ones, until all were seen */
    char named[REDIS_ID_MAX];     /* of these the one that is read next; empty: it is to be asked for */
    char too_large[REDIS_ID_MAX]; /* the one that ended the last connection, of that stream; empty: none */
    size_t too_large_at;
    int64_t claim_at, again_at; /* 0: never */
} redis_turns;

/* A connection is made. */
void redis_turns_begin(redis_turns *turns, int64_t now);

/* Writes the next question, for so many entries at the most: how many replies it has. */
uint64_t redis_turns_ask(redis_turns *turns, size_t count, int64_t now, redis_text *to);

/* Its reply, but for an error: the entries in it. GALE_DAMAGED. */
int redis_turns_heard(redis_turns *turns, const redis_reply *reply, redis_entries *ret_entries);

/* All entries of a reply were taken: what was claimed goes on, with the next stream where this one is through. */
void redis_turns_end_reply(redis_turns *turns);

/* A reply of one entry was too large. */
void redis_turns_too_large(redis_turns *turns);

/* The id that is read next, and whether it is the one that is too large; empty: none is known. */
gale_str redis_turns_named(const redis_turns *turns, bool *ret_too_large);

/* It is not read. */
void redis_turns_skip(redis_turns *turns);

/* An entry of that stream was passed over: its own ones go on behind it. GALE_NOT_FOUND: it was not asked for. */
int redis_turns_passed(redis_turns *turns, const redis_entry *entry, uint32_t *ret_stream);

#endif
