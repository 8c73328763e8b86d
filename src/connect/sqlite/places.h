/* Places of rows that were taken, in order, until what is done with an answered row is done.
 * Threads: the task's. Owner: lite_places_free. */
#ifndef GALE_CONNECT_SQLITE_PLACES_H
#define GALE_CONNECT_SQLITE_PLACES_H

#include <gale/base.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lite_place {
    int64_t place;
    bool done;
} lite_place;

typedef struct lite_places {
    lite_place *list; /* [first, end), ascending */
    size_t first, end, room;
    size_t count; /* that are not done */
} lite_places;

void lite_places_free(lite_places *places);

/* One that is above all that are there. GALE_NO_MEMORY. */
int lite_places_add(lite_places *places, int64_t place);

/* False: it is not there, or done already. */
bool lite_places_done(lite_places *places, int64_t place);

#endif
