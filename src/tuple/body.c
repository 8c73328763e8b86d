#include "tuple/body.h"

#include "base/bits.h"
#include "base/utf8.h"
#include "tuple/flat.h"

/* Strings come before lists and maps in the variable part, so that the size of a body does not depend on the order of
 * its values: a map can be measured before it is sorted. */

/* Above this many entries insertion sort loses to heap sort. */
enum { INSERTION_MAX = 16 };

/* Keys are looked at so many at a time when a map is checked for a key that comes twice. */
enum { WINDOW = 512 };

/* --- Bodies that exist -------------------------------------------------------------------------------------------- */

size_t gx_body_size(const gale_body *body) {
    const uint8_t *tags = (const uint8_t *)body + 4;
    const uint8_t *slots = gale_body_slots(body);
    size_t count = gale_body_count(body), text_end = 0;
    for (size_t i = count; i-- > 0;) {
        if (tags[i] < GALE_TYPE_STRING) continue;
        size_t end = (size_t)gx_load32(slots + 8 * i) + gx_load32(slots + 8 * i + 4);
        if (!gx_flat_is_text(tags[i])) return end; /* lists and maps lie behind all text */
        if (!text_end) text_end = end + 1;
    }
    return text_end ? gx_align_up(text_end, 8) : gx_flat_head(count);
}

/* An encoded list or map is `depth` deep where it stands; is what it holds still allowed there? */
static bool depth_allowed(const gale_body *body, int depth) {
    if (depth > GALE_VALUE_DEPTH) return false;
    const uint8_t *tags = (const uint8_t *)body + 4;
    size_t count = gale_body_count(body);
    for (size_t i = 0; i < count; i++) {
        if (tags[i] < GALE_TYPE_LIST) continue;
        gale_value inner = gale_body_value(body, i);
        if (!depth_allowed(inner.as.body, depth + 1)) return false;
    }
    return true;
}

/* --- The order of a map's keys ------------------------------------------------------------------------------------ */

static gale_str key_at(const gale_value *pairs, uint32_t entry) {
    const gale_value *key = &pairs[2 * (size_t)entry];
    return (gale_str){ key->as.string, key->size };
}

static bool key_above(const gale_value *pairs, uint32_t a, uint32_t b) {
    return gx_str_compare(key_at(pairs, a), key_at(pairs, b)) > 0;
}

/* An array of entry numbers that need not be aligned: it may lie in a body that is being written. */
static uint32_t order_get(const uint8_t *order, size_t i) {
    return gx_load32(order + 4 * i);
}

static void order_put(uint8_t *order, size_t i, uint32_t entry) {
    gx_store32(order + 4 * i, entry);
}

/* Lets the entry at the root of a heap (the highest key on top) sink to its place. */
static void sift_down(const gale_value *pairs, uint8_t *order, size_t root, size_t count) {
    uint32_t sinking = order_get(order, root);
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= count) break;
        if (child + 1 < count && key_above(pairs, order_get(order, child + 1), order_get(order, child))) child++;
        if (!key_above(pairs, order_get(order, child), sinking)) break;
        order_put(order, root, order_get(order, child));
        root = child;
    }
    order_put(order, root, sinking);
}

static void heap_make(const gale_value *pairs, uint8_t *order, size_t count) {
    for (size_t i = count / 2; i-- > 0;) sift_down(pairs, order, i, count);
}

static void heap_sort(const gale_value *pairs, uint8_t *order, size_t count) {
    heap_make(pairs, order, count);
    for (size_t last = count; last-- > 1;) {
        uint32_t highest = order_get(order, 0);
        order_put(order, 0, order_get(order, last));
        order_put(order, last, highest);
        sift_down(pairs, order, 0, last);
    }
}

static void insertion_sort(const gale_value *pairs, uint8_t *order, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint32_t entry = order_get(order, i);
        size_t at = i;
        for (; at > 0 && key_above(pairs, order_get(order, at - 1), entry); at--)
            order_put(order, at, order_get(order, at - 1));
        order_put(order, at, entry);
    }
}

static void sort_entries(const gale_value *pairs, uint8_t *order, size_t count) {
    if (count <= INSERTION_MAX)
        insertion_sort(pairs, order, count);
    else
        heap_sort(pairs, order, count);
}

