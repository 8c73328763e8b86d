#include "base/json.h"

#include "base/base64.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The comma before an item, and the need of one after it. */
static void begin_item(gx_json *json) {
    if (json->comma) gx_buf_add_byte(json->out, ',');
    json->comma = true;
}

void gx_json_open(gx_json *json, char bracket) {
    begin_item(json);
    gx_buf_add_byte(json->out, bracket);
    json->comma = false;
}

void gx_json_close(gx_json *json, char bracket) {
    gx_buf_add_byte(json->out, bracket);
    json->comma = true;
}

void gx_json_key(gx_json *json, gale_str key) {
    gx_json_string(json, key);
    gx_buf_add_byte(json->out, ':');
    json->comma = false;
}

void gx_json_null(gx_json *json) {
    begin_item(json);
    gx_buf_add(json->out, "null", 4);
}

void gx_json_bool(gx_json *json, bool value) {
    begin_item(json);
    gx_buf_add_text(json->out, value ? "true" : "false");
}

void gx_json_i64(gx_json *json, int64_t value) {
    begin_item(json);
    gx_buf_add_i64(json->out, value);
}

void gx_json_u64(gx_json *json, uint64_t value) {
    begin_item(json);
    gx_buf_add_u64(json->out, value);
}

/* 15 digits name every short decimal, 17 every double. Subnormal numbers have fewer digits to tell apart. */
static void format_shortest(char *text, size_t size, double value) {
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value) return;
    }
}

void gx_json_f64(gx_json *json, double value) {
    if (!isfinite(value)) {
        gx_json_null(json);
        return;
    }
    char text[40];
    format_shortest(text, sizeof text - 2, value);
    bool whole = true;
    for (char *c = text; *c; c++) {
        if (strchr("+-0123456789", *c)) continue;
        if (*c != 'e') *c = '.'; /* the locale may have another point */
        whole = false;
    }
    begin_item(json);
    gx_buf_add_text(json->out, text);
    if (whole) gx_buf_add(json->out, ".0", 2);
}

static void add_escape(gx_buf *out, unsigned number) {
    static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *found = number ? strchr(plain, (int)number) : NULL;
    if (found)
        gx_buf_format(out, "\\%c", letter[found - plain]);
    else
        gx_buf_format(out, "\\u%04x", number);
}

/* The size of what must be written out at `text`, or 0. RFC 8259 leaves DEL and the C1 controls (U+0080 to U+009F, two
 * bytes) alone; a terminal that the line is shown on would obey them. */
static size_t to_escape(const char *text, size_t size) {
    unsigned char c = (unsigned char)*text;
    if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f) return 1;
    return c == 0xc2 && size > 1 && (unsigned char)text[1] >= 0x80 && (unsigned char)text[1] < 0xa0 ? 2 : 0;
}

void gx_json_string(gx_json *json, gale_str value) {
    begin_item(json);
    gx_buf_add_byte(json->out, '"');
    size_t from = 0;
    for (size_t at = 0; at < value.size; at++) {
        size_t size = to_escape(value.data + at, value.size - at);
        if (size == 0) continue;
        gx_buf_add(json->out, value.data + from, at - from);
        at += size - 1;
        add_escape(json->out, (unsigned char)value.data[at]); /* of the two bytes, the second is the number */
        from = at + 1;
    }
    if (value.size > from) gx_buf_add(json->out, value.data + from, value.size - from);
    gx_buf_add_byte(json->out, '"');
}

void gx_json_base64(gx_json *json, const void *bytes, size_t size) {
    begin_item(json);
    gx_buf_add_byte(json->out, '"');
    if (gx_buf_reserve(json->out, gx_base64_size(size)))
        json->out->size += gx_base64_encode(bytes, size, json->out->data + json->out->size);
    gx_buf_add_byte(json->out, '"');
}
