#include "kit/scalar.h"

#include "base/number.h"
#include "base/utf8.h"

#include <math.h>

static const char *const names[GX_SCALAR_COUNT] = {
    [GX_SCALAR_STRING] = "string", [GX_SCALAR_INT] = "int",   [GX_SCALAR_FLOAT] = "float",
    [GX_SCALAR_BOOL] = "bool",     [GX_SCALAR_AUTO] = "auto",
};

const char *gx_scalar_name(int32_t type) {
    return names[type];
}

int32_t gx_scalar_type_of(gale_str name) {
    int32_t type = 0;
    while (type < GX_SCALAR_COUNT && !gx_str_is(name, names[type])) type++;
    return type;
}

gale_value gx_scalar_text(gale_str text, bool is_text) {
    if (!text.data) return gale_null();
    if (is_text || gx_utf8_valid(text.data, text.size)) return gale_string(text.data, text.size);
    return gale_bytes(text.data, text.size);
}

static bool read_whole(gale_str text, gale_value *ret_value) {
    int64_t number;
    if (!gx_number_whole(text, &number)) return false;
    *ret_value = gale_i64(number);
    return true;
}

static bool read_float(gale_str text, gale_value *ret_value) {
    double number;
    if (!gx_number_read(text, &number) || !isfinite(number)) return false;
    *ret_value = gale_f64(number);
    return true;
}

static bool read_bool(gale_str text, gale_value *ret_value) {
    bool yes = gx_str_is(text, "true") || gx_str_is(text, "True") || gx_str_is(text, "TRUE");
    bool no = gx_str_is(text, "false") || gx_str_is(text, "False") || gx_str_is(text, "FALSE");
    if (yes || no) *ret_value = gale_bool(yes);
    return yes || no;
}

static bool is_digit(gale_str text, size_t at) {
    return at < text.size && text.data[at] >= '0' && text.data[at] <= '9';
}

/* Digits alone, and with a sign. */
static bool is_whole(gale_str text) {
    size_t at = text.data[0] == '-';
    while (is_digit(text, at)) at++;
    return at == text.size;
}

static bool read_any(gale_str text, gale_value *ret_value) {
    size_t first = text.data[0] == '-';
    bool numeric = is_digit(text, first) || (first < text.size && text.data[first] == '.');
    if (!numeric) return read_bool(text, ret_value);
    if (text.data[first] == '0' && is_digit(text, first + 1)) return false;
    return is_whole(text) ? read_whole(text, ret_value) : read_float(text, ret_value);
}

bool gx_scalar_read(gale_str text, bool is_text, int32_t type, gale_value *ret_value) {
    if (type == GX_SCALAR_STRING || (type == GX_SCALAR_AUTO && text.size && !read_any(text, ret_value))) {
        *ret_value = gx_scalar_text(text, is_text);
        return true;
    }
    if (!text.size) {
        *ret_value = gale_null();
        return true;
    }
    switch (type) {
    case GX_SCALAR_INT: return read_whole(text, ret_value);
    case GX_SCALAR_FLOAT: return read_float(text, ret_value);
    case GX_SCALAR_BOOL: return read_bool(text, ret_value);
    default: return true;
    }
}
