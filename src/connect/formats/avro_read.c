#include "connect/formats/avro.h"
#include "connect/formats/cursor.h"

#include <inttypes.h>
#include <string.h>

typedef struct reader {
    fmt_cursor from;
    fmt_memory *memory;
    fmt_problem *problem;
    size_t empty; /* items without a byte */
} reader;

static int read_value(reader *r, const av_node *node, unsigned depth, gale_value *value);

static int damaged(reader *r, const av_node *node) {
    return fmt_wrong(r->problem, "it ends too early, or is none: %.*s", FMT_STR(node->name));
}

static int64_t read_long(reader *r) {
    return fmt_unzigzag(fmt_read_varint(&r->from));
}

/* --- Scalars ---------------------------------------------------------------------------------------------------------- */

static gale_str read_text(reader *r) {
    int64_t size = read_long(r);
    return fmt_read_bytes(&r->from, size < 0 ? UINT64_MAX : (uint64_t)size);
}

static gale_value text_of(gale_str bytes) {
    return gale_utf8_valid(bytes.data, bytes.size) ? gale_string(bytes.data, bytes.size)
                                                   : gale_bytes(bytes.data, bytes.size);
}

static gale_value real_of(uint64_t number, size_t size) {
    uint32_t half = (uint32_t)number;
    double wide;
    float narrow;
    memcpy(&wide, &number, sizeof wide);
    memcpy(&narrow, &half, sizeof narrow);
    return gale_f64(size == sizeof wide ? wide : (double)narrow);
}

static int read_int(reader *r, const av_node *node, gale_value *value) {
    int64_t number = read_long(r);
    *value = gale_i64(number);
    if (node->kind == AV_LONG || (number >= INT32_MIN && number <= INT32_MAX)) return 0;
    return fmt_wrong(r->problem, "%" PRId64 " is no int", number);
}

static int read_boolean(reader *r, gale_value *value) {
    uint64_t byte = fmt_read_fixed(&r->from, 1);
    *value = gale_bool(byte == 1);
    return byte <= 1 ? 0 : fmt_wrong(r->problem, "%" PRIu64 " is no boolean", byte);
}

static int read_symbol(reader *r, const av_node *node, gale_value *value) {
    int64_t index = read_long(r);
    if (r->from.bad) return 0; /* said by who called */
    if (index < 0 || (uint64_t)index >= node->count)
        return fmt_wrong(r->problem, "%.*s has no symbol %" PRId64, FMT_STR(node->name), index);
    *value = gale_string(node->symbols[index].data, node->symbols[index].size);
    return 0;
}

/* --- What has values inside ------------------------------------------------------------------------------------------- */

static int read_record(reader *r, const av_node *node, unsigned depth, gale_value *value) {
    gale_value *pairs = fmt_memory_take(r->memory, (2 * node->count + 1) * sizeof *pairs);
    int rc = pairs ? 0 : fmt_memory_error(r->memory);
    for (size_t i = 0; rc == 0 && i < node->count; i++) {
        pairs[2 * i] = gale_string(node->fields[i].name.data, node->fields[i].name.size);
        rc = read_value(r, node->fields[i].node, depth + 1, &pairs[2 * i + 1]);
    }
    *value = gale_map(pairs, node->count);
    return rc;
}

/* How many items come next; 0 is the end. A negative count has the size of the block behind it, for who skips. */
static uint64_t read_count(reader *r) {
    int64_t count = read_long(r);
    if (count >= 0) return (uint64_t)count;
    if (count == INT64_MIN || read_long(r) < 0) r->from.bad = true;
    return r->from.bad ? 0 : (uint64_t)-count;
}

static int read_key(reader *r, gale_value *key) {
    *key = text_of(read_text(r));
    return key->type == GALE_TYPE_STRING ? 0 : fmt_wrong(r->problem, "a key of a map is no UTF-8");
}

/* One item of a list, or a pair of a map. */
static int read_item(reader *r, const av_node *node, unsigned depth, gale_value *list) {
    size_t width = node->kind == AV_MAP ? 2 : 1, left = r->from.left;
    gale_value *items = fmt_memory_grow(r->memory, list->as.items, list->size, width * sizeof *items);
    if (!items) return fmt_memory_error(r->memory);
    list->as.items = items;
    gale_value *place = &items[width * list->size];
    int rc = width == 2 ? read_key(r, place++) : 0;
    if (rc == 0) rc = read_value(r, node->below[0], depth + 1, place);
    list->size++;
    if (rc == 0 && r->from.left == left && ++r->empty > AV_EMPTY_MAX)
        rc = fmt_wrong(r->problem, "it has more than %d items that take no bytes", AV_EMPTY_MAX);
    return rc;
}

static int read_items(reader *r, const av_node *node, unsigned depth, gale_value *value) {
    *value = node->kind == AV_MAP ? gale_map(NULL, 0) : gale_list(NULL, 0);
    for (uint64_t count = read_count(r); count; count = read_count(r)) {
        for (uint64_t i = 0; i < count; i++) {
            int rc = read_item(r, node, depth, value);
            if (rc < 0) return rc;
        }
    }
    return node->kind == AV_MAP && !r->from.bad ? fmt_map_settle(value, r->memory) : 0;
}

static int read_union(reader *r, const av_node *node, unsigned depth, gale_value *value) {
    int64_t branch = read_long(r);
    if (r->from.bad) return 0; /* said by who called */
    if (branch < 0 || (uint64_t)branch >= node->count)
        return fmt_wrong(r->problem, "a union has no branch %" PRId64, branch);
    return read_value(r, node->below[branch], depth, value);
}

static int read_by_kind(reader *r, const av_node *node, unsigned depth, gale_value *value) {
    gale_str bytes;
    switch (node->kind) {
    case AV_BOOLEAN: return read_boolean(r, value);
    case AV_INT:
    case AV_LONG: return read_int(r, node, value);
    case AV_FLOAT: *value = real_of(fmt_read_fixed(&r->from, 4), 4); return 0;
    case AV_DOUBLE: *value = real_of(fmt_read_fixed(&r->from, 8), 8); return 0;
    case AV_STRING: *value = text_of(read_text(r)); return 0;
    case AV_BYTES:
    case AV_FIXED:
        bytes = node->kind == AV_BYTES ? read_text(r) : fmt_read_bytes(&r->from, node->count);
        *value = gale_bytes(bytes.data, bytes.size);
        return 0;
    case AV_ENUM: return read_symbol(r, node, value);
    case AV_RECORD: return read_record(r, node, depth, value);
    case AV_ARRAY:
    case AV_MAP: return read_items(r, node, depth, value);
    case AV_UNION: return read_union(r, node, depth, value);
    default: return 0;
    }
}

static int read_value(reader *r, const av_node *node, unsigned depth, gale_value *value) {
    *value = gale_null();
    bool has_inside = node->kind == AV_RECORD || node->kind == AV_ARRAY || node->kind == AV_MAP;
    if (has_inside && depth > GALE_VALUE_DEPTH)
        return fmt_wrong(r->problem, "it is more than %d deep", GALE_VALUE_DEPTH);
    int rc = read_by_kind(r, node, depth, value);
    return rc == 0 && r->from.bad ? damaged(r, node) : rc;
}

int av_read(const av_node *record, gale_str bytes, fmt_memory *memory, gale_value *ret_value, fmt_problem *problem) {
    reader r = { fmt_cursor_of(bytes), memory, problem, 0 };
    int rc = read_value(&r, record, 0, ret_value);
    if (rc == 0 && r.from.left) rc = fmt_wrong(problem, "%zu bytes stand behind it", r.from.left);
    return rc;
}
