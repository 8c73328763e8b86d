/* Questions of one statement to a file, many in a transaction: what a task hands to its thread, and what comes back.
 *
 *      waits --lite_ask, on the thread--> answered: rows, or why not
 *        ^---- not now: the others ---'
 *
 * Threads: a question is its task's, but for lite_ask. Owner: lite_question_free; lite_asking_end. */
#ifndef GALE_CONNECT_SQLITE_QUESTIONS_H
#define GALE_CONNECT_SQLITE_QUESTIONS_H

#include "connect/sqlite/base.h"
#include "connect/sqlite/lookup_settings.h"
#include "sql/lookup.h"

enum { LITE_ROWS_MAX = 10000 }; /* of one key */

typedef struct lite_question {
    struct lite_question *next;
    gale_value_owned *key;  /* a list of the key's values */
    gale_value_owned *rows; /* a list of lists; NULL: not answered, or refused */
    char why[LITE_WHY_MAX]; /* it is refused; empty: it is not */
    sql_waiting waiting;
    size_t name_size;
    char name[]; /* the key, as in maps */
} lite_question;

typedef struct lite_asking {
    lite_base base;
    const lite_lookup_settings *given;
    sqlite3_stmt *statement; /* NULL: closed */
    gale_value *cells;       /* of the rows of a question */
    size_t room;
} lite_asking;

void lite_question_free(lite_question *question);

/* Answers them in order. False: not now, `base.why`; those that have neither rows nor why are to be asked again. */
bool lite_ask(lite_asking *asking, lite_question *first);
void lite_asking_end(lite_asking *asking);

#endif
