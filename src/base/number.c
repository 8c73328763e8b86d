#include "base/number.h"

#include <locale.h>
#include <stdlib.h>

/* A decimal: mantissa * 10^exponent. */
typedef struct decimal {
    uint64_t mantissa;
    int32_t exponent;
    bool negative;
    bool exact; /* the mantissa has all digits, and the exponent is one that a double can be multiplied with */
} decimal;

static bool take_sign(gale_str *rest) {
    bool negative = rest->size && rest->data[0] == '-';
    if (rest->size && (rest->data[0] == '-' || rest->data[0] == '+')) rest->data++, rest->size--;
    return negative;
}

bool gx_number_whole(gale_str text, int64_t *ret_number) {
    uint64_t number;
    bool negative = take_sign(&text);
    if (!gx_str_number(text, 10, (uint64_t)INT64_MAX + negative, &number)) return false;
    *ret_number = (int64_t)(negative ? 0 - number : number);
    return true;
}

/* The digits that it begins with; how many there are. */
static size_t take_digits(gale_str *rest, decimal *d) {
    size_t count = 0;
    for (; count < rest->size && rest->data[count] >= '0' && rest->data[count] <= '9'; count++) {
        d->exact = d->exact && d->mantissa < UINT64_MAX / 10 - 1;
        if (d->exact) d->mantissa = 10 * d->mantissa + (uint64_t)(rest->data[count] - '0');
    }
    *rest = (gale_str){ rest->data + count, rest->size - count };
    return count;
}

static bool take_exponent(gale_str *rest, decimal *d) {
    if (!rest->size || (rest->data[0] | 0x20) != 'e') return true;
    rest->data++, rest->size--;
    decimal power = { .exact = true };
    power.negative = take_sign(rest);
    if (!take_digits(rest, &power)) return false;
    if (power.mantissa > 1000) d->exact = false;
    int32_t exponent = power.mantissa > 1000 ? 1000 : (int32_t)power.mantissa;
    d->exponent += power.negative ? -exponent : exponent;
    return true;
}

static bool take_decimal(gale_str rest, decimal *d) {
    *d = (decimal){ .exact = true };
    if (rest.size >= GX_NUMBER_SIZE) return false;
    d->negative = take_sign(&rest);
    size_t count = take_digits(&rest, d);
    if (rest.size && rest.data[0] == '.') {
        rest.data++, rest.size--;
        size_t part = take_digits(&rest, d);
        d->exponent = -(int32_t)part;
        count += part;
    }
    return count && take_exponent(&rest, d) && !rest.size;
}

static bool read_slowly(gale_str text, double *ret_number) {
    char copy[GX_NUMBER_SIZE];
    memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) return false;
    *ret_number = strtod_l(copy, NULL, plain);
    freelocale(plain);
    return true;
}

bool gx_number_read(gale_str text, double *ret_number) {
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    decimal d;
    if (!take_decimal(text, &d)) return false;
    /* Both parts are doubles without an error, so that the result has but the one of its rounding (Clinger, 1990). */
    if (!d.exact || d.mantissa > UINT64_C(1) << 53 || d.exponent < -22 || d.exponent > 22)
        return read_slowly(text, ret_number);
    double number = (double)d.mantissa;
    number = d.exponent < 0 ? number / powers[-d.exponent] : number * powers[d.exponent];
    *ret_number = d.negative ? -number : number;
    return true;
}
