/* Members of JSON objects, a line each. */
#ifndef GX_SERVE_MEMBER_H
#define GX_SERVE_MEMBER_H

#include "base/json.h"
#include "base/str.h"

#include <math.h>

GX_INLINE void gx_member_text(gx_json *json, const char *key, const char *text) {
    gx_json_key(json, gx_str(key));
    if (text)
        gx_json_string(json, gx_str(text));
    else
        gx_json_null(json);
}

GX_INLINE void gx_member_count(gx_json *json, const char *key, uint64_t count) {
    gx_json_key(json, gx_str(key));
    gx_json_u64(json, count);
}

GX_INLINE void gx_member_bool(gx_json *json, const char *key, bool value) {
    gx_json_key(json, gx_str(key));
    gx_json_bool(json, value);
}

/* What is no number is null. */
GX_INLINE void gx_member_number(gx_json *json, const char *key, double number) {
    gx_json_key(json, gx_str(key));
    gx_json_f64(json, number);
}

GX_INLINE void gx_member_null(gx_json *json, const char *key) {
    gx_json_key(json, gx_str(key));
    gx_json_null(json);
}

/* Nanoseconds, as seconds; negative: null. */
GX_INLINE void gx_member_seconds(gx_json *json, const char *key, int64_t nanoseconds) {
    gx_member_number(json, key, nanoseconds < 0 ? (double)NAN : (double)nanoseconds / 1e9);
}

GX_INLINE void gx_member_open(gx_json *json, const char *key, char bracket) {
    gx_json_key(json, gx_str(key));
    gx_json_open(json, bracket);
}

#endif
