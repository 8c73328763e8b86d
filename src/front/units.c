#include "front/units.h"

#include "base/port.h"
#include "topology/config.h"

#include <ctype.h>
#include <math.h>

/* --- Durations ---------------------------------------------------------------------------------------------------- */

static bool take_unit(gale_str *rest, double *ret_seconds) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {
        { "ms", 1e-3 }, { "us", 1e-6 }, { "ns", 1e-9 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 }
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t size = strlen(units[i].name);
        if (rest->size < size || memcmp(rest->data, units[i].name, size) != 0) continue;
        *rest = (gale_str){ rest->data + size, rest->size - size };
        *ret_seconds = units[i].seconds;
        return true;
    }
    return false;
}

/* The digits that `rest` begins with, at most one point among them. */
static bool take_digits(gale_str *rest, gale_str *ret_digits) {
    size_t n = 0;
    bool digit = false, point = false;
    for (; n < rest->size; n++) {
        char c = rest->data[n];
        if (c == '.' && !point)
            point = true;
        else if (c >= '0' && c <= '9')
            digit = true;
        else
            break;
    }
    *ret_digits = (gale_str){ rest->data, n };
    *rest = (gale_str){ rest->data + n, rest->size - n };
    return digit;
}

static bool add_piece(gale_str *rest, double *sum) {
    gale_str digits;
    double unit;
    if (!take_digits(rest, &digits) || digits.size > 18 || !take_unit(rest, &unit)) return false;
    double number = 0, place = 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] == '.') {
            place = 1;
            continue;
        }
        number = number * 10 + (digits.data[i] - '0');
        place *= 10;
    }
    *sum += (place > 0 ? number / place : number) * unit;
    return true;
}

bool gx_duration_read(gale_str text, double *ret_seconds) {
    gale_str rest = gx_str_trim(text);
    gale_value plain = gx_config_scalar(rest);
    double sum = 0;
    if (plain.type == GALE_TYPE_I64) return *ret_seconds = (double)plain.as.i64, true;
    if (plain.type == GALE_TYPE_F64) return *ret_seconds = plain.as.f64, true;
    if (!rest.size) return false;
    while (rest.size)
        if (!add_piece(&rest, &sum)) return false;
    *ret_seconds = sum;
    return true;
}

/* --- Sizes --------------------------------------------------------------------------------------------------------- */

/* 1 for "" and "B", 1000 for "KB", 1024 for "KiB"; 0: it is none. */
static double size_unit(gale_str text) {
    static const char letters[] = "kmgt";
    double unit = 1;
    const char *letter = text.size > 1 ? strchr(letters, tolower((unsigned char)text.data[0])) : NULL;
    bool binary = letter && text.size == 3 && text.data[1] == 'i';
    for (const char *at = letters; letter && at <= letter; at++) unit *= binary ? 1024 : 1000;
    if (letter) text = (gale_str){ text.data + 1 + binary, text.size - 1 - binary };
    return (!text.size && !letter) || gx_str_is(text, "B") ? unit : 0;
}

bool gx_size_read(gale_str text, int64_t *ret_bytes) {
    gale_str rest = gx_str_trim(text), digits;
    if (!take_digits(&rest, &digits)) return false;
    gale_value number = gx_config_scalar(digits);
    bool whole = number.type == GALE_TYPE_I64;
    double unit = size_unit(gx_str_trim(rest));
    double bytes = (whole ? (double)number.as.i64 : number.type == GALE_TYPE_F64 ? number.as.f64 : -1) * unit;
    if (unit <= 0 || !(bytes >= 0 && bytes < 9e18) || bytes != floor(bytes)) return false;
    *ret_bytes = whole ? number.as.i64 * (int64_t)unit : (int64_t)bytes;
    return true;
}