static bool keys_ascend(const gale_value *pairs, size_t entries) {
    for (size_t i = 1; i < entries; i++)
        if (gx_str_compare(key_at(pairs, (uint32_t)i - 1), key_at(pairs, (uint32_t)i)) >= 0) return false;
    return true;
}

/* Gathers the WINDOW lowest keys above `*above` (all keys when its data is NULL) and sorts them. Returns how many there
 * are, or -1 when a key has met its equal. Keys that are equal meet here: both are in the window, or both are not. */
static int gather_window(const gale_value *pairs, size_t entries, const gale_str *above, uint8_t *window) {
    size_t count = 0;
    for (size_t i = 0; i < entries; i++) {
        gale_str key = key_at(pairs, (uint32_t)i);
        if (above && gx_str_compare(key, *above) <= 0) continue;
        if (count < WINDOW) {
            order_put(window, count++, (uint32_t)i);
            if (count == WINDOW) heap_make(pairs, window, count);
            continue;
        }
        int order = gx_str_compare(key, key_at(pairs, order_get(window, 0)));
        if (order == 0) return -1;
        if (order > 0) continue;
        order_put(window, 0, (uint32_t)i);
        sift_down(pairs, window, 0, count);
    }
    sort_entries(pairs, window, count);
    for (size_t i = 1; i < count; i++)
        if (!key_above(pairs, order_get(window, i), order_get(window, i - 1))) return -1;
    return (int)count;
}

/* Not inlined: its window must not stand on the stack of each level of a nested map. A map that comes sorted, as most
 * do, needs one look at each key; another one of n entries costs n / WINDOW passes, and no memory. */
__attribute__((noinline)) static bool keys_differ(const gale_value *pairs, size_t entries) {
    if (keys_ascend(pairs, entries)) return true;
    uint8_t window[4 * WINDOW];
    gale_str highest = { NULL, 0 };
    for (size_t seen = 0; seen < entries;) {
        int count = gather_window(pairs, entries, seen ? &highest : NULL, window);
        if (count <= 0) return false;
        highest = key_at(pairs, order_get(window, (size_t)count - 1));
        seen += (size_t)count;
    }
    return true;
}

/* --- Measuring ---------------------------------------------------------------------------------------------------- */

static int64_t measure(const gale_value *values, size_t count, int depth);

static bool keys_valid(const gale_value *pairs, size_t entries) {
    for (size_t i = 0; i < entries; i++) {
        const gale_value *key = &pairs[2 * i];
        if (key->type != GALE_TYPE_STRING || (!key->as.string && key->size)) return false;
    }
    return keys_differ(pairs, entries);
}

static __attribute__((noinline)) int64_t measure_nested(const gale_value *value, int depth) {
    if (value->type >= GALE_TYPE_COUNT || depth > GALE_VALUE_DEPTH) return GALE_INVALID;
    if (!value->as.items && (value->size || value->encoded)) return GALE_INVALID;
    if (value->encoded)
        return depth_allowed(value->as.body, depth) ? (int64_t)gx_body_size(value->as.body) : GALE_INVALID;
    if (value->type == GALE_TYPE_LIST) return measure(value->as.items, value->size, depth);
    if (value->size > GX_BODY_MAX / 18) return GALE_TOO_LARGE;
    if (!keys_valid(value->as.items, value->size)) return GALE_INVALID;
    return measure(value->as.items, 2 * (size_t)value->size, depth);
}

static int64_t measure(const gale_value *values, size_t count, int depth) {
    if (count > GX_BODY_MAX / 9) return GALE_TOO_LARGE;
    size_t text = 0, nested = 0;
    for (size_t i = 0; i < count; i++) {
        const gale_value *v = &values[i];
        if (v->type < GALE_TYPE_STRING) continue;
        if (gx_flat_is_text(v->type)) {
            if (GX_UNLIKELY(!v->as.string && v->size)) return GALE_INVALID;
            text += (size_t)v->size + 1;
            continue;
        }
        int64_t size = measure_nested(v, depth + 1);
        if (size < 0) return size;
        nested += (size_t)size;
    }
    size_t size = gx_align_up(gx_flat_head(count) + text, 8) + nested;
    return size <= GX_BODY_MAX ? (int64_t)size : GALE_TOO_LARGE;
}

