#include "connect/rabbitmq/table.h"

#include <gale/connect.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct reading {
    rmq_arena *arena;
    size_t values; /* so many were read */
} reading;

static int read_table(reading *r, const amqp_table_t *table, int depth, gale_value *ret_map);
static int read_value(reading *r, const amqp_field_value_t *field, int depth, gale_value *ret_value);

/* --- Single values ---------------------------------------------------------------------------------------------------- */

static int copy_text(reading *r, amqp_bytes_t bytes, gale_value *ret_value) {
    gale_str copy;
    if (!rmq_arena_copy(r->arena, bytes.bytes, bytes.len, &copy)) return GALE_TOO_LARGE;
    *ret_value = gale_text_or_bytes(copy.data, copy.size);
    return 0;
}

static int read_unsigned(reading *r, uint64_t number, gale_value *ret_value) {
    char digits[24];
    if (number <= INT64_MAX) {
        *ret_value = gale_i64((int64_t)number);
        return 0;
    }
    int size = snprintf(digits, sizeof digits, "%" PRIu64, number);
    return copy_text(r, (amqp_bytes_t){ .len = (size_t)size, .bytes = digits }, ret_value);
}

static gale_value read_decimal(const amqp_decimal_t *decimal) {
    double number = (double)(int32_t)decimal->value;
    for (unsigned i = 0; i < decimal->decimals; i++) number /= 10;
    return gale_f64(number);
}

/* False: it is no whole number of up to 63 bits. */
static bool whole_of(const amqp_field_value_t *field, int64_t *ret_number) {
    switch (field->kind) {
    case AMQP_FIELD_KIND_I8: *ret_number = field->value.i8; return true;
    case AMQP_FIELD_KIND_U8: *ret_number = field->value.u8; return true;
    case AMQP_FIELD_KIND_I16: *ret_number = field->value.i16; return true;
    case AMQP_FIELD_KIND_U16: *ret_number = field->value.u16; return true;
    case AMQP_FIELD_KIND_I32: *ret_number = field->value.i32; return true;
    case AMQP_FIELD_KIND_U32: *ret_number = field->value.u32; return true;
    case AMQP_FIELD_KIND_I64: *ret_number = field->value.i64; return true;
    case AMQP_FIELD_KIND_U64:
    case AMQP_FIELD_KIND_TIMESTAMP: *ret_number = (int64_t)field->value.u64; return field->value.u64 <= INT64_MAX;
    default: return false;
    }
}

static int read_scalar(reading *r, const amqp_field_value_t *field, gale_value *ret_value) {
    int64_t number;
    if (whole_of(field, &number)) {
        *ret_value = gale_i64(number);
        return 0;
    }
    switch (field->kind) {
    case AMQP_FIELD_KIND_BOOLEAN: *ret_value = gale_bool(field->value.boolean); return 0;
    case AMQP_FIELD_KIND_U64:
    case AMQP_FIELD_KIND_TIMESTAMP: return read_unsigned(r, field->value.u64, ret_value);
    case AMQP_FIELD_KIND_F32: *ret_value = gale_f64((double)field->value.f32); return 0;
    case AMQP_FIELD_KIND_F64: *ret_value = gale_f64(field->value.f64); return 0;
    case AMQP_FIELD_KIND_DECIMAL: *ret_value = read_decimal(&field->value.decimal); return 0;
    case AMQP_FIELD_KIND_UTF8:
    case AMQP_FIELD_KIND_BYTES: return copy_text(r, field->value.bytes, ret_value);
    default: *ret_value = gale_null(); return 0;
    }
}

/* --- Lists and tables ------------------------------------------------------------------------------------------------- */

static int take_values(reading *r, size_t count, gale_value **ret_list) {
    *ret_list = count <= RMQ_TABLE_VALUES ? rmq_arena_take(r->arena, count * sizeof **ret_list) : NULL;
    return *ret_list ? 0 : GALE_TOO_LARGE;
}

static int read_list(reading *r, const amqp_array_t *array, int depth, gale_value *ret_list) {
    gale_value *list;
    int rc = array->num_entries < 0 ? GALE_TOO_LARGE : take_values(r, (size_t)array->num_entries, &list);
    for (int i = 0; rc == 0 && i < array->num_entries; i++) rc = read_value(r, &array->entries[i], depth, &list[i]);
    if (rc == 0) *ret_list = gale_list(list, (size_t)array->num_entries);
    return rc;
}

static int read_value(reading *r, const amqp_field_value_t *field, int depth, gale_value *ret_value) {
    if (++r->values > RMQ_TABLE_VALUES || depth > RMQ_TABLE_DEPTH) return GALE_TOO_LARGE;
    if (field->kind == AMQP_FIELD_KIND_ARRAY) return read_list(r, &field->value.array, depth + 1, ret_value);
    if (field->kind == AMQP_FIELD_KIND_TABLE) return read_table(r, &field->value.table, depth + 1, ret_value);
    return read_scalar(r, field, ret_value);
}

/* Where a pair of that name is, or is to be. */
static size_t place_of(const gale_value *pairs, size_t count, amqp_bytes_t name) {
    size_t i = 0;
    while (i < count && (pairs[2 * i].size != name.len || memcmp(pairs[2 * i].as.string, name.bytes, name.len) != 0))
        i++;
    return i;
}

static int read_pair(reading *r, const amqp_table_entry_t *entry, int depth, gale_value *pairs, size_t *count) {
    gale_str name;
    if (!gale_utf8_valid(entry->key.bytes, entry->key.len)) return 0;
    size_t i = place_of(pairs, *count, entry->key);
    if (i == *count) {
        if (!rmq_arena_copy(r->arena, entry->key.bytes, entry->key.len, &name)) return GALE_TOO_LARGE;
        pairs[2 * i] = gale_string(name.data, name.size);
        pairs[2 * i + 1] = gale_null();
        ++*count;
    }
    return read_value(r, &entry->value, depth, &pairs[2 * i + 1]);
}

static int read_table(reading *r, const amqp_table_t *table, int depth, gale_value *ret_map) {
    gale_value *pairs;
    size_t count = 0;
    bool fits = table->num_entries >= 0 && table->num_entries <= RMQ_TABLE_VALUES / 2;
    int rc = fits ? take_values(r, 2 * (size_t)table->num_entries, &pairs) : GALE_TOO_LARGE;
    for (int i = 0; rc == 0 && i < table->num_entries; i++) rc = read_pair(r, &table->entries[i], depth, pairs, &count);
    if (rc == 0) *ret_map = gale_map(pairs, count);
    return rc;
}

int rmq_table_read(const amqp_table_t *table, rmq_arena *arena, gale_value *ret_map) {
    reading r = { .arena = arena };
    return read_table(&r, table, 0, ret_map);
}

int64_t rmq_table_number(const amqp_table_t *table, const char *name, int64_t other) {
    int64_t number;
    for (int i = 0; i < table->num_entries; i++) {
        const amqp_table_entry_t *entry = &table->entries[i];
        bool is = entry->key.len == strlen(name) && memcmp(entry->key.bytes, name, entry->key.len) == 0;
        if (is && whole_of(&entry->value, &number)) return number;
    }
    return other;
}
