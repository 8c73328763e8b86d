/* What SQLite and its users read: names in SQL, values as JSON. Errors: as of the text that they are added to (sql/text.h). */
#ifndef GALE_CONNECT_SQLITE_TEXT_H
#define GALE_CONNECT_SQLITE_TEXT_H

#include "sql/text.h"

/* A name in SQL, in backticks: what stands in double quotes SQLite takes for a text where there is no such column. */
void lite_text_name(sql_text *text, gale_str name);

/* The same in double quotes, for definitions that people read. */
void lite_text_defined(sql_text *text, gale_str name);

/* A value as JSON: bytes are {"base64": "..."}, as in dead letters; a number is its fewest digits; NaN and infinities are null. */
void lite_text_json(sql_text *text, const gale_value *value);

#endif
