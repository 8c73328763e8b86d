#include "tuple/value.h"

#include "base/bits.h"
#include "base/number.h"
#include "base/object.h"
#include "base/utf8.h"
#include "tuple/body.h"

#include <stdlib.h>

gale_value gale_text(const char *text) {
    return gale_string(text, text ? strlen(text) : 0);
}

const char *gale_type_name(int type) {
    static const char *const names[] = { "null", "bool", "i64", "f64", "string", "bytes", "list", "map" };
    return type >= 0 && type < GALE_TYPE_COUNT ? names[type] : "unknown";
}

bool gale_utf8_valid(const char *text, size_t size) {
    return gx_utf8_valid(text, size);
}

/* --- What is no value --------------------------------------------------------------------------------------------- */

static const gale_value nothing = { GALE_TYPE_NULL, 0, 0, 0, { 0 } };

/* Text, items or a body that are nowhere, although there are some. */
static bool is_nowhere(const gale_value *value) {
    return value->type >= GALE_TYPE_STRING && value->size && !value->as.string;
}

/* As deep as anybody looks. A body is whole in itself. */
static bool is_sound(const gale_value *value, int depth) {
    if (is_nowhere(value)) return false;
    bool holds = value->type == GALE_TYPE_LIST || value->type == GALE_TYPE_MAP;
    if (GX_LIKELY(!holds) || value->encoded || depth > GALE_VALUE_DEPTH) return true;
    size_t count = (size_t)value->size << (value->type == GALE_TYPE_MAP);
    for (size_t i = 0; i < count; i++)
        if (!is_sound(&value->as.items[i], depth + 1)) return false;
    return true;
}

const gale_value *gx_value_sound(const gale_value *value) {
    return GX_LIKELY(value != NULL) && GX_LIKELY(is_sound(value, 0)) ? value : &nothing;
}

/* --- Lists and maps, built or encoded ----------------------------------------------------------------------------- */

static gale_value item_at(const gale_value *value, size_t index) {
    return value->encoded ? gale_body_value(value->as.body, index) : value->as.items[index];
}

/* A key that is no string, in a map that was built wrongly, reads as an empty one. */
static gale_str key_at(const gale_value *map, size_t index) {
    gale_value key = item_at(map, 2 * index);
    return key.type == GALE_TYPE_STRING && !is_nowhere(&key) ? gx_value_str(&key) : (gale_str){ "", 0 };
}

static bool holds(const gale_value *value, gale_type type) {
    return value && value->type == type && !is_nowhere(value);
}

gale_value gale_list_at(const gale_value *list, size_t index) {
    if (!holds(list, GALE_TYPE_LIST) || index >= list->size) return gale_null();
    return item_at(list, index);
}

bool gale_map_at(const gale_value *map, size_t index, gale_str *ret_key, gale_value *ret_value) {
    if (!holds(map, GALE_TYPE_MAP) || index >= map->size) return false;
    if (ret_key) *ret_key = key_at(map, index);
    if (ret_value) *ret_value = item_at(map, 2 * index + 1);
    return true;
}

