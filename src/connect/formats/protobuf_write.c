#include "connect/formats/nearest.h"
#include "connect/formats/protobuf.h"
#include "connect/formats/protobuf_wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    fmt_bytes *to;
    fmt_problem *problem;
} writer;

static const char *const type_names[PB_TYPE_COUNT] = {
    NULL,      "double",  "float", "int64",  "uint64", "int32",    "fixed64",  "fixed32", "bool",   "string",
    "a group", "message", "bytes", "uint32", "enum",   "sfixed32", "sfixed64", "sint32",  "sint64",
};

static int write_message(writer *w, const pb_message *message, const gale_value *value, int depth);

/* --- Numbers ---------------------------------------------------------------------------------------------------------- */

static int wrong_type(writer *w, const pb_field *field, const gale_value *value) {
    return fmt_wrong(w->problem, "field %.*s: %s is no %s", FMT_STR(field->name), gale_type_name(value->type),
                     type_names[field->type]);
}

/* The bounds of a whole number; of 64 bits that have no sign those of gale are taken, and negative ones stand for the upper half. */
static bool is_within(int type, int64_t number) {
    switch (type) {
    case PB_INT32:
    case PB_SINT32:
    case PB_SFIXED32:
    case PB_ENUM: return number >= INT32_MIN && number <= INT32_MAX;
    case PB_UINT32:
    case PB_FIXED32: return number >= 0 && number <= UINT32_MAX;
    default: return true;
    }
}

static int whole_of(writer *w, const pb_field *field, const gale_value *value, uint64_t *ret_number) {
    if (value->type != GALE_TYPE_I64) return wrong_type(w, field, value);
    int64_t number = value->as.i64;
    if (!is_within(field->type, number))
        return fmt_wrong(w->problem, "field %.*s: %" PRId64 " is no %s", FMT_STR(field->name), number,
                         type_names[field->type]);
    bool zigzag = field->type == PB_SINT32 || field->type == PB_SINT64;
    *ret_number = zigzag ? fmt_zigzag(number) : (uint64_t)number;
    return 0;
}

static int constant_of(writer *w, const pb_field *field, const gale_value *value, uint64_t *ret_number) {
    gale_str name = { value->as.string, value->size };
    fmt_nearest nearest = fmt_nearest_to(name);
    char hint[FMT_HINT];
    if (value->type != GALE_TYPE_STRING) return whole_of(w, field, value, ret_number);
    for (size_t i = 0; i < field->constants->count; i++) {
        const pb_constant *constant = &field->constants->constants[i];
        *ret_number = (uint64_t)(int64_t)constant->number;
        if (fmt_same(constant->name, name)) return 0;
        fmt_nearest_offer(&nearest, constant->name);
    }
    return fmt_wrong(w->problem, "field %.*s: '%.*s' is none of %.*s%s", FMT_STR(field->name),
                     (int)(name.size < 60 ? name.size : 60), name.data, FMT_STR(field->constants->name),
                     fmt_nearest_hint(&nearest, hint));
}

static int real_of(writer *w, const pb_field *field, const gale_value *value, uint64_t *ret_number) {
    if (value->type != GALE_TYPE_F64 && value->type != GALE_TYPE_I64) return wrong_type(w, field, value);
    double number = value->type == GALE_TYPE_F64 ? value->as.f64 : (double)value->as.i64;
    float narrow = (float)number;
    uint32_t half;
    memcpy(ret_number, &number, sizeof number);
    memcpy(&half, &narrow, sizeof half);
    if (field->type == PB_FLOAT) *ret_number = half;
    return 0;
}

static int number_of(writer *w, const pb_field *field, const gale_value *value, uint64_t *ret_number) {
    switch (field->type) {
    case PB_DOUBLE:
    case PB_FLOAT: return real_of(w, field, value, ret_number);
    case PB_ENUM: return constant_of(w, field, value, ret_number);
    case PB_BOOL:
        *ret_number = value->type == GALE_TYPE_BOOL && value->as.boolean;
        return value->type == GALE_TYPE_BOOL ? 0 : wrong_type(w, field, value);
    default: return whole_of(w, field, value, ret_number);
    }
}

static void write_number(writer *w, const pb_field *field, uint64_t number) {
    pb_wire wire = pb_wire_of(field->type);
    if (wire == PB_WIRE_VARINT)
        fmt_bytes_varint(w->to, number);
    else
        fmt_bytes_fixed(w->to, number, wire == PB_WIRE_64 ? 8 : 4);
}

/* --- Values ----------------------------------------------------------------------------------------------------------- */

static void write_tag(writer *w, const pb_field *field, pb_wire wire) {
    fmt_bytes_varint(w->to, (uint64_t)field->number << 3 | wire);
}

static int write_text(writer *w, const pb_field *field, const gale_value *value) {
    bool is_text = value->type == GALE_TYPE_STRING;
    if (!is_text && value->type != GALE_TYPE_BYTES) return wrong_type(w, field, value);
    if (!is_text && field->type == PB_STRING && !gale_utf8_valid(value->as.string, value->size))
        return fmt_wrong(w->problem, "field %.*s: it is no UTF-8", FMT_STR(field->name));
    write_tag(w, field, PB_WIRE_BYTES);
    fmt_bytes_varint(w->to, value->size);
    fmt_bytes_add(w->to, value->as.string, value->size);
    return 0;
}

