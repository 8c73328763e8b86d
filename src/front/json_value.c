#include "front/json_value.h"

#include "base/base64.h"
#include "base/number.h"
#include "tuple/body.h"

#include <math.h>
#include <string.h>

typedef struct making {
    gx_json_reader *reader;
    bool exact; /* as front/exact_json.h writes it */
} making;

static gale_str text_of(const gale_value *value) {
    return (gale_str){ value->as.string, value->size };
}

static int make(const making *m, int depth, gale_value *value);

/* Lists and maps lie in the reader's arena, which is ours to write to. */
static gale_value *items_of(const gale_value *value) {
    return (gale_value *)(uintptr_t)value->as.items;
}

static int make_bytes(const making *m, gale_str coded, gale_value *value) {
    unsigned char *bytes = gx_arena_bytes(&m->reader->arena, coded.size / 4 * 3 + 1, SIZE_MAX / 2);
    if (!bytes) return GALE_NO_MEMORY;
    int64_t size = gx_base64_decode(coded, bytes);
    *value = gale_bytes(bytes, size < 0 ? 0 : (size_t)size);
    return size < 0 ? GALE_INVALID : 0;
}

/* --- What exact values have beside it --- */

static int make_whole(gale_str text, gale_value *value) {
    int64_t number;
    if (!gx_number_whole(text, &number)) return GALE_INVALID;
    *value = gale_i64(number);
    return 0;
}

static int make_number(gale_str word, gale_value *value) {
    uint64_t bits;
    if (gx_str_is(word, "inf") || gx_str_is(word, "-inf")) {
        *value = gale_f64((double)(*word.data == '-' ? -INFINITY : INFINITY));
        return 0;
    }
    if (gx_str_is(word, "nan")) {
        *value = gale_f64((double)NAN);
        return 0;
    }
    if (word.size != 16 || !gx_str_number(word, 16, UINT64_MAX, &bits)) return GALE_INVALID;
    *value = gale_f64(0);
    memcpy(&value->as, &bits, sizeof bits);
    return 0;
}

/* [[key, value], ...] */
static int make_pairs(const making *m, const gale_value *list, int depth, gale_value *value) {
    gale_value *pairs = gx_arena_take(&m->reader->arena, 2 * (size_t)list->size, SIZE_MAX / 2);
    if (!pairs) return GALE_NO_MEMORY;
    for (size_t i = 0; i < list->size; i++) {
        const gale_value *pair = &list->as.items[i];
        if (pair->type != GALE_TYPE_LIST || pair->size != 2) return GALE_INVALID;
        memcpy(&pairs[2 * i], pair->as.items, 2 * sizeof *pairs);
        int rc = make(m, depth + 1, &pairs[2 * i]);
        if (rc == 0) rc = make(m, depth + 1, &pairs[2 * i + 1]);
        if (rc < 0) return rc;
    }
    *value = gale_map(pairs, list->size);
    return 0;
}

/* Of an object with one member. */
static int make_tagged(const making *m, gale_str tag, gale_value content, int depth, gale_value *value) {
    if (gx_str_is(tag, "map"))
        return content.type == GALE_TYPE_LIST ? make_pairs(m, &content, depth, value) : GALE_INVALID;
    if (content.type != GALE_TYPE_STRING) return GALE_INVALID;
    if (gx_str_is(tag, "i64")) return make_whole(text_of(&content), value);
    if (gx_str_is(tag, "f64")) return make_number(text_of(&content), value);
    int rc = make_bytes(m, text_of(&content), value);
    if (gx_str_is(tag, "string")) value->type = GALE_TYPE_STRING;
    return rc;
}

/* --- Values --- */

static int make_items(const making *m, int depth, gale_value *value) {
    size_t step = value->type == GALE_TYPE_MAP ? 2 : 1, count = step * value->size;
    gale_value *items = items_of(value);
    int rc = 0;
    for (size_t i = step - 1; rc == 0 && i < count; i += step) rc = make(m, depth + 1, &items[i]);
    return rc;
}

static int make_map(const making *m, int depth, gale_value *value) {
    const gale_value *first = value->as.items;
    gale_str tag = value->size == 1 ? text_of(first) : (gale_str){ "", 0 };
    if (m->exact && tag.size && gx_json_is_tag(tag)) return make_tagged(m, tag, first[1], depth, value);
    bool coded = !m->exact && gx_str_is(tag, "base64") && first[1].type == GALE_TYPE_STRING;
    return coded ? make_bytes(m, text_of(&first[1]), value) : make_items(m, depth, value);
}

static int make(const making *m, int depth, gale_value *value) {
    if (depth > GALE_VALUE_DEPTH) return GALE_TOO_LARGE;
    if (value->type == GALE_TYPE_LIST) return make_items(m, depth, value);
    return value->type == GALE_TYPE_MAP ? make_map(m, depth, value) : 0;
}

bool gx_json_is_tag(gale_str key) {
    return gx_str_is(key, "base64") || gx_str_is(key, "string") || gx_str_is(key, "i64") || gx_str_is(key, "f64") ||
           gx_str_is(key, "map");
}

void gx_json_exact_reader(gx_json_reader *reader, gx_heap *heap) {
    gx_json_reader_init(reader, heap);
    reader->depth = GX_JSON_DEPTH;
    reader->unique = true;
}

int gx_json_make_exact(gx_json_reader *reader, gale_value *value) {
    const making m = { reader, true };
    int rc = make(&m, 0, value);
    int64_t size = rc == 0 ? gx_body_measure(value, 1) : 0;
    return size < 0 ? (int)size : rc;
}

static int to_value(gale_str json, bool exact, gale_value_owned **ret_value) {
    gx_heap heap;
    gx_json_reader reader;
    gale_value value;
    gale_value_owned *copy = NULL;
    gx_heap_init(&heap, NULL);
    gx_json_exact_reader(&reader, &heap);
    const making m = { &reader, exact };
    int rc = gx_json_read_document(&reader, json, &value);
    if (rc == 0) rc = make(&m, 0, &value);
    int64_t size = rc == 0 ? gx_body_measure(&value, 1) : 0;
    if (size < 0) rc = (int)size;
    if (rc == 0 && !(copy = gale_value_copy(&value))) rc = GALE_NO_MEMORY;
    gx_json_reader_fini(&reader);
    if (rc == 0) *ret_value = copy;
    return rc;
}

int gx_json_to_value(gale_str json, gale_value_owned **ret_value) {
    return to_value(json, false, ret_value);
}

int gx_json_to_exact(gale_str json, gale_value_owned **ret_value) {
    return to_value(json, true, ret_value);
}
