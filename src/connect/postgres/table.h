/* A table that a sink writes to: which fields are its columns, the rows of tuples, and the statements that bring rows into it.
 *
 * What:    without keys rows are copied into the table itself. With keys they are copied into a temporary table beside it, of the same types, and
 *          inserted from there: the last row of a key (or the first, where what is there stays) takes part alone, as one
 *          statement may touch no row twice.
 * Threads: frozen once made. Owner: who makes it frees it. */
#ifndef GALE_CONNECT_POSTGRES_TABLE_H
#define GALE_CONNECT_POSTGRES_TABLE_H

#include "connect/postgres/settings.h"
#include "connect/postgres/text.h"

#include <gale/tuple.h>

enum { PG_COLUMNS_MAX = 256 };

typedef struct pg_column {
    char *field, *name;
    bool is_key;
    int64_t unit; /* of a time: how many there are in a second; 0: it is none */
} pg_column;

typedef struct pg_table {
    pg_column *columns;
    size_t count;
    bool keyed;
    char *stage, *copy,
        *merge; /* statements: once a connection, of a batch, and behind it; stage and merge are NULL without keys */
    uint64_t shape; /* of rows that can be copied by `copy` */
} pg_table;

/* GALE_INVALID with a sentence that begins with the parameter; GALE_FIELDS when what comes in is not known; GALE_NO_MEMORY. What was made is freed, also then. */
int pg_table_make(pg_table *table, const gale_args *args, gale_error *error);
void pg_table_free(pg_table *table);

/* Appends the row of a tuple, its end of line included. `number` grows with each row. 0; GALE_INVALID with a sentence in `why`: nothing was appended;
 * GALE_NO_MEMORY. */
int pg_table_row(const pg_table *table, const gale_tuple *tuple, uint64_t number, sql_text *to, char *why, size_t size);

#endif
