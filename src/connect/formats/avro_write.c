#include "connect/formats/avro.h"
#include "connect/formats/cursor.h"
#include "connect/formats/nearest.h"

#include <inttypes.h>
#include <string.h>

typedef struct writer {
    fmt_bytes *to;
    fmt_problem *problem;
    gale_str field; /* where it is, for words */
} writer;

static int write_value(writer *w, const av_node *node, const gale_value *value, int depth);

static int wrong_type(writer *w, const av_node *node, const gale_value *value) {
    return fmt_wrong(w->problem, "field %.*s: %s is no %.*s", FMT_STR(w->field), gale_type_name(value->type),
                     FMT_STR(node->name));
}

static void write_long(writer *w, int64_t number) {
    fmt_bytes_varint(w->to, fmt_zigzag(number));
}

/* --- Scalars ---------------------------------------------------------------------------------------------------------- */

static int write_int(writer *w, const av_node *node, const gale_value *value) {
    if (value->type != GALE_TYPE_I64) return wrong_type(w, node, value);
    int64_t number = value->as.i64;
    if (node->kind == AV_INT && (number < INT32_MIN || number > INT32_MAX))
        return fmt_wrong(w->problem, "field %.*s: %" PRId64 " is no int", FMT_STR(w->field), number);
    write_long(w, number);
    return 0;
}

static int write_real(writer *w, const av_node *node, const gale_value *value) {
    if (value->type != GALE_TYPE_F64 && value->type != GALE_TYPE_I64) return wrong_type(w, node, value);
    double wide = value->type == GALE_TYPE_F64 ? value->as.f64 : (double)value->as.i64;
    float narrow = (float)wide;
    uint64_t number;
    uint32_t half;
    memcpy(&number, &wide, sizeof number);
    memcpy(&half, &narrow, sizeof half);
    fmt_bytes_fixed(w->to, node->kind == AV_DOUBLE ? number : half, node->kind == AV_DOUBLE ? 8 : 4);
    return 0;
}

static int write_text(writer *w, const av_node *node, const gale_value *value) {
    if (value->type != GALE_TYPE_STRING && value->type != GALE_TYPE_BYTES) return wrong_type(w, node, value);
    if (node->kind == AV_STRING && value->type == GALE_TYPE_BYTES && !gale_utf8_valid(value->as.string, value->size))
        return fmt_wrong(w->problem, "field %.*s: it is no UTF-8", FMT_STR(w->field));
    if (node->kind == AV_FIXED && value->size != node->count)
        return fmt_wrong(w->problem, "field %.*s: it has %" PRIu32 " bytes, and %.*s %zu", FMT_STR(w->field),
                         value->size, FMT_STR(node->name), node->count);
    if (node->kind != AV_FIXED) write_long(w, value->size);
    fmt_bytes_add(w->to, value->as.string, value->size);
    return 0;
}

static bool find_symbol(const av_node *node, gale_str name, size_t *ret_index) {
    for (*ret_index = 0; *ret_index < node->count; ++*ret_index)
        if (fmt_same(node->symbols[*ret_index], name)) return true;
    return false;
}

static int write_symbol(writer *w, const av_node *node, const gale_value *value) {
    if (value->type != GALE_TYPE_STRING) return wrong_type(w, node, value);
    gale_str name = { value->as.string, value->size };
    fmt_nearest nearest = fmt_nearest_to(name);
    char hint[FMT_HINT];
    size_t index;
    if (find_symbol(node, name, &index)) {
        write_long(w, (int64_t)index);
        return 0;
    }
    for (size_t i = 0; i < node->count; i++) fmt_nearest_offer(&nearest, node->symbols[i]);
    return fmt_wrong(w->problem, "field %.*s: '%.*s' is none of %.*s%s", FMT_STR(w->field),
                     (int)(name.size < 60 ? name.size : 60), name.data, FMT_STR(node->name),
                     fmt_nearest_hint(&nearest, hint));
}

/* --- Records ---------------------------------------------------------------------------------------------------------- */

static bool takes_null(const av_node *node) {
    for (size_t i = 0; node->kind == AV_UNION && i < node->count; i++)
        if (node->below[i]->kind == AV_NULL) return true;
    return node->kind == AV_NULL;
}

static gale_str name_at(const void *node, size_t index) {
    return ((const av_node *)node)->fields[index].name;
}

/* What is not there, and null where that cannot be, is the default. */
static int write_field(writer *w, const av_field *field, const gale_value *map, size_t *found, int depth) {
    gale_value value = gale_null();
    bool is_there = gale_map_get(map, field->name, &value);
    *found += is_there;
    w->field = field->name;
    bool lacks = !is_there || (value.type == GALE_TYPE_NULL && !takes_null(field->node));
    if (lacks && field->has_fallback) return write_value(w, field->node, &field->fallback, depth + 1);
    if (!is_there && !takes_null(field->node))
        return fmt_wrong(w->problem, "field %.*s is not there, and has no default", FMT_STR(field->name));
    return write_value(w, field->node, &value, depth + 1);
}

static int write_record(writer *w, const av_node *node, const gale_value *map, int depth) {
    if (map->type != GALE_TYPE_MAP) return wrong_type(w, node, map);
    size_t found = 0;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < node->count; i++) rc = write_field(w, &node->fields[i], map, &found, depth);
    return rc == 0 && found < map->size ? fmt_unknown_name(w->problem, node->name, map, name_at, node, node->count)
                                        : rc;
}

