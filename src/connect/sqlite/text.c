#include "connect/sqlite/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- A text ----------------------------------------------------------------------------------------------------------- */

void lite_text_free(lite_text *text) {
    free(text->data);
    *text = (lite_text){ .data = NULL };
}

static char *room_for(lite_text *text, size_t size) {
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

void lite_text_add(lite_text *text, const void *data, size_t size) {
    char *to = room_for(text, size);
    if (!to || !size) return;
    memcpy(to, data, size);
    text->size += size;
}

static void add_text(lite_text *text, const char *data) {
    lite_text_add(text, data, strlen(data));
}

void lite_text_print(lite_text *text, const char *format, ...) {
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    char *to = length < 0 ? NULL : room_for(text, (size_t)length + 1);
    if (to) text->size += (size_t)vsnprintf(to, (size_t)length + 1, format, again);
    va_end(again);
    va_end(list);
}

const char *lite_text_string(lite_text *text) {
    char *end = room_for(text, 1);
    if (!end) return NULL;
    *end = '\0';
    return text->data;
}

/* --- Names ------------------------------------------------------------------------------------------------------------ */

static void add_quoted(lite_text *text, gale_str name, char quote) {
    lite_text_add(text, &quote, 1);
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] == quote) lite_text_add(text, &quote, 1);
        lite_text_add(text, &name.data[i], 1);
    }
    lite_text_add(text, &quote, 1);
}

void lite_text_name(lite_text *text, gale_str name) {
    add_quoted(text, name, '`');
}

void lite_text_defined(lite_text *text, gale_str name) {
    add_quoted(text, name, '"');
}

/* --- JSON ------------------------------------------------------------------------------------------------------------- */

static void json_text(lite_text *text, const char *data, size_t size) {
    size_t from = 0;
    add_text(text, "\"");
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)data[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        lite_text_add(text, data + from, i - from);
        from = i + 1;
        if (c < 0x20)
            lite_text_print(text, "\\u%04x", c);
        else
            lite_text_print(text, "\\%c", c);
    }
    lite_text_add(text, data + from, size - from);
    add_text(text, "\"");
}

/* The fewest digits that say the same; a point where it would be a whole number. */
static void json_number(lite_text *text, double number) {
    char digits[40];
    if (!isfinite(number)) {
        add_text(text, "null");
        return;
    }
    for (int count = 15; count <= 17; count++) {
        snprintf(digits, sizeof digits, "%.*g", count, number);
        if (strtod(digits, NULL) == number) break;
    }
    add_text(text, digits);
    if (!strpbrk(digits, ".e")) add_text(text, ".0");
}

static void json_bytes(lite_text *text, const unsigned char *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    add_text(text, "{\"base64\":\"");
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        char four[4] = { digits[group >> 18], digits[group >> 12 & 63], left > 1 ? digits[group >> 6 & 63] : '=',
                         left > 2 ? digits[group & 63] : '=' };
        lite_text_add(text, four, sizeof four);
    }
    add_text(text, "\"}");
}

static void json_list(lite_text *text, const gale_value *list) {
    add_text(text, "[");
    for (size_t i = 0; i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        if (i) add_text(text, ",");
        lite_text_json(text, &item);
    }
    add_text(text, "]");
}

static void json_map(lite_text *text, const gale_value *map) {
    gale_value value;
    gale_str key;
    add_text(text, "{");
    for (size_t i = 0; gale_map_at(map, i, &key, &value); i++) {
        if (i) add_text(text, ",");
        json_text(text, key.data, key.size);
        add_text(text, ":");
        lite_text_json(text, &value);
    }
    add_text(text, "}");
}

void lite_text_json(lite_text *text, const gale_value *value) {
    switch (value->type) {
    case GALE_TYPE_BOOL: add_text(text, value->as.boolean ? "true" : "false"); break;
    case GALE_TYPE_I64: lite_text_print(text, "%" PRId64, value->as.i64); break;
    case GALE_TYPE_F64: json_number(text, value->as.f64); break;
    case GALE_TYPE_STRING: json_text(text, value->as.string, value->size); break;
    case GALE_TYPE_BYTES: json_bytes(text, value->as.bytes, value->size); break;
    case GALE_TYPE_LIST: json_list(text, value); break;
    case GALE_TYPE_MAP: json_map(text, value); break;
    default: add_text(text, "null");
    }
}
