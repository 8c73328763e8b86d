/* Entries of a stream to rows: what `emit` names, then `fields`, then, where dead letters are written, all of it once more, which does not go out.
 * Threads: frozen once made; values belong to a task. Owner: redis_row_free. */
#ifndef GALE_CONNECT_REDIS_ROW_H
#define GALE_CONNECT_REDIS_ROW_H

#include "connect/redis/entries.h"

#include <gale/connect.h>
#include <gale/plugin.h>

enum { REDIS_ROW_MAX = 40, REDIS_ENTRY_FIELDS = 1024 };

typedef struct redis_row {
    gale_names emit; /* of id, stream, time, entry */
    char *fields[REDIS_ROW_MAX];
    size_t field_count;
    size_t count; /* values that go out */
    bool keeps;   /* one more is kept: the entry */
    char *names;  /* "id, entry, user": the output's */
} redis_row;

typedef struct redis_values {
    gale_value list[GALE_NAMES_MAX + REDIS_ROW_MAX + 1];
    gale_value pairs[2 * REDIS_ENTRY_FIELDS]; /* of a map */
} redis_values;

/* `keeps`: see there. GALE_INVALID with a sentence that begins with the parameter; GALE_NO_MEMORY. What was made is freed by redis_row_free, also then. */
int redis_row_make(redis_row *row, const gale_args *args, bool keeps, gale_error *error);
void redis_row_free(redis_row *row);

/* How many values a row has, with what does not go out. */
size_t redis_row_size(const redis_row *row);

/* The values of an entry, borrowed from it. NULL, or what is wrong with it. */
const char *redis_row_values(const redis_row *row, const redis_entry *entry, const char *stream, redis_values *values);

#endif
