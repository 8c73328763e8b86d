/* Rows for another thread: plain values of a table's columns (null, true or false, numbers, texts, bytes), copied.
 *
 *      open --the thread: in the database--> taken
 *       '------ what it refuses, and why --> refused
 *
 * Owner: lite_rows_free. */
#ifndef GALE_CONNECT_SQLITE_ROWS_H
#define GALE_CONNECT_SQLITE_ROWS_H

#include "connect/sqlite/text.h"

#include <sqlite3.h>

typedef enum lite_row_state { LITE_ROW_OPEN, LITE_ROW_TAKEN, LITE_ROW_REFUSED } lite_row_state;

typedef struct lite_row {
    uint64_t id;
    lite_row_state state;
    char *why; /* of one that is refused; NULL: memory was out for it */
} lite_row;

/* Texts and bytes lie in `bytes`, `at` its beginning. */
typedef struct lite_cell {
    uint32_t type; /* gale_type */
    uint32_t size;
    union {
        bool boolean;
        int64_t i64;
        double f64;
        size_t at;
    } as;
} lite_cell;

typedef struct lite_rows {
    sql_text bytes;
    lite_cell *cells;
    size_t cell_count, cell_room;
    lite_row *rows;
    size_t count, room;
    size_t done; /* so many, the first, are open no more */
    size_t width;
} lite_rows;

void lite_rows_free(lite_rows *rows);

/* No rows; its memory stays. */
void lite_rows_clear(lite_rows *rows);

/* Appends one. GALE_NO_MEMORY: it is not there. `*ret_size`: so many bytes it takes. */
int lite_rows_add(lite_rows *rows, const gale_value *values, size_t *ret_size);

/* The last one is not there. */
void lite_rows_drop(lite_rows *rows);

/* A value of a row, which borrows from them. */
gale_value lite_rows_value(const lite_rows *rows, size_t row, size_t column);

void lite_rows_refuse(lite_rows *rows, size_t row, const char *why);

/* --- Values of SQLite's --- */

/* Sets parameter `index`, from 1, of a statement, which borrows it. NaN becomes null, as SQLite has it. What SQLite says. */
int lite_bind(sqlite3_stmt *statement, int index, const gale_value *value);

/* A column of a statement's row, from 0; borrowed until its next step. Memory that is out: null, and sqlite3_errcode says so. */
gale_value lite_column_value(sqlite3_stmt *statement, int column);

#endif
