/* What gale.spout.Postgres emits of a change: the fields that `emit` names, and then columns as fields.
 *
 *      op            insert, update, delete, truncate; snapshot: a row that was there before
 *      schema, table text
 *      row           a map of the columns as they are now; null of a delete. What is large and was not changed is not in it
 *      old           a map, where the server tells: of a delete, of an update whose key has changed, or by REPLICA IDENTITY FULL
 *      lsn           text, "16/B374D848", of the transaction's commit; null of the snapshot
 *      time          of the commit, milliseconds since 1970; null of the snapshot
 *      xid           of the transaction; null of the snapshot
 */
#ifndef GALE_CONNECT_POSTGRES_ROW_H
#define GALE_CONNECT_POSTGRES_ROW_H

#include "connect/postgres/pgoutput.h"
#include "connect/postgres/text.h"

#include <gale/connect.h>
#include <gale/plugin.h>

enum { PG_ROW_FIELDS = 8, PG_ROW_COLUMNS_MAX = 50, PG_ROW_KEPT = 3 };

typedef struct pg_row {
    gale_names emit;
    char *columns[PG_ROW_COLUMNS_MAX];
    size_t column_count;
    sql_text names; /* "op, table, row, id" */
} pg_row;

/* Of the parameters `emit` and `columns`. GALE_INVALID with a sentence; GALE_NO_MEMORY. Freed by pg_row_free, also then. */
int pg_row_make(pg_row *row, const gale_args *args, gale_error *error);
void pg_row_free(pg_row *row);

/* A change, as it is emitted. */
typedef struct pg_event {
    const char *op;
    const pg_relation *relation;
    const pg_cell *now, *before; /* NULL: not told */
    uint64_t lsn;                /* 0: of the snapshot, as are time and xid then */
    int64_t time;
    uint32_t xid;
} pg_event;

/* Room for the values of one. */
typedef struct pg_row_values {
    gale_value list[PG_ROW_FIELDS + PG_ROW_COLUMNS_MAX + PG_ROW_KEPT];
    gale_value now[2 * PG_CELLS_MAX], before[2 * PG_CELLS_MAX];
    char lsn[20];
} pg_row_values;

/* The values of an event, borrowed from it and from `values`. Writes into the cells (pg_value_of). */
void pg_row_fill(const pg_row *row, const pg_event *event, pg_row_values *values);

/* How many values go out. */
size_t pg_row_count(const pg_row *row);

/* What stays behind them with a row: op, table, lsn; and of such values the name of its change: "update of orders at 16/B374D848". */
void pg_row_keep(const pg_row *row, const pg_event *event, pg_row_values *values);
void pg_row_name(const pg_row *row, const gale_value *values, size_t count, char *to, size_t size);

/* "16/B374D848" */
void pg_lsn_write(uint64_t lsn, char text[20]);
bool pg_lsn_read(const char *text, uint64_t *ret_lsn);

#endif
