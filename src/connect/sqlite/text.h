/* A text that grows, and what SQLite and its users read: names in SQL, values as JSON.
 * Owner: lite_text_free. Errors: memory that is out is remembered in `failed`; what is written behind it is nothing. */
#ifndef GALE_CONNECT_SQLITE_TEXT_H
#define GALE_CONNECT_SQLITE_TEXT_H

#include <gale/value.h>
#include <stdbool.h>

typedef struct lite_text {
    char *data; /* no NUL at its end, but for lite_text_string */
    size_t size, room;
    bool failed;
} lite_text;

void lite_text_free(lite_text *text);
void lite_text_add(lite_text *text, const void *data, size_t size);
void lite_text_print(lite_text *text, const char *format, ...) GALE_PRINTF(2, 3);

/* Ended by a NUL, which is not of its size. NULL when memory was out. */
const char *lite_text_string(lite_text *text);

/* A name in SQL, in backticks: what stands in double quotes SQLite takes for a text where there is no such column. */
void lite_text_name(lite_text *text, gale_str name);

/* The same in double quotes, for definitions that people read. */
void lite_text_defined(lite_text *text, gale_str name);

/* A value as JSON: bytes are {"base64": "..."}, as in dead letters; a number is its fewest digits; NaN and infinities are null. */
void lite_text_json(lite_text *text, const gale_value *value);

#endif
