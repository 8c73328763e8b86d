/* Rows into a database, on a thread that may wait: one transaction, and what becomes of each row in it.
 *
 * What:    a row that breaks a constraint is refused alone, as SQLite undoes the statement and no more. What ends the whole transaction for a row (RAISE(ROLLBACK),
 *          a constraint that is checked at the end) has each row tried in a transaction of its own.
 * Threads: one at a time. Owner: lite_write_end. */
#ifndef GALE_CONNECT_SQLITE_WRITE_H
#define GALE_CONNECT_SQLITE_WRITE_H

#include "connect/sqlite/base.h"
#include "connect/sqlite/rows.h"
#include "connect/sqlite/table.h"

typedef struct lite_write {
    lite_base base;
    const lite_table *table;
    sqlite3_stmt *insert;        /* NULL: closed */
    int order[LITE_COLUMNS_MAX]; /* of parameter i + 1: its column */
    int parameters;
} lite_write;

typedef enum lite_written {
    LITE_WRITTEN,
    LITE_REFUSED,     /* for this row alone, which is why */
    LITE_ALL_REFUSED, /* for this row, and the transaction is undone */
    LITE_NOT_NOW,     /* why */
} lite_written;

/* The values of column `column`. */
typedef struct lite_row_source {
    gale_value (*value)(const void *user, size_t column);
    const void *user;
} lite_row_source;

/* Opens the file, makes what is to be there, and begins a transaction that writes. False: `base.why`, and it is closed. */
bool lite_write_begin(lite_write *write);

/* Could rows be written? Changes nothing in the file but its journal. False: `base.why`. */
bool lite_write_look(lite_write *write);

/* One row of it. */
lite_written lite_write_row(lite_write *write, const lite_row_source *row);

/* Makes it last. Not LITE_REFUSED. */
lite_written lite_write_commit(lite_write *write);

/* Undoes it. */
void lite_write_undo(lite_write *write);
void lite_write_end(lite_write *write);

/* All rows that are not done, at the most so many in a transaction: what became of them is in them. False: `base.why`, and some are open still; it is closed. */
bool lite_write_rows(lite_write *write, lite_rows *rows, size_t most);

#endif
