#include "sim/wanted.h"

#include "base/json.h"
#include "tuple/json.h"
#include "tuple/value.h"

#include <math.h>

/* --- Comparing ---------------------------------------------------------------------------------------------------- */

static bool is_number(const gale_value *value) {
    return value->type == GALE_TYPE_I64 || value->type == GALE_TYPE_F64;
}

static bool is_text(const gale_value *value) {
    return value->type == GALE_TYPE_STRING || value->type == GALE_TYPE_BYTES;
}

static double number_of(const gale_value *value) {
    return value->type == GALE_TYPE_I64 ? (double)value->as.i64 : value->as.f64;
}

/* Two whole numbers are compared as such: a double has not all of them. */
static bool same_number(const gale_value *a, const gale_value *b, double within) {
    if (a->type == GALE_TYPE_I64 && b->type == GALE_TYPE_I64 && a->as.i64 == b->as.i64) return true;
    if (a->type == GALE_TYPE_I64 && b->type == GALE_TYPE_I64 && within <= 0) return false;
    double x = number_of(a), y = number_of(b);
    return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= within;
}

static bool same(const gale_value *a, const gale_value *b, double within);

static bool same_list(const gale_value *a, const gale_value *b, double within) {
    bool equal = a->size == b->size;
    for (size_t i = 0; i < a->size && equal; i++) {
        gale_value x = gale_list_at(a, i), y = gale_list_at(b, i);
        equal = same(&x, &y, within);
    }
    return equal;
}

static bool same_map(const gale_value *a, const gale_value *b, double within) {
    gale_str key;
    gale_value x, y;
    bool equal = a->size == b->size;
    for (size_t i = 0; equal && gale_map_at(a, i, &key, &x); i++)
        equal = gale_map_get(b, key, &y) && same(&x, &y, within);
    return equal;
}

/* Values are no deeper than tuples can be (GALE_VALUE_DEPTH). */
static bool same(const gale_value *a, const gale_value *b, double within) {
    if (is_number(a) && is_number(b)) return same_number(a, b, within);
    if (is_text(a) && is_text(b)) return gx_str_equal(gx_value_str(a), gx_value_str(b));
    if (a->type != b->type) return false;
    if (a->type == GALE_TYPE_LIST) return same_list(a, b, within);
    if (a->type == GALE_TYPE_MAP) return same_map(a, b, within);
    return gale_value_equal(a, b);
}

static bool list_fits(const gx_wanted *wanted, const gale_value *found) {
    bool fits = found->type == GALE_TYPE_LIST && found->size == wanted->count;
    for (uint32_t i = 0; i < wanted->count && fits; i++) {
        gale_value item = gale_list_at(found, i);
        fits = gx_wanted_fits(&wanted->items[i], &item);
    }
    return fits;
}

bool gx_wanted_fits(const gx_wanted *wanted, const gale_value *found) {
    switch (wanted->kind) {
    case GX_WANTED_ANY: return true;
    case GX_WANTED_VALUE: return same(&wanted->value, found, wanted->within);
    case GX_WANTED_TEXT: return is_text(found) && wanted->takes(wanted->user, gx_value_str(found));
    default: return list_fits(wanted, found);
    }
}

uint32_t gx_wanted_row_fits(const gx_wanted_row *wanted, const gx_found_row *found, bool *ret_whole) {
    uint32_t fits = 0;
    for (uint32_t i = 0; i < wanted->count && i < found->count; i++)
        fits += gx_wanted_fits(&wanted->fields[i], &found->values[i]);
    *ret_whole = wanted->count == found->count && fits == wanted->count;
    return fits;
}

/* --- Showing ------------------------------------------------------------------------------------------------------ */

void gx_found_show(const gale_value *value, gx_buf *out) {
    gx_json json = gx_json_to(out);
    gx_json_value(&json, value);
}

static void show_all(const gx_wanted *fields, uint32_t count, gx_buf *out) {
    gx_buf_add_byte(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i) gx_buf_add_byte(out, ',');
        gx_wanted_show(&fields[i], out);
    }
    gx_buf_add_byte(out, ']');
}

void gx_wanted_show(const gx_wanted *wanted, gx_buf *out) {
    switch (wanted->kind) {
    case GX_WANTED_ANY: gx_buf_add_text(out, "any"); return;
    case GX_WANTED_TEXT: gx_buf_add_text(out, wanted->shown); return;
    case GX_WANTED_LIST: show_all(wanted->items, wanted->count, out); return;
    default:
        gx_found_show(&wanted->value, out);
        if (wanted->within > 0 && is_number(&wanted->value)) gx_buf_format(out, " +- %g", wanted->within);
    }
}

void gx_wanted_row_show(const gx_wanted_row *row, gx_buf *out) {
    show_all(row->fields, row->count, out);
}

void gx_found_row_show(const gx_found_row *row, gx_buf *out) {
    gale_value list = gale_list(row->values, row->count);
    gx_found_show(&list, out);
}
