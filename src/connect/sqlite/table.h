/* A table that a sink writes to, or a statement of the user's: which fields are its columns, the values of tuples, and the statements that make it and bring
 * rows into it.
 *
 * Threads: frozen once made. Owner: who makes it frees it. */
#ifndef GALE_CONNECT_SQLITE_TABLE_H
#define GALE_CONNECT_SQLITE_TABLE_H

#include "connect/sqlite/settings.h"
#include "connect/sqlite/text.h"

#include <gale/component.h>

enum { LITE_COLUMNS_MAX = 256 };

/* What a column has of a tuple. */
typedef enum lite_source { LITE_FIELD, LITE_TOPOLOGY, LITE_NOW } lite_source;

typedef struct lite_column {
    char *field, *name;
    lite_source source;
    bool is_key;
} lite_column;

typedef struct lite_table {
    lite_column *columns;
    size_t count;
    bool keyed;
    char *target; /* its name, for people */
    char *make;   /* statements that make what is missing; NULL: none */
    char *insert;
    uint64_t shape; /* of rows that `insert` takes */
} lite_table;

/* Of a SqliteSink, and of a SqliteLetters. GALE_INVALID with a sentence that begins with the parameter; GALE_FIELDS when what comes in is not known;
 * GALE_NO_MEMORY. What was made is freed by lite_table_free, also then. */
int lite_table_make(lite_table *table, const gale_args *args, gale_error *error);
int lite_table_make_letters(lite_table *table, const gale_args *args, gale_error *error);
void lite_table_free(lite_table *table);

/* The values of a tuple, one a column, plain; lists and maps are JSON, in `scratch`, from which they borrow. 0; GALE_INVALID with a sentence in `why`; GALE_NO_MEMORY. */
int lite_table_row(const lite_table *table, const gale_context *context, const gale_tuple *tuple, sql_text *scratch,
                   gale_value *values, char *why, size_t size);

#endif
