#include "connect/formats/protobuf_schema.h"

#include "connect/formats/protobuf_wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is built; the lists grow, and what stands in them does not move. */
typedef struct builder {
    pb_schema *schema;
    fmt_memory *memory;
    gale_error *error;
    bool proto3;
} builder;

static int no_memory(builder *b) {
    return gale_error_set(b->error, fmt_memory_error(b->memory), "schema: it takes too much memory");
}

static int damaged(builder *b, const char *what) {
    return gale_error_set(b->error, GALE_DAMAGED,
                          "schema: %s; it is what `protoc --include_imports -o FILE.pb FILE.proto` writes", what);
}

static gale_str copy_of(builder *b, gale_str text) {
    return fmt_memory_copy(b->memory, text.data, text.size);
}

/* "shop" and "Order": "shop.Order". */
static gale_str join(builder *b, gale_str scope, gale_str name) {
    size_t point = scope.size ? 1 : 0;
    char *text = fmt_memory_take(b->memory, scope.size + name.size + 2);
    if (!text) return (gale_str){ NULL, 0 };
    memcpy(text, scope.data, scope.size);
    if (point) text[scope.size] = '.';
    memcpy(text + scope.size + point, name.data, name.size);
    return (gale_str){ text, scope.size + point + name.size };
}

/* A name of protobuf: letters, digits and '_'. */
static bool is_name(gale_str name) {
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return name.size > 0;
}

/* --- Enumerations ----------------------------------------------------------------------------------------------------- */

static int read_constant(builder *b, gale_str bytes, pb_constant *constant) {
    fmt_cursor from = fmt_cursor_of(bytes);
    pb_item item;
    *constant = (pb_constant){ .number = 0 };
    while (pb_next(&from, &item)) {
        if (item.number == 1 && item.wire == PB_WIRE_BYTES) constant->name = item.bytes;
        if (item.number == 2 && item.wire == PB_WIRE_VARINT) constant->number = (int32_t)item.value;
    }
    if (from.bad || !is_name(constant->name)) return damaged(b, "a constant cannot be read");
    constant->name = copy_of(b, constant->name);
    return constant->name.data ? 0 : no_memory(b);
}

/* Stable, as most come in order. */
static void sort_constants(pb_enum *made, pb_constant *room) {
    for (size_t width = 1; width < made->count; width *= 2) {
        for (size_t at = 0; at < made->count; at += 2 * width) {
            size_t middle = at + width < made->count ? at + width : made->count;
            size_t end = at + 2 * width < made->count ? at + 2 * width : made->count;
            size_t left = at, right = middle;
            for (size_t i = at; i < end; i++) {
                bool from_left = left < middle &&
                                 (right == end || made->constants[left].number <= made->constants[right].number);
                room[i] = made->constants[from_left ? left++ : right++];
            }
        }
        memcpy(made->constants, room, made->count * sizeof *room);
    }
}

static int read_constants(builder *b, gale_str bytes, pb_enum *made) {
    fmt_cursor from = fmt_cursor_of(bytes);
    pb_item item;
    while (pb_next(&from, &item)) {
        if (item.number != 2 || item.wire != PB_WIRE_BYTES) continue;
        made->constants = fmt_memory_grow(b->memory, made->constants, made->count, sizeof *made->constants);
        if (!made->constants) return no_memory(b);
        int rc = read_constant(b, item.bytes, &made->constants[made->count]);
        if (rc < 0) return rc;
        made->count++;
    }
    return 0;
}

static int read_enum(builder *b, gale_str bytes, gale_str scope) {
    pb_schema *schema = b->schema;
    pb_item item;
    pb_enum *made = fmt_memory_take(b->memory, sizeof *made);
    schema->enums = fmt_memory_grow(b->memory, schema->enums, schema->enum_count, sizeof(void *));
    if (!made || !schema->enums) return no_memory(b);
    fmt_cursor from = fmt_cursor_of(bytes);
    while (pb_next(&from, &item))
        if (item.number == 1 && item.wire == PB_WIRE_BYTES) made->name = item.bytes;
    if (from.bad || !is_name(made->name)) return damaged(b, "an enumeration cannot be read");
    made->name = join(b, scope, made->name);
    if (!made->name.data) return no_memory(b);
    int rc = read_constants(b, bytes, made);
    if (rc < 0) return rc;
    pb_constant *room = fmt_memory_take(b->memory, made->count * sizeof *room);
    if (!room) return no_memory(b);
    sort_constants(made, room);
    schema->enums[schema->enum_count++] = made;
    return 0;
}

