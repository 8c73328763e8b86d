#include "base/number.h"

#include "base/bits.h"
#include "base/tens.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

enum {
    MANTISSA_DIGITS = 19, /* that 64 bits hold, whatever they are */
    ALL_DIGITS = 770,     /* more than a number between two doubles can have (767) */
    FRACTION_BITS = 52,
    EXPONENT_MOST = 2047,
    EXPONENT_BIAS = 1023
};

/* --- Reading --- */

/* A decimal: mantissa * 10^exponent, and a little more when it is `cut`. */
typedef struct decimal {
    uint64_t mantissa;
    int64_t exponent;
    bool negative;
    bool cut; /* there are other digits than zeros behind those of the mantissa */
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

/* More digits than a mantissa has: the first ones that are not zeros count, the others move the point. */
static void cut_digits(gale_str digits, decimal *d) {
    bool is_behind = false;
    uint32_t count = 0;
    d->mantissa = 0;
    d->exponent = 0;
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] == '.') {
            is_behind = true;
            continue;
        }
        uint32_t digit = (uint32_t)(digits.data[i] - '0');
        bool is_kept = count < MANTISSA_DIGITS;
        d->cut = d->cut || (!is_kept && digit);
        d->exponent += !is_kept - is_behind;
        if (!is_kept) continue;
        d->mantissa = 10 * d->mantissa + digit;
        count += d->mantissa != 0;
    }
}

/* The digits and their point; how many digits there are. */
static size_t take_digits(gale_str *rest, decimal *d) {
    const char *from = rest->data, *end = from + rest->size, *stop = gx_number_digits(from, end, &d->mantissa);
    size_t count = (size_t)(stop - from), behind = 0;
    if (stop < end && *stop == '.') {
        const char *point = stop++;
        stop = gx_number_digits(stop, end, &d->mantissa);
        behind = (size_t)(stop - point) - 1;
    }
    d->exponent = -(int64_t)behind;
    if (count + behind > MANTISSA_DIGITS) cut_digits((gale_str){ from, (size_t)(stop - from) }, d);
    *rest = (gale_str){ stop, (size_t)(end - stop) };
    return count + behind;
}

static bool take_exponent(gale_str *rest, decimal *d) {
    const int64_t most = INT64_C(1) << 56; /* above the digits of any text, so that they cannot make up for it */
    if (!rest->size || (rest->data[0] | 0x20) != 'e') return true;
    rest->data++, rest->size--;
    bool negative = take_sign(rest);
    int64_t power = 0;
    size_t count = 0;
    for (; count < rest->size && rest->data[count] >= '0' && rest->data[count] <= '9'; count++)
        if (power < most) power = 10 * power + (rest->data[count] - '0');
    *rest = (gale_str){ rest->data + count, rest->size - count };
    d->exponent += negative ? -power : power;
    return count > 0;
}

static bool take_decimal(gale_str rest, decimal *d) {
    *d = (decimal){ .negative = take_sign(&rest) };
    size_t count = take_digits(&rest, d);
    return count && take_exponent(&rest, d) && !rest.size;
}

/* The C library's way, for what lies half-way between two doubles or is subnormal: the digits as a whole number with
 * an exponent. */
static double read_slowly(gale_str text, const decimal *d) {
    char copy[ALL_DIGITS + 32];
    size_t size = 0, dropped = 0;
    for (size_t i = 0; i < text.size && (text.data[i] | 0x20) != 'e'; i++) {
        char c = text.data[i];
        if (c < '0' || c > '9' || (c == '0' && !size)) continue;
        if (size < ALL_DIGITS)
            copy[size++] = c;
        else
            dropped |= c != '0';
    }
    if (dropped) copy[ALL_DIGITS - 1] = '1'; /* a little more than the digits before it */
    int64_t exponent = d->exponent - (int64_t)(size < MANTISSA_DIGITS ? 0 : size - MANTISSA_DIGITS);
    copy[size++] = 'e';
    size += gx_number_write_whole(copy + size, exponent);
    copy[size] = 0;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double number = plain ? strtod_l(copy, NULL, plain) : strtod(copy, NULL); /* without a point, no locale matters */
    if (plain) freelocale(plain);
    return number;
}