int64_t gx_body_measure(const gale_value *values, size_t count) {
    return measure(values, count, 0);
}

/* --- Encoding ----------------------------------------------------------------------------------------------------- */

static size_t encode(const gale_value *values, size_t count, uint8_t *at, bool is_map);

static size_t encode_nested(const gale_value *value, uint8_t *at) {
    if (value->encoded) {
        size_t size = gx_body_size(value->as.body);
        memcpy(at, value->as.body, size);
        return size;
    }
    if (value->type == GALE_TYPE_LIST) return encode(value->as.items, value->size, at, false);
    return encode(value->as.items, 2 * (size_t)value->size, at, true);
}

/* Where text and lists go next, from the body's first byte. */
typedef struct cursor {
    uint8_t *body;
    size_t text;
    size_t nested;
} cursor;

static void put_text(cursor *to, uint8_t *slot, const gale_value *value) {
    gx_store32(slot, (uint32_t)to->text);
    gx_store32(slot + 4, value->size);
    uint8_t *at = to->body + to->text;
    if (value->size) memcpy(at, value->as.bytes, value->size);
    at[value->size] = 0;
    to->text += (size_t)value->size + 1;
}

static void put_nested(cursor *to, uint8_t *slot, const gale_value *value) {
    size_t size = encode_nested(value, to->body + to->nested);
    gx_store32(slot, (uint32_t)to->nested);
    gx_store32(slot + 4, (uint32_t)size);
    to->nested += size;
}

static void put_value(cursor *to, uint8_t *slot, const gale_value *value) {
    if (value->type < GALE_TYPE_STRING)
        gx_store64(slot, gx_flat_scalar(value));
    else if (gx_flat_is_text(value->type))
        put_text(to, slot, value);
    else
        put_nested(to, slot, value);
}

/* The order of a map's entries waits in the last quarter of the slots that it leads to: writing the slots of entry i
 * ends at byte 16 (i + 1) of 16 n, and the number of entry i + 1 stands at 12 n + 4 (i + 1) or behind, which is never
 * before that while an entry is left. */
static uint8_t *map_order(const gale_value *pairs, size_t entries, uint8_t *slots) {
    uint8_t *order = slots + 12 * entries;
    for (size_t i = 0; i < entries; i++) order_put(order, i, (uint32_t)i);
    sort_entries(pairs, order, entries);
    return order;
}

static void put_entries(cursor *to, uint8_t *slots, const gale_value *pairs, size_t entries) {
    uint8_t *tags = to->body + 4;
    uint8_t *order = map_order(pairs, entries, slots);
    for (size_t i = 0; i < entries; i++) {
        const gale_value *pair = &pairs[2 * (size_t)order_get(order, i)];
        tags[2 * i] = pair[0].type;
        tags[2 * i + 1] = pair[1].type;
        put_value(to, slots + 16 * i, &pair[0]);
        put_value(to, slots + 16 * i + 8, &pair[1]);
    }
}

/* Bytes of text, with the NULs. */
static size_t text_in(const gale_value *values, size_t count) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        if (gx_flat_is_text(values[i].type)) bytes += (size_t)values[i].size + 1;
    return bytes;
}

static void put_list(cursor *to, uint8_t *slots, const gale_value *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        to->body[4 + i] = values[i].type;
        put_value(to, slots + 8 * i, &values[i]);
    }
}

static size_t encode(const gale_value *values, size_t count, uint8_t *at, bool is_map) {
    uint8_t *slots = at + gx_align_up(4 + count, 8);
    size_t text = gx_flat_head(count), nested = gx_align_up(text + text_in(values, count), 8);
    cursor to = { at, text, nested };
    gx_store64(slots - 8, 0); /* padding behind the tags */
    gx_store32(at, (uint32_t)count);
    if (to.nested > to.text) gx_store64(at + to.nested - 8, 0); /* padding behind the text */
    if (is_map)
        put_entries(&to, slots, values, count / 2);
    else
        put_list(&to, slots, values, count);
    return to.nested;
}

