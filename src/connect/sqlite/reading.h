/* Rows of a table or query in order, and what is done with those that are answered: what a task hands to its thread.
 *
 * Threads: the task's while it is not handed over. Owner: lite_reading_end. */
#ifndef GALE_CONNECT_SQLITE_READING_H
#define GALE_CONNECT_SQLITE_READING_H

#include "connect/sqlite/base.h"
#include "connect/sqlite/rows.h"
#include "connect/sqlite/rows_settings.h"

/* Rows that are answered. */
typedef struct lite_answered {
    int64_t place;
    char *words; /* it was given up, for this; NULL: it was acked */
} lite_answered;

typedef struct lite_answered_list {
    lite_answered *list;
    size_t count, room;
} lite_answered_list;

void lite_answered_free(lite_answered_list *answered);

/* No rows; its memory stays. */
void lite_answered_clear(lite_answered_list *answered);

/* `words` (may be NULL) is copied. GALE_NO_MEMORY. */
int lite_answered_add(lite_answered_list *answered, int64_t place, const char *words);

typedef struct lite_reading {
    lite_base base;
    const lite_rows_settings *given;
    sqlite3_stmt *select, *answer; /* NULL: closed */
    bool durable;
    /* What is to be done: */
    lite_answered_list answered;
    bool wants;     /* rows */
    int64_t behind; /* this place */
    /* What came of it: */
    lite_rows rows; /* the id of each is its place */
    bool at_end;    /* there are no more now */
} lite_reading;

/* False: it never may, `base.why`: a durable run would delete rows by numbers that SQLite gives to new ones. This waits for no lock: what cannot be known
 * now, lite_read says. */
bool lite_reading_may(lite_reading *reading);

/* All of it. False: not now, `base.why`; nothing was done. */
bool lite_read(lite_reading *reading);
void lite_reading_end(lite_reading *reading);

#endif
