#include "connect/http/json.h"

#include <inttypes.h>
#include <math.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Texts ------------------------------------------------------------------------------------------------------------ */

static bool is_plain(char c) {
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\';
}

static void add_escaped(http_buffer *to, char c) {
    switch (c) {
    case '"': http_buffer_text(to, "\\\""); break;
    case '\\': http_buffer_text(to, "\\\\"); break;
    case '\n': http_buffer_text(to, "\\n"); break;
    case '\r': http_buffer_text(to, "\\r"); break;
    case '\t': http_buffer_text(to, "\\t"); break;
    default: http_buffer_format(to, "\\u%04x", (unsigned)(unsigned char)c);
    }
}

void http_json_string(http_buffer *to, const char *text, size_t size) {
    size_t from = 0;
    http_buffer_add(to, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        if (is_plain(text[i])) continue;
        http_buffer_add(to, text + from, i - from);
        add_escaped(to, text[i]);
        from = i + 1;
    }
    http_buffer_add(to, text + from, size - from);
    http_buffer_add(to, "\"", 1);
}

static void add_bytes(http_buffer *to, const uint8_t *bytes, size_t size) {
    enum { PART = 3 * 256 };
    char text[BASE64_ENCODE_RAW_LENGTH(PART)];
    http_buffer_text(to, "{\"base64\":\"");
    for (size_t at = 0; at < size; at += PART) {
        size_t part = size - at < PART ? size - at : PART;
        base64_encode_raw(text, part, bytes + at);
        http_buffer_add(to, text, BASE64_ENCODE_RAW_LENGTH(part));
    }
    http_buffer_text(to, "\"}");
}

/* --- Values ----------------------------------------------------------------------------------------------------------- */

/* The fewest digits that say the same. */
static void add_number(http_buffer *to, double number) {
    char text[40];
    if (!isfinite(number)) {
        http_buffer_text(to, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number) break;
    }
    http_buffer_text(to, text);
}

static void add_list(http_buffer *to, const gale_value *list) {
    http_buffer_add(to, "[", 1);
    for (size_t i = 0; i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        if (i) http_buffer_add(to, ",", 1);
        http_json_value(to, &item);
    }
    http_buffer_add(to, "]", 1);
}

static void add_map(http_buffer *to, const gale_value *map) {
    gale_str key;
    gale_value value;
    http_buffer_add(to, "{", 1);
    for (size_t i = 0; gale_map_at(map, i, &key, &value); i++) {
        if (i) http_buffer_add(to, ",", 1);
        http_json_string(to, key.data, key.size);
        http_buffer_add(to, ":", 1);
        http_json_value(to, &value);
    }
    http_buffer_add(to, "}", 1);
}

/* As deep as GALE_VALUE_DEPTH. */
void http_json_value(http_buffer *to, const gale_value *value) {
    switch (value->type) {
    case GALE_TYPE_BOOL: http_buffer_text(to, value->as.boolean ? "true" : "false"); break;
    case GALE_TYPE_I64: http_buffer_format(to, "%" PRId64, value->as.i64); break;
    case GALE_TYPE_F64: add_number(to, value->as.f64); break;
    case GALE_TYPE_STRING: http_json_string(to, value->as.string, value->size); break;
    case GALE_TYPE_BYTES: add_bytes(to, value->as.bytes, value->size); break;
    case GALE_TYPE_LIST: add_list(to, value); break;
    case GALE_TYPE_MAP: add_map(to, value); break;
    default: http_buffer_text(to, "null");
    }
}

void http_json_tuple(http_buffer *to, const gale_tuple *tuple) {
    http_buffer_add(to, "{", 1);
    for (size_t i = 0; i < gale_tuple_size(tuple); i++) {
        const char *name = gale_tuple_field(tuple, i);
        gale_value value = gale_tuple_value(tuple, i);
        if (!name) continue;
        if (i) http_buffer_add(to, ",", 1);
        http_json_string(to, name, strlen(name));
        http_buffer_add(to, ":", 1);
        http_json_value(to, &value);
    }
    http_buffer_add(to, "}", 1);
}
