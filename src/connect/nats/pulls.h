/* What a consumer was asked for, and has not sent: at most NATS_PULLS requests at once, each of so many messages and bytes, until a time.
 * Threads: the task's. Owner: who has it; it has nothing to free. */
#ifndef GALE_CONNECT_NATS_PULLS_H
#define GALE_CONNECT_NATS_PULLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NATS_PULLS = 2 };

typedef struct nats_pull {
    uint64_t number; /* 0: there is none in this place */
    int64_t asked, left;
    int64_t bytes;
    int64_t until; /* what the server does not end by itself is over then */
} nats_pull;

typedef struct nats_pulls {
    nats_pull list[NATS_PULLS];
    uint64_t numbers; /* given */
} nats_pulls;

/* How many messages, and bytes, may come of them. */
int64_t nats_pulls_left(const nats_pulls *pulls);
int64_t nats_pulls_bytes(const nats_pulls *pulls);

/* A new one; NULL: there are as many as there may be. */
nats_pull *nats_pulls_begin(nats_pulls *pulls, int64_t count, int64_t bytes, int64_t until);

/* NULL: it is over, or of a connection before. */
nats_pull *nats_pulls_find(nats_pulls *pulls, uint64_t number);

/* A message came: it has the subject of the stream, and the server serves the oldest request first. */
void nats_pulls_take(nats_pulls *pulls);
void nats_pull_end(nats_pull *pull);

/* Ends those whose time is over, or all. */
void nats_pulls_expire(nats_pulls *pulls, int64_t now);
void nats_pulls_clear(nats_pulls *pulls);

#endif
