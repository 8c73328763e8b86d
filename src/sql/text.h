/* A text that grows.
 * Owner: sql_text_free. Errors: memory that is out is remembered in `failed`; what is written behind it is nothing. */
#ifndef GALE_SQL_TEXT_H
#define GALE_SQL_TEXT_H

#include <gale/value.h>
#include <stdbool.h>

typedef struct sql_text {
    char *data; /* no NUL at its end, but for sql_text_string */
    size_t size, room;
    bool failed;
} sql_text;

void sql_text_free(sql_text *text);
void sql_text_add(sql_text *text, const void *data, size_t size);
void sql_text_put(sql_text *text, const char *data); /* up to its NUL */
void sql_text_print(sql_text *text, const char *format, ...) GALE_PRINTF(2, 3);

/* Room for so many bytes behind it, which are not of it before who writes them adds to `size`. NULL when memory was out. */
char *sql_text_room(sql_text *text, size_t size);

/* Ended by a NUL, which is not of its size. NULL when memory was out. */
const char *sql_text_string(sql_text *text);

#endif
