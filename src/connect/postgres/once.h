/* Epochs of a durable run (gale/connect.h) to PostgreSQL: rows and marker in one transaction.
 *
 *      none --connected, tables made--> ready --BEGIN, marker locked, COPY, INSERT, marker, COMMIT--> ready
 *        ^---------- whatever goes wrong ---'
 *
 * What:    the marker is a row of a table: (id, run) has the number of the last epoch that is in. It is locked before anything else, so that of a COMMIT that was
 *          not answered the next attempt knows what became: it waits for that transaction's end first. A row that the server refuses ends the run, or is
 *          put into the table `refused`, with words, in the same transaction.
 * Threads: pg_once_commit the committer's; making and freeing any. Owner: the epochs. */
#ifndef GALE_CONNECT_POSTGRES_ONCE_H
#define GALE_CONNECT_POSTGRES_ONCE_H

#include "connect/postgres/sink_settings.h"

#include <gale/connect.h>

enum { PG_ONCE_VALUES = 2 };

/* `given` is pg_sink_settings, and lives longer. NULL: memory is out. */
void *pg_once_new(const void *given, const char *id);
void pg_once_free(void *once);

/* What an epoch keeps of a row of the table; borrowed from it. */
void pg_once_values(const pg_table *table, const sql_text *row, gale_value values[PG_ONCE_VALUES]);

/* A gale_epoch_commit_fn. */
int pg_once_commit(void *once, gale_epoch *epoch, gale_error *error);

/* Is the server there? As the member `look` of gale_epochs_options. */
int pg_once_look(void *once, gale_error *error);

#endif
