/* What PostgreSQL reads: rows of COPY (its text format), names in SQL. Errors: as of the text that they are added to (sql/text.h). */
#ifndef GALE_CONNECT_POSTGRES_TEXT_H
#define GALE_CONNECT_POSTGRES_TEXT_H

#include "sql/text.h"

/* A name in quotes; `schema.table` in two pairs of them. */
void pg_text_name(sql_text *text, gale_str name);

/* A value as a parameter of a statement: what pg_text_copy_value writes, without what COPY needs. Not of null. NULL, or what is wrong with it. */
const char *pg_text_value(sql_text *text, const gale_value *value);

/* A value as a column of a row of COPY, with what it needs against the format's own characters: null as \N, bytes as \x..., lists and maps as JSON; a number
 * as its fewest digits. `unit` is not 0: a number is a time since 1970, so many in a second, and becomes a date with a time. NULL, or what is wrong with
 * it: "has a NUL". */
const char *pg_text_copy_value(sql_text *text, const gale_value *value, int64_t unit);

#endif
