/* A task that looks up rows, whatever the database: what has been found, who waits for what is asked, and what goes out.
 *
 * What:    a tuple whose key was not asked for lately is held (gale_dispatch) until the connector has its rows; others with the same key wait for the same
 *          answer. Its rows are a list of lists, in the order of `add`.
 * Threads: the task's. Owner: sql_lookup_close. */
#ifndef GALE_SQL_LOOKUP_H
#define GALE_SQL_LOOKUP_H

#include "sql/found.h"
#include "sql/lookup_settings.h"

#include <gale/connect.h>

/* Tuples that are held for one question. Owner: sql_waiting_free. */
typedef struct sql_waiting {
    uint64_t *ids;
    size_t count, room;
} sql_waiting;

typedef struct sql_lookup {
    const sql_lookup_settings *given;
    gale_collector *out;
    gale_dispatch *dispatch;
    gale_rotating_map *open; /* the connector's questions, pointers, by their keys */
    sql_found found;
    gale_value values[2 * SQL_FIELDS_MAX]; /* of what goes out */
} sql_lookup;

int sql_lookup_open(sql_lookup *lookup, const sql_lookup_settings *given, const gale_context *context,
                    gale_collector *out, gale_error *error);
void sql_lookup_close(sql_lookup *lookup);

/* One more; false: memory is out. */
bool sql_waiting_add(sql_waiting *waiting, uint64_t id);
void sql_waiting_free(sql_waiting *waiting);

/* All that wait have this answer, or fail. */
void sql_lookup_answer(sql_lookup *lookup, const sql_waiting *waiting, const gale_value *rows);
void sql_lookup_fail(sql_lookup *lookup, const sql_waiting *waiting, int32_t reason, const char *why);

/* Of a tuple that is not held. False: its rows are not known, and are to be asked for; else `ret_rc` has what executing it returns. */
bool sql_lookup_knows(sql_lookup *lookup, const gale_tuple *tuple, gale_str key, int *ret_rc);
int sql_lookup_has_none(sql_lookup *lookup, const gale_tuple *tuple); /* a part of its key is null */

/* One that is held, and whose key cannot be asked for: `rc` is an error, or 1 where a part of its key is null. */
int sql_lookup_refuse(sql_lookup *lookup, uint64_t id, int rc);

#endif
