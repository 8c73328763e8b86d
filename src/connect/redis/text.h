/* A text that grows, and what Redis reads: commands as lists of texts (RESP), and values as texts.
 * Owner: redis_text_free. Errors: memory that is out is remembered in `failed`; what is written behind it is nothing. */
#ifndef GALE_CONNECT_REDIS_TEXT_H
#define GALE_CONNECT_REDIS_TEXT_H

#include <gale/value.h>

typedef struct redis_text {
    char *data; /* no NUL at its end */
    size_t size, room;
    bool failed;
} redis_text;

void redis_text_free(redis_text *text);
void redis_text_add(redis_text *text, const void *data, size_t size);

/* A command of so many words, its name the first; then each of them. */
void redis_text_command(redis_text *text, size_t words);
void redis_text_word(redis_text *text, const void *data, size_t size);
void redis_text_words(redis_text *text, const char *first, ...); /* several, ended by NULL */
void redis_text_number(redis_text *text, int64_t number);

/* A value as it stands in Redis: a text or bytes as they are, a whole number, a number by its fewest digits, true and false as 1 and 0. NULL, or what is wrong
 * with it: "is null", "is a list". */
const char *redis_text_value(redis_text *text, const gale_value *value);

#endif
