/* Epochs of a durable run (gale/connect.h) to SQLite: rows and marker in one transaction.
 *
 *      closed --BEGIN IMMEDIATE, tables made, marker looked at, rows, marker, COMMIT--> open
 *        ^---------- whatever goes wrong -----------------------------------------------'
 *
 * What:    the marker is a row of a table: (id, run) has the number of the last epoch that is in. A row that is refused ends the run, or is put into the table `refused`,
 *          with words, in the same transaction.
 * Threads: lite_once_commit the committer's, which may wait; making and freeing any. Owner: the epochs. */
#ifndef GALE_CONNECT_SQLITE_ONCE_H
#define GALE_CONNECT_SQLITE_ONCE_H

#include "connect/sqlite/sink_settings.h"

#include <gale/connect.h>

/* `given` is lite_sink_settings, and lives longer. NULL: memory is out. */
void *lite_once_new(const void *given, const char *id);
void lite_once_free(void *once);

/* A gale_epoch_commit_fn. Its rows: the table's shape, and then a value a column. */
int lite_once_commit(void *once, gale_epoch *epoch, gale_error *error);

#endif
