/* What a server has said of a key, for some time: its rows, as values.
 *
 * What:    an expiring map (gale/time_cache_map.h) of keys. Who looks at rows holds them (`uses`) against an end meanwhile.
 * Threads: the task's. Owner: pg_found_close. */
#ifndef GALE_CONNECT_POSTGRES_FOUND_H
#define GALE_CONNECT_POSTGRES_FOUND_H

#include <gale/component.h>
#include <gale/time_cache_map.h>

/* The rows of a key: a list of lists. */
typedef struct pg_rows {
    struct pg_rows *before, *behind;
    gale_value_owned *list;
    uint32_t uses;
} pg_rows;

typedef struct pg_found {
    gale_time_cache_map *map; /* NULL: nothing is remembered */
    pg_rows *first;
    const gale_context *context;
} pg_found;

/* `seconds` 0: nothing is remembered. */
int pg_found_open(pg_found *found, double seconds, size_t most, const gale_context *context, gale_error *error);
void pg_found_close(pg_found *found);

/* The rows of a key, held; NULL: they are not known. */
pg_rows *pg_found_get(pg_found *found, gale_str key);

/* Remembers the rows, which are copied, where there is room; they are held. NULL: memory is out. */
pg_rows *pg_found_put(pg_found *found, gale_str key, const gale_value *list);

/* Holds them no longer. */
void pg_rows_done(pg_found *found, pg_rows *rows);

#endif
