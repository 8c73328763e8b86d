/* What a database has said of a key, for some time: its rows, as values.
 *
 * What:    an expiring map (gale/time_cache_map.h) of keys. Who looks at rows holds them (`uses`) against an end meanwhile.
 * Threads: the task's. Owner: sql_found_close. */
#ifndef GALE_SQL_FOUND_H
#define GALE_SQL_FOUND_H

#include <gale/component.h>
#include <gale/time_cache_map.h>

/* The rows of a key: a list of lists. */
typedef struct sql_rows {
    struct sql_rows *before, *behind;
    gale_value_owned *list;
    uint32_t uses;
} sql_rows;

typedef struct sql_found {
    gale_time_cache_map *map; /* NULL: nothing is remembered */
    sql_rows *first;
    const gale_context *context;
} sql_found;

/* `seconds` 0: nothing is remembered. */
int sql_found_open(sql_found *found, double seconds, size_t most, const gale_context *context, gale_error *error);
void sql_found_close(sql_found *found);

/* The rows of a key, held; NULL: they are not known. */
sql_rows *sql_found_get(sql_found *found, gale_str key);

/* Remembers the rows, which are copied, where there is room; they are held. NULL: memory is out. */
sql_rows *sql_found_put(sql_found *found, gale_str key, const gale_value *list);

/* Holds them no longer. */
void sql_rows_done(sql_found *found, sql_rows *rows);

#endif