static double of_bits(uint64_t bits) {
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* mantissa * 10^exponent, rounded, within the normal doubles. False where 128 bits of the power do not say which of
 * two is nearer. */
static bool read_wide(uint64_t mantissa, int32_t exponent, double *ret_number) {
    if (exponent < GX_TENS_LEAST || exponent > GX_TENS_MOST) return false;
    const gx_ten *ten = &gx_tens[exponent - GX_TENS_LEAST];
    int zeros = __builtin_clzll(mantissa);
    uint64_t scaled = mantissa << zeros, low, high = gx_tens_multiply(scaled, ten->high, &low);
    if ((high & 0x1ff) == 0x1ff && low + scaled < scaled) {
        uint64_t low_low, low_high = gx_tens_multiply(scaled, ten->low, &low_low);
        uint64_t sum = low + low_high;
        high += sum < low;
        low = sum;
        if ((high & 0x1ff) == 0x1ff && low == UINT64_MAX && low_low + scaled < scaled) return false;
    }
    uint64_t top = high >> 63, rounded = high >> (top + 9);
    int64_t power = gx_tens_log2(exponent) + 64 + EXPONENT_BIAS - zeros - (int64_t)(1 ^ top);
    if (!low && !(high & 0x1ff) && (rounded & 3) == 1) return false; /* half-way, and perhaps a little more */
    rounded = (rounded + (rounded & 1)) >> 1;
    if (rounded >> (FRACTION_BITS + 1)) rounded >>= 1, power++;
    if (power <= 0 || power >= EXPONENT_MOST) return false;
    *ret_number = of_bits((uint64_t)power << FRACTION_BITS | (rounded & ((UINT64_C(1) << FRACTION_BITS) - 1)));
    return true;
}

bool gx_number_of(uint64_t mantissa, int32_t exponent, double *ret_number) {
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    if (!mantissa || exponent < GX_TENS_LEAST) {
        *ret_number = 0;
        return true;
    }
    /* Both parts are doubles without an error, so that the result has but the one of its rounding (Clinger, 1990). */
    if (mantissa <= UINT64_C(1) << 53 && exponent >= -22 && exponent <= 22) {
        *ret_number = exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
        return true;
    }
    return read_wide(mantissa, exponent, ret_number);
}

/* Without the sign. */
static double read_decimal(gale_str text, const decimal *d) {
    double number, above;
    if (d->exponent > GX_TENS_MOST) return d->mantissa ? (double)INFINITY : 0;
    int32_t exponent = d->exponent < GX_TENS_LEAST ? GX_TENS_LEAST - 1 : (int32_t)d->exponent;
    if (!gx_number_of(d->mantissa, exponent, &number)) return read_slowly(text, d);
    /* What was cut lies between the mantissa and the next one: where both are the same double, so is it. */
    if (d->cut && (!gx_number_of(d->mantissa + 1, exponent, &above) || above != number)) return read_slowly(text, d);
    return number;
}

bool gx_number_read(gale_str text, double *ret_number) {
    decimal d;
    if (!take_decimal(text, &d)) return false;
    double number = read_decimal(text, &d);
    *ret_number = d.negative ? -number : number;
    return true;
}

/* --- Writing --- */

/* The upper 64 bits of number * ten, with the lowest bit set where bits below them are. The power is rounded up. */
static uint64_t scale(gx_ten ten, uint64_t number) {
    uint64_t ignored, low, between = gx_tens_multiply(ten.low, number, &ignored);
    uint64_t high = gx_tens_multiply(ten.high, number, &low);
    uint64_t sum = low + between;
    return (high + (sum < low)) | (sum > 1);
}

static gx_ten ten_above(int32_t power) {
    gx_ten ten = gx_tens[power - GX_TENS_LEAST];
    if (power < 0 || power > GX_TENS_EXACT) ten.high += ++ten.low == 0;
    return ten;
}

typedef struct shortest {
    uint64_t digits;
    int32_t exponent;
} shortest;

/* Of the decimals that are nearer to the double than to its neighbours, one with the fewest digits, and of those the
 * nearest. All is four times as large as it is, so that the borders are whole numbers. */
static shortest choose(uint64_t c, int32_t q, bool is_near_below) {
    int32_t k = (q * 1262611 - (is_near_below ? 524031 : 0)) >> 22;
    int32_t shift = q + gx_tens_log2(-k) + 1;
    gx_ten ten = ten_above(-k);
    uint64_t odd = c & 1; /* borders belong to the even ones */
    uint64_t lower = scale(ten, (4 * c - 2 + is_near_below) << shift) + odd;
    uint64_t upper = scale(ten, (4 * c + 2) << shift) - odd;
    uint64_t middle = scale(ten, (4 * c) << shift), s = middle / 4;
    if (s >= 10) {
        uint64_t tenth = s / 10;
        bool is_below = lower <= 40 * tenth, is_above = 40 * tenth + 40 <= upper;
        if (is_below != is_above) return (shortest){ tenth + is_above, k + 1 };
    }
    bool is_below = lower <= 4 * s, is_above = 4 * s + 4 <= upper;
    if (is_below != is_above) return (shortest){ s + is_above, k };
    uint64_t half = 4 * s + 2;
    return (shortest){ s + (middle > half || (middle == half && (s & 1))), k };
}

/* Of a finite number above zero. */
static shortest shortest_of(uint64_t bits) {
    uint64_t fraction = bits & ((UINT64_C(1) << FRACTION_BITS) - 1);
    int32_t exponent = (int32_t)(bits >> FRACTION_BITS & EXPONENT_MOST);
    int32_t q = (exponent ? exponent : 1) - EXPONENT_BIAS - FRACTION_BITS;
    uint64_t c = exponent ? fraction | UINT64_C(1) << FRACTION_BITS : fraction;
    bool is_whole = q <= 0 && q > -FRACTION_BITS - 1 && !(c & ((UINT64_C(1) << -q) - 1));
    shortest made = is_whole ? (shortest){ c >> -q, 0 } : choose(c, q, !fraction && exponent > 1);
    while (made.digits % 10 == 0) made.digits /= 10, made.exponent++;
    return made;
}

size_t gx_number_write_count(char *to, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    memcpy(to, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

size_t gx_number_write_whole(char *to, int64_t number) {
    if (number >= 0) return gx_number_write_count(to, (uint64_t)number);
    *to = '-';
    return 1 + gx_number_write_count(to + 1, 0 - (uint64_t)number);
}

/* "d.ddde+XX" */
static size_t write_exponent(char *to, size_t count, int32_t exponent) {
    size_t size = 1;
    if (count > 1) {
        memmove(to + 2, to + 1, count - 1);
        to[1] = '.';
        size = count + 1;
    }
    to[size++] = 'e';
    to[size++] = exponent < 0 ? '-' : '+';
    uint64_t power = (uint64_t)(exponent < 0 ? -exponent : exponent);
    if (power < 10) to[size++] = '0';
    return size + gx_number_write_count(to + size, power);
}

/* Puts the point where it belongs: the first digit counts 10^exponent. */
static size_t place_point(char *to, size_t count, int32_t exponent) {
    enum { FIRST_WITH_EXPONENT = 16, LAST_WITHOUT = -4 };
    if (exponent < LAST_WITHOUT || exponent >= FIRST_WITH_EXPONENT) return write_exponent(to, count, exponent);
    if (exponent < 0) {
        size_t zeros = (size_t)(1 - exponent); /* "0." and those behind it */
        memmove(to + zeros, to, count);
        memset(to, '0', zeros);
        to[1] = '.';
        return count + zeros;
    }
    size_t whole = (size_t)exponent + 1;
    if (whole >= count) {
        memset(to + count, '0', whole - count);
        return whole;
    }
    memmove(to + whole + 1, to + whole, count - whole);
    to[whole] = '.';
    return count + 1;
}

size_t gx_number_write(char to[GX_NUMBER_TEXT], double number) {
    uint64_t bits;
    char *at = to;
    memcpy(&bits, &number, sizeof bits);
    if (isnan(number)) return memcpy(to, "nan", 4), 3;
    if (bits >> 63) *at++ = '-';
    bits &= INT64_MAX;
    if (isinf(number)) {
        memcpy(at, "inf", 3);
        at += 3;
    } else if (!bits) {
        *at++ = '0';
    } else {
        shortest made = shortest_of(bits);
        size_t count = gx_number_write_count(at, made.digits);
        at += place_point(at, count, made.exponent + (int32_t)count - 1);
    }
    *at = 0;
    return (size_t)(at - to);
}

size_t gx_number_write_float(char to[GX_NUMBER_TEXT], double number) {
    if (isnan(number)) return memcpy(to, "NaN", 4), 3;
    if (isinf(number)) {
        size_t sign = number < 0;
        *to = '-';
        memcpy(to + sign, "Infinity", 9);
        return sign + 8;
    }
    size_t size = gx_number_write(to, number);
    if (memchr(to, '.', size) || memchr(to, 'e', size)) return size;
    memcpy(to + size, ".0", 3);
    return size + 2;
}
