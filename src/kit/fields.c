#include "kit/fields.h"

#include "base/nearest.h"
#include "base/str.h"
#include "tuple/value.h"

static bool add_name(gx_fields *fields, gale_str name) {
    for (uint32_t i = 0; i < fields->count; i++) {
        if (gx_str_equal(gx_fields_name(fields, i), name)) return false;
    }
    fields->names[fields->count].at = (uint16_t)(name.data - fields->text);
    fields->names[fields->count].size = (uint16_t)name.size;
    fields->count++;
    return true;
}

int gx_fields_parse(const char *text, const char *what, gx_fields *ret_fields, gale_error *error) {
    gale_str given = gx_str(text), name;
    if (!given.size) return gale_error_set(error, GALE_INVALID, "%s names no field", what);
    if (given.size >= GX_FIELDS_TEXT)
        return gale_error_set(error, GALE_INVALID, "%s has %zu bytes, at most %d", what, given.size,
                              GX_FIELDS_TEXT - 1);
    gx_fields fields = { .count = 0 };
    memcpy(fields.text, given.data, given.size);
    for (gale_str rest = { fields.text, given.size }; gx_str_next(&rest, ',', &name);) {
        if (!name.size) return gale_error_set(error, GALE_INVALID, "%s has an empty name: '%s'", what, text);
        if (fields.count == GX_FIELDS_MAX)
            return gale_error_set(error, GALE_INVALID, "%s names more than %d fields", what, GX_FIELDS_MAX);
        if (!add_name(&fields, name))
            return gale_error_set(error, GALE_INVALID, "%s names '%.*s' twice", what, GX_STR(name));
    }
    *ret_fields = fields;
    return 0;
}

int32_t gx_fields_place(const gx_fields *fields, const char *what, gale_str name, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(name);
    char hint[100];
    for (uint32_t i = 0; i < fields->count; i++) {
        if (gx_str_equal(gx_fields_name(fields, i), name)) return (int32_t)i;
        gx_nearest_offer(&nearest, gx_fields_name(fields, i));
    }
    gale_error_set(error, GALE_INVALID, "%s: there is no field '%.*s'%s", what, GX_STR(name),
                   gx_nearest_hint(&nearest, hint, sizeof hint));
    return -1;
}

static int unknown(const char *who, gale_str name, const gale_tuple *tuple, gale_collector *out) {
    gx_nearest nearest = gx_nearest_to(name);
    char hint[100];
    for (size_t i = 0; gale_tuple_field(tuple, i); i++) gx_nearest_offer(&nearest, gx_str(gale_tuple_field(tuple, i)));
    gx_define_report(out, "%s: component '%s', stream '%s', has no field '%.*s'%s", who, gale_tuple_component(tuple),
                     gale_tuple_stream(tuple), GX_STR(name), gx_nearest_hint(&nearest, hint, sizeof hint));
    return GALE_FIELDS;
}

static bool is_at(gale_str name, const gale_tuple *tuple, uint32_t place) {
    const char *field = gale_tuple_field(tuple, place);
    return field && gx_str_is(name, field);
}

static bool find(gale_str name, const gale_tuple *tuple, uint32_t *at) {
    if (is_at(name, tuple, *at)) return true;
    for (uint32_t i = 0; gale_tuple_field(tuple, i); i++) {
        if (!is_at(name, tuple, i)) continue;
        *at = i;
        return true;
    }
    return false;
}

int gx_fields_search(const gx_fields *fields, gx_field_places *places, const char *who, const gale_tuple *tuple,
                     gale_collector *out) {
    places->of = NULL;
    for (uint32_t i = 0; i < fields->count; i++)
        if (!find(gx_fields_name(fields, i), tuple, &places->at[i]))
            return unknown(who, gx_fields_name(fields, i), tuple, out);
    places->of = gx_tuple_fields(tuple);
    return GALE_OK;
}

int gx_fields_take(const gx_fields *fields, gx_field_places *places, const char *who, const gale_tuple *tuple,
                   gale_collector *out, gale_value *ret_values) {
    int rc = gx_fields_find(fields, places, who, tuple, out);
    if (GX_UNLIKELY(rc < 0)) return rc;
    for (uint32_t i = 0; i < fields->count; i++) ret_values[i] = gale_tuple_value(tuple, places->at[i]);
    return GALE_OK;
}

int gx_fields_pack(const gale_value *values, uint32_t count, gx_buf *key) {
    gale_value all = gale_list(values, count);
    return gx_value_pack(count == 1 ? values : &all, key);
}

int gx_fields_parse_one(const char *text, const char *what, gx_fields *ret_fields, gale_error *error) {
    gx_fields fields = { .count = 0 };
    int rc = text && *text ? gx_fields_parse(text, what, &fields, error) : 0;
    if (rc < 0) return rc;
    if (fields.count > 1)
        return gale_error_set(error, GALE_INVALID, "%s names %u fields, must name one: '%s'", what, fields.count, text);
    *ret_fields = fields;
    return 0;
}

int gx_fields_named_key(const gx_fields *fields, gx_field_places *places, const char *who, const gale_tuple *tuple,
                        gale_collector *out, gx_buf *scratch, gale_str *ret_key) {
    gale_value value;
    int rc = gx_fields_take(fields, places, who, tuple, out, &value);
    return rc < 0 ? rc : gx_key_of(&value, scratch, ret_key);
}
