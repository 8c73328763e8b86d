#include "front/exact_json.h"

#include "base/str.h"
#include "front/json_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SAFE_MAX ((INT64_C(1) << 53) - 1)

static void write_tagged(gx_json *json, const char *tag, const char *text) {
    gx_json_open(json, '{');
    gx_json_key(json, gx_str(tag));
    gx_json_string(json, gx_str(text));
    gx_json_close(json, '}');
}

static void write_coded(gx_json *json, const char *tag, const gale_value *value) {
    gx_json_open(json, '{');
    gx_json_key(json, gx_str(tag));
    gx_json_base64(json, value->as.bytes, value->size);
    gx_json_close(json, '}');
}

static void write_whole(gx_json *json, int64_t number) {
    char text[24];
    if (number >= -SAFE_MAX && number <= SAFE_MAX) {
        gx_json_i64(json, number);
        return;
    }
    snprintf(text, sizeof text, "%" PRId64, number);
    write_tagged(json, "i64", text);
}

static void write_number(gx_json *json, const gale_value *value) {
    const double nan = NAN;
    double number = value->as.f64;
    uint64_t usual;
    memcpy(&usual, &nan, sizeof usual);
    char text[24];
    if (isfinite(number)) {
        gx_json_f64(json, number);
        return;
    }
    if (isinf(number))
        snprintf(text, sizeof text, "%s", number < 0 ? "-inf" : "inf");
    else if ((uint64_t)value->as.i64 == usual)
        snprintf(text, sizeof text, "nan");
    else
        snprintf(text, sizeof text, "%016" PRIx64, (uint64_t)value->as.i64);
    write_tagged(json, "f64", text);
}

static void write_string(gx_json *json, const gale_value *value) {
    if (gale_utf8_valid(value->as.string, value->size))
        gx_json_string(json, (gale_str){ value->as.string, value->size });
    else
        write_coded(json, "string", value);
}

static void write_list(gx_json *json, const gale_value *list) {
    gx_json_open(json, '[');
    for (size_t i = 0; i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        gx_exact_json(json, &item);
    }
    gx_json_close(json, ']');
}

/* --- Maps --- */

static bool is_plain(const gale_value *map) {
    gale_str key;
    gale_value value;
    for (size_t i = 0; gale_map_at(map, i, &key, &value); i++) {
        if (map->size == 1 && gx_json_is_tag(key)) return false;
        if (memchr(key.data, 0, key.size) || !gale_utf8_valid(key.data, key.size)) return false;
    }
    return true;
}

static void write_pairs(gx_json *json, const gale_value *map) {
    gale_str key;
    gale_value value;
    gx_json_open(json, '{');
    gx_json_key(json, gx_str("map"));
    gx_json_open(json, '[');
    for (size_t i = 0; gale_map_at(map, i, &key, &value); i++) {
        gale_value name = gale_string(key.data, key.size);
        gx_json_open(json, '[');
        write_string(json, &name);
        gx_exact_json(json, &value);
        gx_json_close(json, ']');
    }
    gx_json_close(json, ']');
    gx_json_close(json, '}');
}

static void write_map(gx_json *json, const gale_value *map) {
    gale_str key;
    gale_value value;
    if (!is_plain(map)) {
        write_pairs(json, map);
        return;
    }
    gx_json_open(json, '{');
    for (size_t i = 0; gale_map_at(map, i, &key, &value); i++) {
        gx_json_key(json, key);
        gx_exact_json(json, &value);
    }
    gx_json_close(json, '}');
}

/* What comes from a body is no deeper than a tuple can be. */
void gx_exact_json(gx_json *json, const gale_value *value) {
    switch (value->type) {
    case GALE_TYPE_BOOL: gx_json_bool(json, value->as.boolean); return;
    case GALE_TYPE_I64: write_whole(json, value->as.i64); return;
    case GALE_TYPE_F64: write_number(json, value); return;
    case GALE_TYPE_STRING: write_string(json, value); return;
    case GALE_TYPE_BYTES: write_coded(json, "base64", value); return;
    case GALE_TYPE_LIST: write_list(json, value); return;
    case GALE_TYPE_MAP: write_map(json, value); return;
    default: gx_json_null(json);
    }
}
