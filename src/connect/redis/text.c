#include "connect/redis/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256 };

void redis_text_free(redis_text *text) {
    free(text->data);
    *text = (redis_text){ .data = NULL };
}

static char *room_for(redis_text *text, size_t size) {
    size_t room = text->room ? text->room : FIRST_ROOM;
    if (text->failed) return NULL;
    if (size <= text->room - text->size) return text->data + text->size;
    while (room - text->size < size) room *= 2;
    char *data = realloc(text->data, room);
    text->failed = !data;
    if (!data) return NULL;
    text->data = data;
    text->room = room;
    return data + text->size;
}

void redis_text_add(redis_text *text, const void *data, size_t size) {
    char *to = size ? room_for(text, size) : NULL;
    if (!to) return;
    memcpy(to, data, size);
    text->size += size;
}

/* --- Commands ----------------------------------------------------------------------------------------------------------- */

/* "$12" or "*3", and the end of the line. */
static void add_head(redis_text *text, char kind, size_t count) {
    char digits[32], *at = digits + sizeof digits;
    *--at = '\n';
    *--at = '\r';
    do *--at = (char)('0' + count % 10);
    while (count /= 10);
    *--at = kind;
    redis_text_add(text, at, (size_t)(digits + sizeof digits - at));
}

void redis_text_command(redis_text *text, size_t words) {
    add_head(text, '*', words);
}

void redis_text_word(redis_text *text, const void *data, size_t size) {
    add_head(text, '$', size);
    redis_text_add(text, data, size);
    redis_text_add(text, "\r\n", 2);
}

void redis_text_words(redis_text *text, const char *first, ...) {
    va_list list;
    va_start(list, first);
    for (const char *word = first; word; word = va_arg(list, const char *)) redis_text_word(text, word, strlen(word));
    va_end(list);
}

void redis_text_number(redis_text *text, int64_t number) {
    char digits[32];
    redis_text_word(text, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, number));
}

/* --- Values ------------------------------------------------------------------------------------------------------------- */

const char *redis_text_value(redis_text *text, const gale_value *value) {
    char digits[GALE_NUMBER_TEXT];
    gale_str found;
    if (value->type == GALE_TYPE_NULL) return "is null";
    if (value->type == GALE_TYPE_F64 && isnan(value->as.f64)) return "is no number";
    if (!gale_value_text(value, digits, &found)) return value->type == GALE_TYPE_LIST ? "is a list" : "is a map";
    if (value->type == GALE_TYPE_BOOL) found = (gale_str){ value->as.boolean ? "1" : "0", 1 };
    redis_text_add(text, found.data, found.size);
    return NULL;
}
