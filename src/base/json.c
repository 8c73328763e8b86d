#include "base/json.h"

#include "base/base64.h"
#include "base/scan.h"

#include <math.h>
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

void gx_json_f64(gx_json *json, double value) {
    if (!isfinite(value)) {
        gx_json_null(json);
        return;
    }
    begin_item(json);
    gx_buf_add_f64(json->out, value);
}

static void add_escape(gx_buf *out, unsigned number) {
    static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *found = number ? strchr(plain, (int)number) : NULL;
    if (found)
        gx_buf_format(out, "\\%c", letter[found - plain]);
    else
        gx_buf_format(out, "\\u%04x", number);
}

/* Is it a lead byte that no C1 control (U+0080 to U+009F) begins with? */
static bool is_harmless(const char *at, const char *end) {
    return (unsigned char)at[0] == 0xc2 && !(end - at > 1 && gx_is_within((unsigned char)at[1], 0x80, 0x20));
}

/* RFC 8259 leaves DEL and the C1 controls, which are two bytes, alone; a terminal that the line is shown on would
 * obey them. */
void gx_json_string(gx_json *json, gale_str value) {
    const char *from = value.data, *end = value.data + value.size, *at = from;
    begin_item(json);
    gx_buf_add_byte(json->out, '"');
    while (value.size && (at = gx_scan(at, end, GX_SCAN_WRITE)) < end) {
        if (is_harmless(at, end)) {
            at++;
            continue;
        }
        gx_buf_add(json->out, from, (size_t)(at - from));
        at += (unsigned char)*at == 0xc2;
        add_escape(json->out, (unsigned char)*at++); /* of the two bytes, the second is the number */
        from = at;
    }
    if (end > from) gx_buf_add(json->out, from, (size_t)(end - from));
    gx_buf_add_byte(json->out, '"');
}

void gx_json_base64(gx_json *json, const void *bytes, size_t size) {
    begin_item(json);
    gx_buf_add_byte(json->out, '"');
    if (gx_buf_reserve(json->out, gx_base64_size(size)))
        json->out->size += gx_base64_encode(bytes, size, json->out->data + json->out->size);
    gx_buf_add_byte(json->out, '"');
}
