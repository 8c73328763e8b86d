#include "front/json_value.h"

#include "base/str.h"
#include "tuple/body.h"

#include <stdlib.h>

/* --- Base64 --- */

static int sextet_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes whole groups of four with their padding; the length, or -1. `to` has room for three bytes a group. */
static int64_t decode_base64(gale_str text, unsigned char *to) {
    int64_t size = 0;
    if (text.size % 4) return -1;
    for (size_t at = 0; at < text.size; at += 4) {
        const char *group = text.data + at;
        int padding = at + 4 < text.size ? 0 : (group[3] == '=') + (group[3] == '=' && group[2] == '=');
        uint32_t bits = 0;
        for (int i = 0; i < 4; i++) {
            int sextet = i >= 4 - padding ? 0 : sextet_of(group[i]);
            if (sextet < 0) return -1;
            bits = bits << 6 | (uint32_t)sextet;
        }
        for (int i = 0; i < 3 - padding; i++) to[size++] = (unsigned char)(bits >> (16 - 8 * i));
    }
    return size;
}

/* --- Building --- */

/* A value whose arrays and bytes are malloc's, until it has been copied. */
static void release(gale_value *value) {
    size_t items = value->type == GALE_TYPE_LIST ? value->size : value->type == GALE_TYPE_MAP ? 2u * value->size : 0;
    for (size_t i = 0; i < items && value->as.items; i++) release((gale_value *)&value->as.items[i]);
    if (items || value->type == GALE_TYPE_BYTES) free((void *)(uintptr_t)value->as.bytes);
}

static int build(json_t *json, int depth, gale_value *value);

static int build_list(json_t *json, int depth, gale_value *value) {
    size_t count = json_array_size(json);
    gale_value *items = calloc(count ? count : 1, sizeof *items);
    if (!items) return GALE_NO_MEMORY;
    *value = gale_list(items, count);
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) code = build(json_array_get(json, i), depth + 1, &items[i]);
    if (!count) {
        free(items);
        value->as.items = NULL;
    }
    return code;
}

static int build_map(json_t *json, int depth, gale_value *value) {
    size_t count = json_object_size(json), i = 0;
    gale_value *pairs = calloc(count ? 2 * count : 1, sizeof *pairs);
    if (!pairs) return GALE_NO_MEMORY;
    *value = gale_map(pairs, count);
    int code = 0;
    const char *key;
    json_t *item;
    json_object_foreach(json, key, item) {
        pairs[i++] = gale_text(key);
        if (code == 0) code = build(item, depth + 1, &pairs[i]);
        i++;
    }
    if (!count) {
        free(pairs);
        value->as.items = NULL;
    }
    return code;
}

static int build_bytes(json_t *text, gale_value *value) {
    gale_str coded = { json_string_value(text), json_string_length(text) };
    unsigned char *bytes = malloc(coded.size / 4 * 3 + 1);
    if (!bytes) return GALE_NO_MEMORY;
    int64_t size = decode_base64(coded, bytes);
    *value = gale_bytes(bytes, size < 0 ? 0 : (size_t)size);
    return size < 0 ? GALE_INVALID : 0;
}

static int build_object(json_t *json, int depth, gale_value *value) {
    json_t *coded = json_object_size(json) == 1 ? json_object_get(json, "base64") : NULL;
    return json_is_string(coded) ? build_bytes(coded, value) : build_map(json, depth, value);
}

static int build(json_t *json, int depth, gale_value *value) {
    if (depth > GALE_VALUE_DEPTH) return GALE_TOO_LARGE;
    switch (json_typeof(json)) {
    case JSON_TRUE: *value = gale_bool(true); return 0;
    case JSON_FALSE: *value = gale_bool(false); return 0;
    case JSON_INTEGER: *value = gale_i64(json_integer_value(json)); return 0;
    case JSON_REAL: *value = gale_f64(json_real_value(json)); return 0;
    case JSON_STRING: *value = gale_string(json_string_value(json), json_string_length(json)); return 0;
    case JSON_ARRAY: return build_list(json, depth, value);
    case JSON_OBJECT: return build_object(json, depth, value);
    default: *value = gale_null(); return 0;
    }
}

int gx_json_to_value(json_t *json, gale_value_owned **ret_value) {
    gale_value value = gale_null();
    int rc = build(json, 0, &value);
    int64_t size = rc == 0 ? gx_body_measure(&value, 1) : 0;
    if (size < 0) rc = (int)size;
    gale_value_owned *copy = rc == 0 ? gale_value_copy(&value) : NULL;
    release(&value);
    if (rc < 0) return rc;
    if (!copy) return GALE_NO_MEMORY;
    *ret_value = copy;
    return 0;
}
