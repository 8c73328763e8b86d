/* A connection that is waited for, with an end to all waiting: for threads that may.
 * Threads: one at a time. Owner: redis_session_close. */
#ifndef GALE_CONNECT_REDIS_SESSION_H
#define GALE_CONNECT_REDIS_SESSION_H

#include "connect/redis/link.h"

typedef struct redis_session redis_session;

/* Is told each reply of what was asked, in order. */
typedef void redis_session_fn(void *user, uint64_t index, const redis_reply *reply);

struct redis_session {
    redis_link link;
    bool open;
    redis_session_fn *heard;
    void *user;
    uint64_t got, wanted;
    char why[WIRE_WHY_MAX]; /* of the last that went wrong */
    bool ended;             /* then the server ended the connection, and did not say why */
};

/* Connects, unless it is. False: why not. */
bool redis_session_begin(redis_session *session, const redis_settings *given);

/* Sends commands, and waits for their replies. False: not all came, for `why`; it is over then. */
bool redis_session_ask(redis_session *session, gale_str commands, uint64_t replies, redis_session_fn *heard,
                       void *user);

/* Ends it; another one can begin. */
void redis_session_close(redis_session *session);

#endif