/* --- Fields ----------------------------------------------------------------------------------------------------------- */

enum { OPTIONAL = 1, REQUIRED = 2, REPEATED = 3 };

static bool read_flag(gale_str options, uint32_t number, bool fallback) {
    fmt_cursor from = fmt_cursor_of(options);
    pb_item item;
    while (pb_next(&from, &item))
        if (item.number == number && item.wire == PB_WIRE_VARINT) fallback = item.value != 0;
    return fallback;
}

static void take_of_field(pb_field *field, const pb_item *item, bool proto3) {
    if (item->wire == PB_WIRE_BYTES) {
        if (item->number == 1) field->name = item->bytes;
        if (item->number == 6) field->type_name = item->bytes;
        if (item->number == 7) field->fallback = item->bytes;
        if (item->number == 8) field->packed = read_flag(item->bytes, 2, proto3);
    } else if (item->wire == PB_WIRE_VARINT) {
        if (item->number == 3) field->number = item->value <= PB_NUMBER_MAX ? (uint32_t)item->value : 0;
        if (item->number == 4) field->repeated = item->value == REPEATED;
        if (item->number == 5) field->type = item->value < PB_TYPE_COUNT ? (int)item->value : 0;
        if (item->number == 9) field->presence = true; /* of a oneof */
    }
}

static int read_field(builder *b, gale_str bytes, pb_field *field) {
    fmt_cursor from = fmt_cursor_of(bytes);
    pb_item item;
    *field = (pb_field){ .packed = b->proto3, .presence = !b->proto3 };
    while (pb_next(&from, &item)) take_of_field(field, &item, b->proto3);
    if (from.bad || !is_name(field->name) || !field->number || !field->type)
        return damaged(b, "a field cannot be read");
    if (field->type == PB_MESSAGE) field->presence = true;
    field->packed = field->packed && field->repeated && pb_wire_of(field->type) != PB_WIRE_BYTES;
    field->name = copy_of(b, field->name);
    field->type_name = copy_of(b, field->type_name);
    field->fallback = copy_of(b, field->fallback);
    return field->name.data && field->type_name.data && field->fallback.data ? 0 : no_memory(b);
}

static int add_field(builder *b, pb_message *message, gale_str bytes) {
    message->fields = fmt_memory_grow(b->memory, message->fields, message->count, sizeof *message->fields);
    if (!message->fields) return no_memory(b);
    int rc = read_field(b, bytes, &message->fields[message->count]);
    if (rc == 0 && message->fields[message->count].type != PB_GROUP) message->count++;
    return rc;
}

/* --- Messages --------------------------------------------------------------------------------------------------------- */

static int read_message(builder *b, gale_str bytes, gale_str scope, int depth);

static int read_inside(builder *b, pb_message *message, gale_str bytes, int depth) {
    fmt_cursor from = fmt_cursor_of(bytes);
    pb_item item;
    int rc = 0;
    while (rc == 0 && pb_next(&from, &item)) {
        if (item.wire != PB_WIRE_BYTES) continue;
        if (item.number == 2) rc = add_field(b, message, item.bytes);
        if (item.number == 3) rc = read_message(b, item.bytes, message->name, depth + 1);
        if (item.number == 4) rc = read_enum(b, item.bytes, message->name);
        if (item.number == 7) message->is_entry = read_flag(item.bytes, 7, false);
    }
    return rc;
}

static int read_message(builder *b, gale_str bytes, gale_str scope, int depth) {
    pb_schema *schema = b->schema;
    pb_item item;
    if (depth > PB_NESTED_MAX) return damaged(b, "messages are too deep inside of each other");
    pb_message *message = fmt_memory_take(b->memory, sizeof *message);
    schema->messages = fmt_memory_grow(b->memory, schema->messages, schema->message_count, sizeof(void *));
    if (!message || !schema->messages) return no_memory(b);
    schema->messages[schema->message_count++] = message;
    fmt_cursor from = fmt_cursor_of(bytes);
    while (pb_next(&from, &item))
        if (item.number == 1 && item.wire == PB_WIRE_BYTES) message->name = item.bytes;
    if (from.bad || !is_name(message->name)) return damaged(b, "a message cannot be read");
    message->name = join(b, scope, message->name);
    return message->name.data ? read_inside(b, message, bytes, depth) : no_memory(b);
}

