/* What a SqliteRows was given in a file. Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_SQLITE_ROWS_SETTINGS_H
#define GALE_CONNECT_SQLITE_ROWS_SETTINGS_H

#include "connect/sqlite/settings.h"
#include "connect/sqlite/text.h"

#include <gale/connect.h>

/* What becomes of a row that is answered. */
typedef enum lite_after { LITE_KEEP, LITE_DELETE, LITE_MARK } lite_after;

typedef struct lite_rows_settings {
    lite_settings sqlite;
    sql_text fields; /* that go out: "id, total" */
    size_t count;    /* of them */
    gale_output output;
    char *select;    /* ?1: behind that place, ?2: at the most so many. The first column is the place */
    char *answer;    /* ?1: the place, ?2: words; NULL: nothing is done */
    char *numbered;  /* the table whose rows are deleted by the numbers that SQLite gives them; NULL: there is none */
    uint64_t origin; /* of places: the table or query, and the column that orders it */
    lite_after after;
    bool follows;
    int64_t every; /* ns */
    uint64_t memory;
    uint32_t attempts;
} lite_rows_settings;

/* As lite_sink_settings_make. */
int lite_rows_settings_make(lite_rows_settings *settings, const gale_args *args, gale_error *error);
void lite_rows_settings_free(void *settings);

#endif
