/* A connection that is waited for, with an end to all waiting: for threads that may.
 * Threads: one at a time. Owner: pg_session_end. */
#ifndef GALE_CONNECT_POSTGRES_SESSION_H
#define GALE_CONNECT_POSTGRES_SESSION_H

#include "connect/postgres/said.h"
#include "connect/postgres/settings.h"

typedef struct pg_session {
    const pg_settings *given;
    PGconn *conn; /* NULL: none */
    char why[PG_SAID_MAX];
    bool refused; /* `why` is of a row: pg_said_refuses_row */
    bool spoke;   /* the server has refused the last statement in words */
    bool ended;   /* the connection ended behind it, without any */
} pg_session;

/* Ends it; another one can begin. */
void pg_session_end(pg_session *session);

/* Connects, unless it is. False: why not. */
bool pg_session_begin(pg_session *session);

/* A statement with parameters, which are texts. NULL: why not; else its result, to be cleared. */
PGresult *pg_session_ask(pg_session *session, const char *statement, const char *const *values, int count);

/* The same, whose result nobody wants. */
bool pg_session_run(pg_session *session, const char *statement, const char *const *values, int count);

/* Copies rows in. */
bool pg_session_copy(pg_session *session, const char *statement, gale_str rows);

#endif
