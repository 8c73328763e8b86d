/* What a database has said of a key, for some time: its rows, as values.
 *
 * What:    an expiring map (gale/time_cache_map.h) of keys. Who looks at rows holds them (`uses`) against an end meanwhile.
 * Threads: the task's. Owner: lite_found_close. */
#ifndef GALE_CONNECT_SQLITE_FOUND_H
#define GALE_CONNECT_SQLITE_FOUND_H

#include <gale/component.h>
#include <gale/time_cache_map.h>

/* The rows of a key: a list of lists. */
typedef struct lite_answer {
    struct lite_answer *before, *behind;
    gale_value_owned *list;
    uint32_t uses;
} lite_answer;

typedef struct lite_found {
    gale_time_cache_map *map; /* NULL: nothing is remembered */
    lite_answer *first;
    const gale_context *context;
} lite_found;

/* `seconds` 0: nothing is remembered. */
int lite_found_open(lite_found *found, double seconds, size_t most, const gale_context *context, gale_error *error);
void lite_found_close(lite_found *found);

/* The rows of a key, held; NULL: they are not known. */
lite_answer *lite_found_get(lite_found *found, gale_str key);

/* Remembers the rows, which are copied, where there is room; they are held. NULL: memory is out. */
lite_answer *lite_found_put(lite_found *found, gale_str key, const gale_value *list);

/* Holds them no longer. */
void lite_answer_done(lite_found *found, lite_answer *rows);

#endif
