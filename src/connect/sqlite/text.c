#include "connect/sqlite/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Names ------------------------------------------------------------------------------------------------------------ */

static void add_quoted(sql_text *text, gale_str name, char quote) {
    sql_text_add(text, &quote, 1);
    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] == quote) sql_text_add(text, &quote, 1);
        sql_text_add(text, &name.data[i], 1);
    }
    sql_text_add(text, &quote, 1);
}

void lite_text_name(sql_text *text, gale_str name) {
    add_quoted(text, name, '`');
}

void lite_text_defined(sql_text *text, gale_str name) {
    add_quoted(text, name, '"');
}

/* --- JSON ------------------------------------------------------------------------------------------------------------- */

static void json_text(sql_text *text, const char *data, size_t size) {
    size_t from = 0;
    sql_text_put(text, "\"");
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)data[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        sql_text_add(text, data + from, i - from);
        from = i + 1;
        if (c < 0x20)
            sql_text_print(text, "\\u%04x", c);
        else
            sql_text_print(text, "\\%c", c);
    }
    sql_text_add(text, data + from, size - from);
    sql_text_put(text, "\"");
}

/* The fewest digits that say the same; a point where it would be a whole number. */
static void json_number(sql_text *text, double number) {
    char digits[40];
    if (!isfinite(number)) {
        sql_text_put(text, "null");
        return;
    }
    for (int count = 15; count <= 17; count++) {
        snprintf(digits, sizeof digits, "%.*g", count, number);
        if (strtod(digits, NULL) == number) break;
    }
    sql_text_put(text, digits);
    if (!strpbrk(digits, ".e")) sql_text_put(text, ".0");
}

static void json_bytes(sql_text *text, const unsigned char *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    sql_text_put(text, "{\"base64\":\"");
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        char four[4] = { digits[group >> 18], digits[group >> 12 & 63], left > 1 ? digits[group >> 6 & 63] : '=',
                         left > 2 ? digits[group & 63] : '=' };
        sql_text_add(text, four, sizeof four);
    }
    sql_text_put(text, "\"}");
}

static void json_list(sql_text *text, const gale_value *list) {
    sql_text_put(text, "[");
    for (size_t i = 0; i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        if (i) sql_text_put(text, ",");
        lite_text_json(text, &item);
    }
    sql_text_put(text, "]");
}

static void json_map(sql_text *text, const gale_value *map) {
    gale_value value;
    gale_str key;
    sql_text_put(text, "{");
    for (size_t i = 0; gale_map_at(map, i, &key, &value); i++) {
        if (i) sql_text_put(text, ",");
        json_text(text, key.data, key.size);
        sql_text_put(text, ":");
        lite_text_json(text, &value);
    }
    sql_text_put(text, "}");
}

void lite_text_json(sql_text *text, const gale_value *value) {
    switch (value->type) {
    case GALE_TYPE_BOOL: sql_text_put(text, value->as.boolean ? "true" : "false"); break;
    case GALE_TYPE_I64: sql_text_print(text, "%" PRId64, value->as.i64); break;
    case GALE_TYPE_F64: json_number(text, value->as.f64); break;
    case GALE_TYPE_STRING: json_text(text, value->as.string, value->size); break;
    case GALE_TYPE_BYTES: json_bytes(text, value->as.bytes, value->size); break;
    case GALE_TYPE_LIST: json_list(text, value); break;
    case GALE_TYPE_MAP: json_map(text, value); break;
    default: sql_text_put(text, "null");
    }
}
