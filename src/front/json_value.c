#include "front/json_value.h"

#include "base/base64.h"
#include "tuple/body.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Building --- */

enum { MADE = 1 }; /* in `reserved`: the string's bytes are malloc's, not jansson's */

/* A value whose arrays and bytes are malloc's, until it has been copied. */
static void release(gale_value *value) {
    size_t items = value->type == GALE_TYPE_LIST ? value->size : value->type == GALE_TYPE_MAP ? 2u * value->size : 0;
    for (size_t i = 0; i < items && value->as.items; i++) release((gale_value *)&value->as.items[i]);
    if (items || value->type == GALE_TYPE_BYTES || value->reserved == MADE) free((void *)(uintptr_t)value->as.bytes);
}

/* `exact`: as front/exact_json.h writes it. */
static int build(json_t *json, int depth, bool exact, gale_value *value);

static int build_list(json_t *json, int depth, bool exact, gale_value *value) {
    size_t count = json_array_size(json);
    gale_value *items = calloc(count ? count : 1, sizeof *items);
    if (!items) return GALE_NO_MEMORY;
    *value = gale_list(items, count);
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) code = build(json_array_get(json, i), depth + 1, exact, &items[i]);
    if (!count) {
        free(items);
        value->as.items = NULL;
    }
    return code;
}

static int build_map(json_t *json, int depth, bool exact, gale_value *value) {
    size_t count = json_object_size(json), i = 0;
    gale_value *pairs = calloc(count ? 2 * count : 1, sizeof *pairs);
    if (!pairs) return GALE_NO_MEMORY;
    *value = gale_map(pairs, count);
    int code = 0;
    const char *key;
    json_t *item;
    json_object_foreach(json, key, item) {
        pairs[i++] = gale_text(key);
        if (code == 0) code = build(item, depth + 1, exact, &pairs[i]);
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
    int64_t size = gx_base64_decode(coded, bytes);
    *value = gale_bytes(bytes, size < 0 ? 0 : (size_t)size);
    return size < 0 ? GALE_INVALID : 0;
}

/* --- What exact values have beside it --- */

static int build_whole(json_t *text, gale_value *value) {
    char *end;
    errno = 0;
    long long number = strtoll(json_string_value(text), &end, 10);
    if (errno || !json_string_length(text) || *end || end != json_string_value(text) + json_string_length(text))
        return GALE_INVALID;
    *value = gale_i64(number);
    return 0;
}

static int build_number(json_t *text, gale_value *value) {
    uint64_t bits;
    gale_str word = { json_string_value(text), json_string_length(text) };
    if (gx_str_is(word, "inf") || gx_str_is(word, "-inf")) {
        *value = gale_f64(*word.data == '-' ? -INFINITY : INFINITY);
        return 0;
    }
    if (gx_str_is(word, "nan")) {
        *value = gale_f64(NAN);
        return 0;
    }
    if (word.size != 16 || !gx_str_number(word, 16, UINT64_MAX, &bits)) return GALE_INVALID;
    *value = gale_f64(0);
    memcpy(&value->as, &bits, sizeof bits);
    return 0;
}

static int build_pairs(json_t *list, int depth, gale_value *value) {
    size_t count = json_array_size(list);
    gale_value *pairs = calloc(count ? 2 * count : 1, sizeof *pairs);
    if (!pairs) return GALE_NO_MEMORY;
    *value = gale_map(pairs, count);
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++) {
        json_t *pair = json_array_get(list, i);
        code = json_array_size(pair) == 2 ? build(json_array_get(pair, 0), depth + 1, true, &pairs[2 * i])
                                          : GALE_INVALID;
        if (code == 0) code = build(json_array_get(pair, 1), depth + 1, true, &pairs[2 * i + 1]);
    }
    if (!count) {
        free(pairs);
        value->as.items = NULL;
    }
    return code;
}

/* Of an object with one member. */
static int build_tagged(const char *tag, json_t *content, int depth, gale_value *value) {
    bool is_text = json_is_string(content);
    if (strcmp(tag, "map") == 0) return json_is_array(content) ? build_pairs(content, depth, value) : GALE_INVALID;
    if (!is_text) return GALE_INVALID;
    if (strcmp(tag, "i64") == 0) return build_whole(content, value);
    if (strcmp(tag, "f64") == 0) return build_number(content, value);
    int rc = build_bytes(content, value);
    if (strcmp(tag, "string") == 0) {
        value->type = GALE_TYPE_STRING;
        value->reserved = MADE;
    }
    return rc;
}

static int build_object(json_t *json, int depth, bool exact, gale_value *value) {
    const char *tag = json_object_size(json) == 1 ? json_object_iter_key(json_object_iter(json)) : NULL;
    json_t *content = tag ? json_object_get(json, tag) : NULL;
    if (exact && tag && gx_json_is_tag(gx_str(tag))) return build_tagged(tag, content, depth, value);
    bool coded = !exact && tag && strcmp(tag, "base64") == 0 && json_is_string(content);
    return coded ? build_bytes(content, value) : build_map(json, depth, exact, value);
}

static int build(json_t *json, int depth, bool exact, gale_value *value) {
    if (depth > GALE_VALUE_DEPTH) return GALE_TOO_LARGE;
    switch (json_typeof(json)) {
    case JSON_TRUE: *value = gale_bool(true); return 0;
    case JSON_FALSE: *value = gale_bool(false); return 0;
    case JSON_INTEGER: *value = gale_i64(json_integer_value(json)); return 0;
    case JSON_REAL: *value = gale_f64(json_real_value(json)); return 0;
    case JSON_STRING: *value = gale_string(json_string_value(json), json_string_length(json)); return 0;
    case JSON_ARRAY: return build_list(json, depth, exact, value);
    case JSON_OBJECT: return build_object(json, depth, exact, value);
    default: *value = gale_null(); return 0;
    }
}

bool gx_json_is_tag(gale_str key) {
    return gx_str_is(key, "base64") || gx_str_is(key, "string") || gx_str_is(key, "i64") || gx_str_is(key, "f64") ||
           gx_str_is(key, "map");
}

static int to_value(json_t *json, bool exact, gale_value_owned **ret_value) {
    gale_value value = gale_null();
    int rc = build(json, 0, exact, &value);
    int64_t size = rc == 0 ? gx_body_measure(&value, 1) : 0;
    if (size < 0) rc = (int)size;
    gale_value_owned *copy = rc == 0 ? gale_value_copy(&value) : NULL;
    release(&value);
    if (rc < 0) return rc;
    if (!copy) return GALE_NO_MEMORY;
    *ret_value = copy;
    return 0;
}

int gx_json_to_value(json_t *json, gale_value_owned **ret_value) {
    return to_value(json, false, ret_value);
}

int gx_json_to_exact(json_t *json, gale_value_owned **ret_value) {
    return to_value(json, true, ret_value);
}
