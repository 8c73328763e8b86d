#include "sql/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sql_text_free(sql_text *text) {
    free(text->data);
    *text = (sql_text){ .data = NULL };
}

char *sql_text_room(sql_text *text, size_t size) {
    if (text->failed) return NULL;
    if (size > text->room - text->size) {
        size_t room = text->room ? text->room : 256;
        while (room - text->size < size) room *= 2;
        char *data = realloc(text->data, room);
        text->failed = !data;
        if (!data) return NULL;
        text->data = data;
        text->room = room;
    }
    return text->data + text->size;
}

void sql_text_add(sql_text *text, const void *data, size_t size) {
    char *to = sql_text_room(text, size);
    if (!to || !size) return;
    memcpy(to, data, size);
    text->size += size;
}

void sql_text_put(sql_text *text, const char *data) {
    sql_text_add(text, data, strlen(data));
}

void sql_text_print(sql_text *text, const char *format, ...) {
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    char *to = length < 0 ? NULL : sql_text_room(text, (size_t)length + 1);
    if (to) text->size += (size_t)vsnprintf(to, (size_t)length + 1, format, again);
    va_end(again);
    va_end(list);
}

const char *sql_text_string(sql_text *text) {
    char *end = sql_text_room(text, 1);
    if (!end) return NULL;
    *end = '\0';
    return text->data;
}