static int write_one(writer *w, const pb_field *field, const gale_value *value, int depth) {
    if (field->type == PB_STRING || field->type == PB_BYTES) return write_text(w, field, value);
    if (field->type == PB_MESSAGE) {
        if (value->type != GALE_TYPE_MAP) return wrong_type(w, field, value);
        write_tag(w, field, PB_WIRE_BYTES);
        size_t at = w->to->size;
        int rc = write_message(w, field->message, value, depth + 1);
        if (rc == 0) fmt_bytes_prefix(w->to, at);
        return rc;
    }
    uint64_t number;
    int rc = number_of(w, field, value, &number);
    if (rc < 0) return rc;
    write_tag(w, field, pb_wire_of(field->type));
    write_number(w, field, number);
    return 0;
}

static int write_packed(writer *w, const pb_field *field, const gale_value *list) {
    write_tag(w, field, PB_WIRE_BYTES);
    size_t at = w->to->size;
    for (uint32_t i = 0; i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        uint64_t number;
        int rc = number_of(w, field, &item, &number);
        if (rc < 0) return rc;
        write_number(w, field, number);
    }
    fmt_bytes_prefix(w->to, at);
    return 0;
}

static int write_list(writer *w, const pb_field *field, const gale_value *list, int depth) {
    if (list->type != GALE_TYPE_LIST)
        return fmt_wrong(w->problem, "field %.*s: %s is no list", FMT_STR(field->name), gale_type_name(list->type));
    if (field->packed) return list->size ? write_packed(w, field, list) : 0;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        rc = write_one(w, field, &item, depth);
    }
    return rc;
}

/* --- Maps ------------------------------------------------------------------------------------------------------------- */

/* The key's text as a value of its type. */
static int key_of(writer *w, const pb_field *map, const pb_field *field, gale_str text, gale_value *ret_key) {
    char number[24], *end = number;
    bool is_unsigned = field->type == PB_UINT64 || field->type == PB_FIXED64;
    *ret_key = gale_string(text.data, text.size);
    if (field->type == PB_STRING) return 0;
    if (field->type == PB_BOOL) {
        bool is_true = fmt_same(text, (gale_str){ "true", 4 });
        *ret_key = gale_bool(is_true);
        if (is_true || fmt_same(text, (gale_str){ "false", 5 })) return 0;
    } else if (text.size && text.size < sizeof number) {
        memcpy(number, text.data, text.size);
        number[text.size] = '\0';
        errno = 0;
        *ret_key = gale_i64(is_unsigned ? (int64_t)strtoull(number, &end, 10) : strtoll(number, &end, 10));
        if (!errno && end == number + text.size) return 0;
    }
    return fmt_wrong(w->problem, "field %.*s: the key '%.*s' is no %s", FMT_STR(map->name),
                     (int)(text.size < 60 ? text.size : 60), text.data, type_names[field->type]);
}

static int write_entry(writer *w, const pb_field *field, gale_str text, const gale_value *value, int depth) {
    const pb_field *fields = field->message->fields;
    gale_value key;
    int rc = key_of(w, field, &fields[0], text, &key);
    if (rc < 0) return rc;
    write_tag(w, field, PB_WIRE_BYTES);
    size_t at = w->to->size;
    rc = write_one(w, &fields[0], &key, depth + 1);
    if (rc == 0 && value->type != GALE_TYPE_NULL) rc = write_one(w, &fields[1], value, depth + 1);
    if (rc == 0) fmt_bytes_prefix(w->to, at);
    return rc;
}

static int write_map(writer *w, const pb_field *field, const gale_value *map, int depth) {
    gale_value value;
    gale_str key;
    int rc = 0;
    if (map->type != GALE_TYPE_MAP)
        return fmt_wrong(w->problem, "field %.*s: %s is no map", FMT_STR(field->name), gale_type_name(map->type));
    for (size_t i = 0; rc == 0 && gale_map_at(map, i, &key, &value); i++)
        rc = write_entry(w, field, key, &value, depth);
    return rc;
}

/* --- Messages --------------------------------------------------------------------------------------------------------- */

static gale_str name_at(const void *message, size_t index) {
    return ((const pb_message *)message)->fields[index].name;
}

static int write_field(writer *w, const pb_field *field, const gale_value *value, int depth) {
    if (value->type == GALE_TYPE_NULL) return 0;
    if (pb_is_map(field)) return write_map(w, field, value, depth);
    if (field->repeated) return write_list(w, field, value, depth);
    /* A zero without presence is not written: who reads it has it. */
    if (!field->presence && gale_value_equal(value, &field->absent)) return 0;
    return write_one(w, field, value, depth);
}

static int write_message(writer *w, const pb_message *message, const gale_value *map, int depth) {
    size_t found = 0;
    int rc = 0;
    if (depth > GALE_VALUE_DEPTH)
        return fmt_wrong(w->problem, "%.*s: it is more than %d deep", FMT_STR(message->name), GALE_VALUE_DEPTH);
    for (size_t i = 0; rc == 0 && i < message->count; i++) {
        const pb_field *field = message->by_number[i];
        gale_value value;
        if (!gale_map_get(map, field->name, &value)) continue;
        found++;
        rc = write_field(w, field, &value, depth);
    }
    return rc == 0 && found < map->size
               ? fmt_unknown_name(w->problem, message->name, map, name_at, message, message->count)
               : rc;
}

int pb_write(const pb_message *message, const gale_value *value, fmt_bytes *to, fmt_problem *problem) {
    writer w = { to, problem };
    return write_message(&w, message, value, 0);
}
