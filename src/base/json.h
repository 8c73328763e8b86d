/* Writing JSON (RFC 8259), into a gx_buf. The writer puts commas and colons; the caller opens and closes. Strings
 * are UTF-8 and written unescaped but for the quotation mark, the backslash and control characters (C0, DEL, C1).
 * What reads is base/json_scan.h. */
#ifndef GX_BASE_JSON_H
#define GX_BASE_JSON_H

#include "base/buf.h"

typedef struct gx_json {
    gx_buf *out;
    bool comma; /* the next item needs one */
} gx_json;

GX_INLINE gx_json gx_json_to(gx_buf *out) {
    return (gx_json){ out, false };
}

void gx_json_open(gx_json *json, char bracket);  /* '{' or '[' */
void gx_json_close(gx_json *json, char bracket); /* '}' or ']' */
void gx_json_key(gx_json *json, gale_str key);
void gx_json_null(gx_json *json);
void gx_json_bool(gx_json *json, bool value);
void gx_json_i64(gx_json *json, int64_t value);
void gx_json_u64(gx_json *json, uint64_t value);
void gx_json_f64(gx_json *json,
                 double value); /* the shortest text that reads back the same; NaN and infinities: null */
void gx_json_string(gx_json *json, gale_str value);
void gx_json_base64(gx_json *json, const void *bytes, size_t size); /* as a string */

#endif