void gx_body_encode(const gale_value *values, size_t count, void *at) {
    encode(values, count, at, false);
}

/* --- Validation --------------------------------------------------------------------------------------------------- */

static bool all_zero(const uint8_t *at, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (at[i]) return false;
    return true;
}

static bool scalar_valid(uint8_t type, uint64_t slot) {
    if (type == GALE_TYPE_NULL) return slot == 0;
    if (type == GALE_TYPE_BOOL) return slot <= 1;
    if (type == GALE_TYPE_I64) return true;
    gale_value number = { .type = GALE_TYPE_F64 };
    memcpy(&number.as.f64, &slot, sizeof slot);
    return gx_flat_scalar(&number) == slot;
}

/* Text must begin where the last one ended and end inside `size` bytes. */
static bool text_valid(const uint8_t *at, size_t size, const uint8_t *slot, bool utf8, size_t *end) {
    size_t offset = gx_load32(slot), length = gx_load32(slot + 4);
    if (offset != *end || offset >= size || length >= size - offset || at[offset + length] != 0) return false;
    *end = offset + length + 1;
    return !utf8 || gx_utf8_valid((const char *)at + offset, length);
}

static bool map_valid(const gale_body *body, size_t count) {
    if (count % 2) return false;
    gale_str last = { NULL, 0 };
    for (size_t i = 0; i < count; i += 2) {
        /* What a key of another type points to is not checked yet. */
        if (((const uint8_t *)body)[4 + i] != GALE_TYPE_STRING) return false;
        gale_value key = gale_body_value(body, i);
        gale_str now = { key.as.string, key.size };
        if (i && gx_str_compare(last, now) >= 0) return false;
        last = now;
    }
    return true;
}

/* `strict`: strings are UTF-8. */
static bool valid(const uint8_t *at, size_t size, int depth, bool is_map, bool strict);

static bool nested_valid(const uint8_t *at, size_t size, const uint8_t *slot, uint8_t type, int depth, bool strict,
                         size_t *end) {
    size_t offset = gx_load32(slot), length = gx_load32(slot + 4);
    if (offset != *end || offset > size || length > size - offset) return false;
    *end = offset + length;
    return valid(at + offset, length, depth + 1, type == GALE_TYPE_MAP, strict);
}

static bool flat_valid(const uint8_t *at, size_t size, size_t count, bool strict, size_t *end) {
    const uint8_t *slots = gale_body_slots((const gale_body *)at);
    for (size_t i = 0; i < count; i++) {
        uint8_t type = at[4 + i];
        const uint8_t *slot = slots + 8 * i;
        if (type >= GALE_TYPE_COUNT) return false;
        if (type < GALE_TYPE_STRING && !scalar_valid(type, gx_load64(slot))) return false;
        if (gx_flat_is_text(type) && !text_valid(at, size, slot, strict && type == GALE_TYPE_STRING, end)) return false;
    }
    size_t padded = gx_align_up(*end, 8);
    if (padded > size || !all_zero(at + *end, padded - *end)) return false;
    *end = padded;
    return true;
}

static bool valid(const uint8_t *at, size_t size, int depth, bool is_map, bool strict) {
    if (depth > GALE_VALUE_DEPTH || size < 8 || size > GX_BODY_MAX) return false;
    size_t count = gx_load32(at);
    if (gx_flat_head(count) > size) return false;
    const uint8_t *slots = at + gx_align_up(4 + count, 8);
    if (!all_zero(at + 4 + count, (size_t)(slots - at) - 4 - count)) return false;
    size_t end = gx_flat_head(count);
    if (!flat_valid(at, size, count, strict, &end)) return false;
    if (is_map && !map_valid((const gale_body *)at, count)) return false;
    for (size_t i = 0; i < count; i++) {
        uint8_t type = at[4 + i];
        if (type >= GALE_TYPE_LIST && !nested_valid(at, size, slots + 8 * i, type, depth, strict, &end)) return false;
    }
    return end == size;
}

bool gx_body_valid(const void *bytes, size_t size) {
    return valid(bytes, size, 0, false, true);
}

bool gx_body_fits(const void *bytes, size_t size) {
    return valid(bytes, size, 0, false, false);
}
