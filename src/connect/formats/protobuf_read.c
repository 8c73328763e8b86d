/* A message's items come in any order, and again: fields of one value take the last one, messages are merged, repeated ones are collected. So a message is an array of
 * pairs, name and value, one a field, which is filled while it is read; maps are put in order at the end, once. */
#include "connect/formats/protobuf.h"
#include "connect/formats/protobuf_wire.h"

#include <string.h>

typedef struct reader {
    fmt_memory *memory;
    fmt_problem *problem;
} reader;

static int read_message(reader *r, const pb_message *message, gale_str bytes, gale_value *pairs, unsigned depth);

static int damaged(reader *r, const pb_message *message) {
    return fmt_wrong(r->problem, "%.*s ends too early, or is none", FMT_STR(message->name));
}

static int too_deep(reader *r, const pb_message *message) {
    return fmt_wrong(r->problem, "%.*s: it is more than %d deep", FMT_STR(message->name), GALE_VALUE_DEPTH);
}

/* --- Values ----------------------------------------------------------------------------------------------------------- */

static gale_value *new_pairs(reader *r, const pb_message *message) {
    gale_value *pairs = fmt_memory_take(r->memory, (2 * message->count + 1) * sizeof *pairs);
    for (size_t i = 0; pairs && i < message->count; i++) {
        pairs[2 * i] = gale_string(message->fields[i].name.data, message->fields[i].name.size);
        pairs[2 * i + 1] = message->fields[i].absent;
    }
    return pairs;
}

/* Into what the field has already, or into a new one. */
static int read_below(reader *r, const pb_field *field, gale_str bytes, gale_value *value, unsigned depth) {
    gale_value *pairs = value->type == GALE_TYPE_MAP ? (gale_value *)(uintptr_t)value->as.items : NULL;
    if (!pairs) pairs = new_pairs(r, field->message);
    if (!pairs) return fmt_memory_error(r->memory);
    *value = gale_map(pairs, field->message->count);
    return read_message(r, field->message, bytes, pairs, depth);
}

/* Text that is no UTF-8 is bytes. */
static gale_value text_of(const pb_field *field, gale_str bytes) {
    bool is_text = field->type == PB_STRING && gale_utf8_valid(bytes.data, bytes.size);
    return is_text ? gale_string(bytes.data, bytes.size) : gale_bytes(bytes.data, bytes.size);
}

static int read_one(reader *r, const pb_field *field, const pb_item *item, gale_value *value, unsigned depth) {
    if (field->type == PB_MESSAGE) return read_below(r, field, item->bytes, value, depth);
    *value = item->wire == PB_WIRE_BYTES ? text_of(field, item->bytes) : pb_number_value(field, item->value);
    return 0;
}

/* --- Lists ------------------------------------------------------------------------------------------------------------ */

/* The place of one more, `width` values; null. NULL: no memory. */
static gale_value *append(reader *r, gale_value *list, size_t width) {
    gale_value *items = fmt_memory_grow(r->memory, list->as.items, list->size, width * sizeof *items);
    if (!items) return NULL;
    list->as.items = items;
    for (size_t i = 0; i < width; i++) items[width * list->size + i] = gale_null();
    return &items[width * list->size++];
}

static int read_packed(reader *r, const pb_message *message, const pb_field *field, gale_str bytes, gale_value *list) {
    fmt_cursor from = fmt_cursor_of(bytes);
    pb_wire wire = pb_wire_of(field->type);
    while (from.left) {
        uint64_t number = wire == PB_WIRE_VARINT ? fmt_read_varint(&from)
                                                 : fmt_read_fixed(&from, wire == PB_WIRE_64 ? 8 : 4);
        if (from.bad) return damaged(r, message);
        gale_value *place = append(r, list, 1);
        if (!place) return fmt_memory_error(r->memory);
        *place = pb_number_value(field, number);
    }
    return 0;
}

/* --- Maps ------------------------------------------------------------------------------------------------------------- */

/* Keys of gale are texts. */
static int key_of(reader *r, const pb_field *field, gale_value *key) {
    char text[24], *at = text + sizeof text;
    if (key->type == GALE_TYPE_STRING) return 0;
    if (key->type == GALE_TYPE_BYTES) return fmt_wrong(r->problem, "a key of a map is no UTF-8");
    if (key->type == GALE_TYPE_BOOL) {
        *key = gale_text(key->as.boolean ? "true" : "false");
        return 0;
    }
    bool is_unsigned = field->type == PB_UINT64 || field->type == PB_FIXED64;
    bool negative = !is_unsigned && key->as.i64 < 0;
    uint64_t number = negative ? 0 - (uint64_t)key->as.i64 : (uint64_t)key->as.i64;
    do *--at = (char)('0' + number % 10);
    while (number /= 10);
    if (negative) *--at = '-';
    gale_str copy = fmt_memory_copy(r->memory, at, (size_t)(text + sizeof text - at));
    *key = gale_string(copy.data, copy.size);
    return copy.data ? 0 : fmt_memory_error(r->memory);
}

