#include "tuple/json.h"

#include "base/str.h"

#include <stdio.h>

static void write_value(gx_json *json, const gale_value *value, int depth);

static void write_list(gx_json *json, const gale_value *list, int depth) {
    gx_json_open(json, '[');
    for (size_t i = 0; i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        write_value(json, &item, depth);
    }
    gx_json_close(json, ']');
}

static void write_map(gx_json *json, const gale_value *map, int depth) {
    gale_str key;
    gale_value value;
    gx_json_open(json, '{');
    for (size_t i = 0; gale_map_at(map, i, &key, &value); i++) {
        gx_json_key(json, key);
        write_value(json, &value, depth);
    }
    gx_json_close(json, '}');
}

static void write_bytes(gx_json *json, const gale_value *value) {
    gx_json_open(json, '{');
    gx_json_key(json, gx_str("base64"));
    gx_json_base64(json, value->as.bytes, value->size);
    gx_json_close(json, '}');
}

/* What is deeper than a tuple can be was built wrongly, and is not followed. */
static void write_value(gx_json *json, const gale_value *value, int depth) {
    switch (depth > GALE_VALUE_DEPTH ? GALE_TYPE_NULL : value->type) {
    case GALE_TYPE_BOOL: gx_json_bool(json, value->as.boolean); return;
    case GALE_TYPE_I64: gx_json_i64(json, value->as.i64); return;
    case GALE_TYPE_F64: gx_json_f64(json, value->as.f64); return;
    case GALE_TYPE_STRING: gx_json_string(json, (gale_str){ value->as.string, value->size }); return;
    case GALE_TYPE_BYTES: write_bytes(json, value); return;
    case GALE_TYPE_LIST: write_list(json, value, depth + 1); return;
    case GALE_TYPE_MAP: write_map(json, value, depth + 1); return;
    default: gx_json_null(json);
    }
}

void gx_json_value(gx_json *json, const gale_value *value) {
    write_value(json, value, 0);
}

void gx_json_tuple_values(gx_json *json, const gale_tuple *tuple) {
    gx_json_open(json, '{');
    for (size_t i = 0; i < gale_tuple_size(tuple); i++) {
        char number[24];
        const char *field = gale_tuple_field(tuple, i);
        if (GX_UNLIKELY(!field)) snprintf(number, sizeof number, "%zu", i);
        gale_value value = gale_tuple_value(tuple, i);
        gx_json_key(json, gx_str(field ? field : number));
        gx_json_value(json, &value);
    }
    gx_json_close(json, '}');
}