/* --- Lists, maps, unions ---------------------------------------------------------------------------------------------- */

static int write_list(writer *w, const av_node *node, const gale_value *list, int depth) {
    if (list->type != GALE_TYPE_LIST) return wrong_type(w, node, list);
    if (list->size) write_long(w, list->size);
    for (uint32_t i = 0; i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        int rc = write_value(w, node->below[0], &item, depth + 1);
        if (rc < 0) return rc;
    }
    write_long(w, 0);
    return 0;
}

static int write_map(writer *w, const av_node *node, const gale_value *map, int depth) {
    gale_value value;
    gale_str key;
    if (map->type != GALE_TYPE_MAP) return wrong_type(w, node, map);
    if (map->size) write_long(w, map->size);
    for (size_t i = 0; gale_map_at(map, i, &key, &value); i++) {
        write_long(w, (int64_t)key.size);
        fmt_bytes_add(w->to, key.data, key.size);
        int rc = write_value(w, node->below[0], &value, depth + 1);
        if (rc < 0) return rc;
    }
    write_long(w, 0);
    return 0;
}

static bool is_of_record(const av_node *node, const gale_value *map) {
    size_t found = 0;
    gale_value value;
    for (size_t i = 0; i < node->count; i++) {
        bool is_there = gale_map_get(map, node->fields[i].name, &value);
        if (!is_there && !node->fields[i].has_fallback && !takes_null(node->fields[i].node)) return false;
        found += is_there;
    }
    return found == map->size;
}

/* How well a branch takes a value: 2 as what it is, 1 as something near, 0 not. */
static int fit(const av_node *node, const gale_value *value) {
    size_t index;
    bool is_int = value->type == GALE_TYPE_I64 && value->as.i64 >= INT32_MIN && value->as.i64 <= INT32_MAX;
    switch (node->kind) {
    case AV_NULL: return value->type == GALE_TYPE_NULL ? 2 : 0;
    case AV_BOOLEAN: return value->type == GALE_TYPE_BOOL ? 2 : 0;
    case AV_INT: return is_int ? 2 : 0;
    case AV_LONG: return value->type == GALE_TYPE_I64 ? 2 : 0;
    case AV_FLOAT: return value->type == GALE_TYPE_F64 || value->type == GALE_TYPE_I64 ? 1 : 0;
    case AV_DOUBLE: return value->type == GALE_TYPE_F64 ? 2 : value->type == GALE_TYPE_I64 ? 1 : 0;
    case AV_STRING: return value->type == GALE_TYPE_STRING ? 2 : 0;
    case AV_BYTES: return value->type == GALE_TYPE_BYTES ? 2 : value->type == GALE_TYPE_STRING ? 1 : 0;
    case AV_FIXED: return value->type == GALE_TYPE_BYTES && value->size == node->count ? 2 : 0;
    case AV_ENUM:
        return value->type == GALE_TYPE_STRING && find_symbol(node, (gale_str){ value->as.string, value->size }, &index)
                   ? 2
                   : 0;
    case AV_ARRAY: return value->type == GALE_TYPE_LIST ? 2 : 0;
    case AV_MAP: return value->type == GALE_TYPE_MAP ? 1 : 0;
    case AV_RECORD: return value->type == GALE_TYPE_MAP && is_of_record(node, value) ? 2 : 0;
    default: return 0;
    }
}

static int write_union(writer *w, const av_node *node, const gale_value *value, int depth) {
    size_t best = 0;
    int most = 0;
    for (size_t i = 0; i < node->count; i++) {
        int fits = fit(node->below[i], value);
        if (fits <= most) continue;
        most = fits;
        best = i;
    }
    if (!most)
        return fmt_wrong(w->problem, "field %.*s: no branch of its union takes this %s", FMT_STR(w->field),
                         gale_type_name(value->type));
    write_long(w, (int64_t)best);
    return write_value(w, node->below[best], value, depth);
}

static int write_value(writer *w, const av_node *node, const gale_value *value, int depth) {
    bool has_inside = node->kind == AV_RECORD || node->kind == AV_ARRAY || node->kind == AV_MAP;
    if (has_inside && depth > GALE_VALUE_DEPTH)
        return fmt_wrong(w->problem, "it is more than %d deep", GALE_VALUE_DEPTH);
    switch (node->kind) {
    case AV_NULL: return value->type == GALE_TYPE_NULL ? 0 : wrong_type(w, node, value);
    case AV_BOOLEAN:
        if (value->type != GALE_TYPE_BOOL) return wrong_type(w, node, value);
        fmt_bytes_fixed(w->to, value->as.boolean, 1);
        return 0;
    case AV_INT:
    case AV_LONG: return write_int(w, node, value);
    case AV_FLOAT:
    case AV_DOUBLE: return write_real(w, node, value);
    case AV_BYTES:
    case AV_STRING:
    case AV_FIXED: return write_text(w, node, value);
    case AV_ENUM: return write_symbol(w, node, value);
    case AV_RECORD: return write_record(w, node, value, depth);
    case AV_ARRAY: return write_list(w, node, value, depth);
    case AV_MAP: return write_map(w, node, value, depth);
    default: return write_union(w, node, value, depth);
    }
}

int av_write(const av_node *record, const gale_value *value, fmt_bytes *to, fmt_problem *problem) {
    writer w = { .to = to, .problem = problem, .field = { "", 0 } };
    return write_value(&w, record, value, 0);
}