static int read_file(builder *b, gale_str bytes) {
    fmt_cursor from = fmt_cursor_of(bytes);
    gale_str package = { "", 0 }, syntax = { "proto2", 6 };
    pb_item item;
    while (pb_next(&from, &item)) {
        if (item.number == 2 && item.wire == PB_WIRE_BYTES) package = item.bytes;
        if (item.number == 12 && item.wire == PB_WIRE_BYTES) syntax = item.bytes;
    }
    if (from.bad) return damaged(b, "a file of it cannot be read");
    b->proto3 = fmt_same(syntax, (gale_str){ "proto3", 6 });
    if (!b->proto3 && !fmt_same(syntax, (gale_str){ "proto2", 6 }))
        return gale_error_set(b->error, GALE_UNSUPPORTED,
                              "schema: a file has the syntax '%.20s', and proto2 and proto3 are known",
                              copy_of(b, syntax).data);
    int rc = 0;
    from = fmt_cursor_of(bytes);
    while (rc == 0 && pb_next(&from, &item)) {
        if (item.wire != PB_WIRE_BYTES) continue;
        if (item.number == 4) rc = read_message(b, item.bytes, package, 0);
        if (item.number == 5) rc = read_enum(b, item.bytes, package);
    }
    return rc;
}

/* --- Names to what they name ------------------------------------------------------------------------------------------ */

