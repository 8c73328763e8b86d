/* A text that grows, and what PostgreSQL reads: rows of COPY (its text format), names in SQL.
 * Owner: pg_text_free. Errors: memory that is out is remembered in `failed`; what is written behind it is nothing. */
#ifndef GALE_CONNECT_POSTGRES_TEXT_H
#define GALE_CONNECT_POSTGRES_TEXT_H

#include <gale/value.h>
#include <stdbool.h>

typedef struct pg_text {
    char *data; /* no NUL at its end, but for pg_text_string */
    size_t size, room;
    bool failed;
} pg_text;

void pg_text_free(pg_text *text);
void pg_text_add(pg_text *text, const void *data, size_t size);
void pg_text_print(pg_text *text, const char *format, ...) GALE_PRINTF(2, 3);

/* Ended by a NUL, which is not of its size. NULL when memory was out. */
const char *pg_text_string(pg_text *text);

/* A name in quotes; `schema.table` in two pairs of them. */
void pg_text_name(pg_text *text, gale_str name);

/* A value as a parameter of a statement: what pg_text_copy_value writes, without what COPY needs. Not of null. NULL, or what is wrong with it. */
const char *pg_text_value(pg_text *text, const gale_value *value);

/* A value as a column of a row of COPY, with what it needs against the format's own characters: null as \N, bytes as \x..., lists and maps as JSON; a number
 * as its fewest digits. `unit` is not 0: a number is a time since 1970, so many in a second, and becomes a date with a time. NULL, or what is wrong with
 * it: "has a NUL". */
const char *pg_text_copy_value(pg_text *text, const gale_value *value, int64_t unit);

#endif
