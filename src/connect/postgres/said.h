/* What PostgreSQL says when something does not go, and what is to be done about it. */
#ifndef GALE_CONNECT_POSTGRES_SAID_H
#define GALE_CONNECT_POSTGRES_SAID_H

#include <gale/base.h>
#include <libpq-fe.h>
#include <stdbool.h>

enum { PG_SAID_MAX = 400 };

/* One line: the server's message and its detail. */
void pg_said_result(const PGresult *result, char text[PG_SAID_MAX]);

/* One line: what became of the connection. */
void pg_said_connection(const PGconn *conn, char text[PG_SAID_MAX]);

/* Is it the row that the server does not take, and never will: a value, a constraint, a trigger? All else (a table that is missing, a disk that is
 * full, a deadlock) is of the server, and passes, or is mended there. */
bool pg_said_refuses_row(const PGresult *result);

/* Is it a code of this SQLSTATE? */
bool pg_said_is(const PGresult *result, const char *state);

#endif