/* The first entry whose key is not below `key`; an encoded map is sorted. */
static size_t lower_bound(const gale_value *map, gale_str key) {
    size_t low = 0, high = map->size;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (gx_str_compare(key_at(map, middle), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool gale_map_get(const gale_value *map, gale_str key, gale_value *ret_value) {
    if (!holds(map, GALE_TYPE_MAP) || (!key.data && key.size)) return false;
    size_t index = map->encoded ? lower_bound(map, key) : 0;
    size_t end = map->encoded && index < map->size ? index + 1 : map->size;
    for (; index < end; index++) {
        if (!gx_str_equal(key_at(map, index), key)) continue;
        if (ret_value) *ret_value = item_at(map, 2 * index + 1);
        return true;
    }
    return false;
}

/* --- Order -------------------------------------------------------------------------------------------------------- */

static int compare(const gale_value *a, const gale_value *b, int depth);

static int compare_f64(double a, double b) {
    bool a_nan = a != a, b_nan = b != b;
    if (a_nan || b_nan) return a_nan - b_nan;
    return (a > b) - (a < b);
}

static int compare_lists(const gale_value *a, const gale_value *b, int depth) {
    size_t common = a->size < b->size ? a->size : b->size;
    for (size_t i = 0; i < common; i++) {
        gale_value x = item_at(a, i), y = item_at(b, i);
        int order = compare(&x, &y, depth);
        if (order) return order;
    }
    return (a->size > b->size) - (a->size < b->size);
}

/* Goes through a map by key. A map that was built and is not sorted is searched for each next key: slow, but it needs
 * no memory, and such a map is compared only by who built it. */
typedef struct walk {
    const gale_value *map;
    size_t at; /* of the last entry; `map->size` before the first */
    bool sorted;
} walk;

static walk walk_begin(const gale_value *map) {
    walk w = { map, map->size, true };
    for (size_t i = 1; !map->encoded && w.sorted && i < map->size; i++)
        w.sorted = gx_str_compare(key_at(map, i - 1), key_at(map, i)) < 0;
    return w;
}

static bool walk_next(walk *w) {
    const gale_value *map = w->map;
    bool first = w->at == map->size;
    if (w->sorted) {
        w->at = first ? 0 : w->at + 1;
        return w->at < map->size;
    }
    size_t best = map->size;
    for (size_t i = 0; i < map->size; i++) {
        if (!first && gx_str_compare(key_at(map, i), key_at(map, w->at)) <= 0) continue;
        if (best == map->size || gx_str_compare(key_at(map, i), key_at(map, best)) < 0) best = i;
    }
    w->at = best;
    return best < map->size;
}

static int compare_maps(const gale_value *a, const gale_value *b, int depth) {
    walk x = walk_begin(a), y = walk_begin(b);
    for (size_t i = 0; i < a->size && i < b->size; i++) {
        if (!walk_next(&x) || !walk_next(&y)) break; /* a key came twice */
        int order = gx_str_compare(key_at(a, x.at), key_at(b, y.at));
        if (order) return order;
        gale_value v = item_at(a, 2 * x.at + 1), w = item_at(b, 2 * y.at + 1);
        order = compare(&v, &w, depth);
        if (order) return order;
    }
    return (a->size > b->size) - (a->size < b->size);
}

static int compare(const gale_value *a, const gale_value *b, int depth) {
    if (a->type != b->type) return a->type < b->type ? -1 : 1;
    if (depth > GALE_VALUE_DEPTH) return 0;
    switch (a->type) {
    case GALE_TYPE_BOOL: return a->as.boolean - b->as.boolean;
    case GALE_TYPE_I64: return (a->as.i64 > b->as.i64) - (a->as.i64 < b->as.i64);
    case GALE_TYPE_F64: return compare_f64(a->as.f64, b->as.f64);
    case GALE_TYPE_STRING:
    case GALE_TYPE_BYTES: return gx_str_compare(gx_value_str(a), gx_value_str(b));
    case GALE_TYPE_LIST: return compare_lists(a, b, depth + 1);
    case GALE_TYPE_MAP: return compare_maps(a, b, depth + 1);
    default: return 0;
    }
}

int gale_value_compare(const gale_value *a, const gale_value *b) {
    return compare(gx_value_sound(a), gx_value_sound(b), 0);
}

bool gale_value_equal(const gale_value *a, const gale_value *b) {
    return compare(gx_value_sound(a), gx_value_sound(b), 0) == 0;
}

/* --- Values that own their memory --------------------------------------------------------------------------------- */

/* A body of one value. */
struct gale_value_owned {
    gx_mark mark;
    gale_body body;
};

gale_value_owned *gale_value_copy(const gale_value *value) {
    int64_t size = value ? gx_body_measure(value, 1) : GALE_INVALID;
    gale_value_owned *owned = size < 0 ? NULL : malloc(offsetof(gale_value_owned, body) + (size_t)size);
    if (!owned) return NULL;
    gx_body_encode(value, 1, &owned->body);
    gx_mark_begin(&owned->mark, GX_KIND_VALUE_OWNED);
    return owned;
}

gale_value gale_value_owned_view(const gale_value_owned *owned) {
    return gx_mark_is(owned, GX_KIND_VALUE_OWNED) ? gale_body_value(&owned->body, 0) : nothing;
}

void gale_value_owned_free(gale_value_owned *owned) {
    if (!gx_mark_is(owned, GX_KIND_VALUE_OWNED)) return;
    gx_mark_end(&owned->mark);
    free(owned);
}

/* --- Values as keys ----------------------------------------------------------------------------------------------- */

int gx_value_pack(const gale_value *value, gx_buf *out) {
    int64_t size = gx_body_measure(value, 1);
    if (size < 0) return (int)size;
    bool had_failed = out->failed;
    if (!gx_buf_reserve(out, (size_t)size)) {
        out->failed = had_failed;
        return GALE_NO_MEMORY;
    }
    gx_body_encode(value, 1, out->data + out->size);
    out->size += (size_t)size;
    return 0;
}

gale_value gx_value_unpack(gale_str packed) {
    return gale_body_value((const gale_body *)(const void *)packed.data, 0);
}

int gx_value_compare_packed(gale_str a, gale_str b) {
    gale_value x = gx_value_unpack(a), y = gx_value_unpack(b);
    return compare(&x, &y, 0);
}

/* --- As text --- */

size_t gale_number_write(double number, char to[GALE_NUMBER_TEXT]) {
    return to ? gx_number_write(to, number) : 0;
}

bool gale_number_read(gale_str text, double *ret_number) {
    double number;
    if (!text.data || !gx_number_read(text, &number)) return false;
    if (ret_number) *ret_number = number;
    return true;
}

bool gale_value_text(const gale_value *value, char number[GALE_NUMBER_TEXT], gale_str *ret_text) {
    size_t size = 0;
    if (!number || !ret_text) return false;
    switch (value ? value->type : GALE_TYPE_NULL) {
    case GALE_TYPE_STRING:
    case GALE_TYPE_BYTES: *ret_text = (gale_str){ value->size ? value->as.string : "", value->size }; return true;
    case GALE_TYPE_BOOL: *ret_text = value->as.boolean ? gx_str("true") : gx_str("false"); return true;
    case GALE_TYPE_I64: size = gx_number_write_whole(number, value->as.i64); break;
    case GALE_TYPE_F64: size = gx_number_write_float(number, value->as.f64); break;
    case GALE_TYPE_NULL: break;
    default: return false;
    }
    number[size] = 0;
    *ret_text = (gale_str){ number, size };
    return true;
}
