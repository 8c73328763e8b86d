/* Questions of one statement to a server, many at once: one connection of a task, in libpq's pipeline mode.
 *
 *      question --> (the connection is up) prepared once, sent in order --> answers in order --> told
 *         ^------------------- the connection is lost: all without an answer again ------'
 *
 * What:    nothing is heard while the task may not run, as who hears emits: what comes behind it is congested.
 * Threads: the task's. Owner: pg_asker_close ends it. */
#ifndef GALE_CONNECT_POSTGRES_ASKER_H
#define GALE_CONNECT_POSTGRES_ASKER_H

#include "connect/postgres/link.h"

/* A question, without an answer yet: the first field of what whoever asks has about it. */
typedef struct pg_question {
    struct pg_question *next;
    const char *const *values; /* its parameters, texts; NULL: null */
} pg_question;

typedef struct pg_asker_ops {
    /* Its rows; or (NULL) the server refuses what it asks, for `why`. It is asked no more. */
    void (*answered)(void *user, pg_question *question, PGresult *result, const char *why);
} pg_asker_ops;

typedef struct pg_asker {
    pg_link link;
    const pg_asker_ops *ops;
    void *user;
    const char *statement;
    int parameters;
    bool ready;                 /* it is prepared, and questions can be sent */
    pg_question *first, **last; /* without an answer, in order */
    pg_question *unsent;        /* the first of them that was not sent */
    size_t out;                 /* how many were, and have no answer */
} pg_asker;

/* `statement` lives longer. */
int pg_asker_open(pg_asker *asker, const pg_settings *given, const char *statement, int parameters,
                  const gale_context *context, gale_collector *out, const pg_asker_ops *ops, void *user,
                  gale_error *error);
void pg_asker_close(pg_asker *asker);

/* Asks; `question` is the asker's until it is answered. */
void pg_asker_ask(pg_asker *asker, pg_question *question);

#endif