static int read_entry(reader *r, const pb_field *field, gale_str bytes, gale_value *map, unsigned depth) {
    const pb_field *fields = field->message->fields;
    gale_value key = gale_string("", 0), *pair = append(r, map, 2);
    if (!pair) return fmt_memory_error(r->memory);
    key = fields[0].absent.type == GALE_TYPE_NULL ? key : fields[0].absent;
    pair[1] = fields[1].absent;
    fmt_cursor from = fmt_cursor_of(bytes);
    pb_item item;
    int rc = 0;
    while (rc == 0 && pb_next(&from, &item)) {
        const pb_field *part = item.number == 1 || item.number == 2 ? &fields[item.number - 1] : NULL;
        if (!part || item.wire != pb_wire_of(part->type)) continue;
        rc = read_one(r, part, &item, item.number == 1 ? &key : &pair[1], depth + 1);
    }
    if (rc == 0 && from.bad) rc = damaged(r, field->message);
    if (rc == 0 && fields[1].type == PB_MESSAGE && pair[1].type == GALE_TYPE_NULL)
        rc = read_below(r, &fields[1], (gale_str){ "", 0 }, &pair[1], depth + 1);
    if (rc == 0) rc = key_of(r, &fields[0], &key);
    pair[0] = key;
    return rc;
}

/* --- Messages --------------------------------------------------------------------------------------------------------- */

static int read_repeated(reader *r, const pb_message *message, const pb_field *field, const pb_item *item,
                         gale_value *list, unsigned depth) {
    if (depth > GALE_VALUE_DEPTH) return too_deep(r, message);
    if (pb_is_map(field)) return item->wire == PB_WIRE_BYTES ? read_entry(r, field, item->bytes, list, depth) : 0;
    pb_wire wire = pb_wire_of(field->type);
    if (item->wire != wire) return item->wire == PB_WIRE_BYTES ? read_packed(r, message, field, item->bytes, list) : 0;
    gale_value *place = append(r, list, 1);
    return place ? read_one(r, field, item, place, depth + 1) : fmt_memory_error(r->memory);
}

/* What has another form on the wire than its type is skipped, as unknown numbers are. */
static int read_message(reader *r, const pb_message *message, gale_str bytes, gale_value *pairs, unsigned depth) {
    fmt_cursor from = fmt_cursor_of(bytes);
    pb_item item;
    if (depth > GALE_VALUE_DEPTH) return too_deep(r, message);
    while (pb_next(&from, &item)) {
        const pb_field *field = pb_message_field(message, item.number);
        if (!field) continue;
        gale_value *value = &pairs[2 * (field - message->fields) + 1];
        int rc = 0;
        if (field->repeated)
            rc = read_repeated(r, message, field, &item, value, depth + 1);
        else if (item.wire == pb_wire_of(field->type))
            rc = read_one(r, field, &item, value, depth + 1);
        if (rc < 0) return rc;
    }
    return from.bad ? damaged(r, message) : 0;
}

/* --- Maps in order ---------------------------------------------------------------------------------------------------- */

static int settle(reader *r, const pb_message *message, gale_value *pairs);

static int settle_value(reader *r, const pb_field *field, gale_value *value) {
    if (!field->message || value->type != GALE_TYPE_MAP) return 0;
    return settle(r, field->message, (gale_value *)(uintptr_t)value->as.items);
}

static int settle_repeated(reader *r, const pb_field *field, gale_value *value) {
    bool is_map = pb_is_map(field);
    size_t width = is_map ? 2 : 1;
    const pb_field *of = is_map ? &field->message->fields[1] : field;
    gale_value *items = (gale_value *)(uintptr_t)value->as.items;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && of->message && i < value->size; i++)
        rc = settle_value(r, of, &items[width * i + width - 1]);
    return rc == 0 && is_map ? fmt_map_settle(value, r->memory) : rc;
}

static int settle(reader *r, const pb_message *message, gale_value *pairs) {
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < message->count; i++) {
        const pb_field *field = &message->fields[i];
        gale_value *value = &pairs[2 * i + 1];
        if (field->message) rc = field->repeated ? settle_repeated(r, field, value) : settle_value(r, field, value);
    }
    return rc;
}

int pb_read(const pb_message *message, gale_str bytes, fmt_memory *memory, gale_value *ret_value,
            fmt_problem *problem) {
    reader r = { memory, problem };
    gale_value *pairs = new_pairs(&r, message);
    if (!pairs) return fmt_memory_error(memory);
    int rc = read_message(&r, message, bytes, pairs, 0);
    if (rc == 0) rc = settle(&r, message, pairs);
    if (rc == 0) *ret_value = gale_map(pairs, message->count);
    return rc;
}