static int compare(gale_str a, gale_str b) {
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* The name of a message and of an enumeration stands first in both. */
static int by_name(const void *a, const void *b) {
    return compare(**(const gale_str *const *)a, **(const gale_str *const *)b);
}

static int by_number(const void *a, const void *b) {
    uint32_t left = (*(const pb_field *const *)a)->number, right = (*(const pb_field *const *)b)->number;
    return (left > right) - (left < right);
}

static const void *find(const void *list, size_t count, gale_str name) {
    const gale_str *key = &name;
    const void *const *found = count ? bsearch(&key, list, count, sizeof(void *), by_name) : NULL;
    return found ? *found : NULL;
}

const pb_message *pb_schema_message(const pb_schema *schema, gale_str name) {
    return find(schema->messages, schema->message_count, name);
}

static gale_value zero_of(const pb_field *field) {
    switch (field->type) {
    case PB_DOUBLE:
    case PB_FLOAT: return gale_f64(0);
    case PB_BOOL: return gale_bool(false);
    case PB_STRING: return gale_string("", 0);
    case PB_BYTES: return gale_bytes("", 0);
    case PB_MESSAGE: return gale_null();
    case PB_ENUM: return pb_constant_value(field->constants, 0);
    default: return gale_i64(0);
    }
}

/* A decimal number, "inf", "-inf" or "nan". */
static gale_value float_of(const pb_field *field) {
    bool negative = field->fallback.size && *field->fallback.data == '-';
    double number;
    if (!gale_number_read(field->fallback, &number))
        number = strcmp(field->fallback.data + negative, "inf") == 0 ? (double)(negative ? -INFINITY : INFINITY) : NAN;
    return gale_f64(field->type == PB_FLOAT ? (double)(float)number : number);
}

/* What proto2 says behind `default =`; of bytes, whose escapes it keeps, nothing. */
static gale_value fallback_of(const pb_field *field) {
    const char *text = field->fallback.data;
    switch (field->type) {
    case PB_DOUBLE:
    case PB_FLOAT: return float_of(field);
    case PB_BOOL: return gale_bool(strcmp(text, "true") == 0);
    case PB_ENUM:
    case PB_STRING:
        return gale_utf8_valid(text, field->fallback.size) ? gale_string(text, field->fallback.size) : gale_null();
    case PB_BYTES: return gale_null();
    case PB_UINT64:
    case PB_FIXED64: return gale_i64((int64_t)strtoull(text, NULL, 10));
    default: return gale_i64(strtoll(text, NULL, 10));
    }
}

static gale_value absent_of(const pb_field *field) {
    if (pb_is_map(field)) return gale_map(NULL, 0);
    if (field->repeated) return gale_list(NULL, 0);
    if (field->fallback.size && field->type != PB_MESSAGE) return fallback_of(field);
    return field->presence ? gale_null() : zero_of(field);
}

static int no_type(builder *b, const pb_message *message, const pb_field *field) {
    return gale_error_set(
        b->error, GALE_DAMAGED,
        "schema: the type %.100s of %.100s.%.100s is not in it: was it made without --include_imports?",
        field->type_name.data, message->name.data, field->name.data);
}

static int link_field(builder *b, const pb_message *message, pb_field *field) {
    gale_str name = field->type_name;
    if (name.size && name.data[0] == '.') name = (gale_str){ name.data + 1, name.size - 1 };
    if (field->type == PB_MESSAGE) field->message = pb_schema_message(b->schema, name);
    if (field->type == PB_ENUM) field->constants = find(b->schema->enums, b->schema->enum_count, name);
    if ((field->type == PB_MESSAGE && !field->message) || (field->type == PB_ENUM && !field->constants))
        return no_type(b, message, field);
    return 0;
}

/* Keys are texts in gale, and a map's entry is key and value. */
static bool is_right_entry(const pb_message *message) {
    if (!message->is_entry) return true;
    if (message->count != 2 || message->fields[0].number != 1 || message->fields[1].number != 2) return false;
    int key = message->fields[0].type;
    return !message->fields[0].repeated && !message->fields[1].repeated && key != PB_MESSAGE && key != PB_ENUM &&
           key != PB_BYTES && key != PB_DOUBLE && key != PB_FLOAT;
}

static int sort_fields(builder *b, pb_message *message) {
    message->by_number = fmt_memory_take(b->memory, (message->count + 1) * sizeof(void *));
    if (!message->by_number) return no_memory(b);
    for (size_t i = 0; i < message->count; i++) message->by_number[i] = &message->fields[i];
    if (message->count) qsort(message->by_number, message->count, sizeof(void *), by_name);
    for (size_t i = 1; i < message->count; i++)
        if (fmt_same(message->by_number[i - 1]->name, message->by_number[i]->name))
            return damaged(b, "a message has two fields of one name");
    if (message->count) qsort(message->by_number, message->count, sizeof(void *), by_number);
    for (size_t i = 1; i < message->count; i++)
        if (message->by_number[i - 1]->number == message->by_number[i]->number)
            return damaged(b, "a message has two fields of one number");
    return is_right_entry(message) ? 0 : damaged(b, "a map's entry is none");
}

static int link_all(builder *b) {
    pb_schema *schema = b->schema;
    int rc = 0;
    if (schema->message_count) qsort(schema->messages, schema->message_count, sizeof(void *), by_name);
    if (schema->enum_count) qsort(schema->enums, schema->enum_count, sizeof(void *), by_name);
    for (size_t i = 0; rc == 0 && i < schema->message_count; i++) {
        pb_message *message = (pb_message *)(uintptr_t)schema->messages[i];
        for (size_t j = 0; rc == 0 && j < message->count; j++) rc = link_field(b, message, &message->fields[j]);
        if (rc == 0) rc = sort_fields(b, message);
    }
    /* What is a map is known of all messages from here on. */
    for (size_t i = 0; rc == 0 && i < schema->message_count; i++) {
        pb_field *fields = schema->messages[i]->fields;
        for (size_t j = 0; j < schema->messages[i]->count; j++) {
            /* Keys and values of maps are zero in proto2, too. */
            if (schema->messages[i]->is_entry) fields[j].presence = fields[j].type == PB_MESSAGE;
            fields[j].absent = absent_of(&fields[j]);
        }
    }
    return rc;
}

/* --- All of it -------------------------------------------------------------------------------------------------------- */

int pb_schema_read(pb_schema *schema, gale_str bytes, gale_error *error) {
    builder b = { .schema = schema, .memory = &schema->memory, .error = error };
    fmt_cursor from = fmt_cursor_of(bytes);
    pb_item item;
    int rc = 0;
    while (rc == 0 && pb_next(&from, &item))
        rc = item.number == 1 && item.wire == PB_WIRE_BYTES ? read_file(&b, item.bytes) : 0;
    if (rc == 0 && (from.bad || !bytes.size)) rc = damaged(&b, "it is no FileDescriptorSet");
    return rc < 0 ? rc : link_all(&b);
}

const pb_field *pb_message_field(const pb_message *message, uint32_t number) {
    if (number && number <= message->count && message->by_number[number - 1]->number == number)
        return message->by_number[number - 1];
    pb_field wanted = { .number = number };
    const pb_field *key = &wanted;
    const pb_field *const *found = message->count
                                       ? bsearch(&key, message->by_number, message->count, sizeof(void *), by_number)
                                       : NULL;
    return found ? *found : NULL;
}

const pb_constant *pb_enum_constant(const pb_enum *constants, int32_t number) {
    size_t low = 0, high = constants->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (constants->constants[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < constants->count && constants->constants[low].number == number ? &constants->constants[low] : NULL;
}
