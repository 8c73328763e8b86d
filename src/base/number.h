/* Decimal text to numbers and back, whatever locale the application has chosen.
 *
 * What:    reading gives the nearest double: by Clinger's exact products, else by the 128-bit products of Eisel and
 *          Lemire ("Number parsing at a gigabyte per second", 2021), else by the C library. Writing gives the fewest
 *          digits that read back the same, by Giulietti's Schubfach ("The Schubfach way to render doubles", 2020).
 * Threads: any. */
#ifndef GX_BASE_NUMBER_H
#define GX_BASE_NUMBER_H

#include "base/str.h"

enum { GX_NUMBER_TEXT = 32 }; /* room for any number that is written, and its NUL */

/* All of `text` is a whole number that fits: "-12", "+12", "007". */
bool gx_number_whole(gale_str text, int64_t *ret_number);

/* The digits that a text begins with, behind those of `*number`, which wraps beyond 64 bits: 19 digits fit. Returns
 * their end. */
GX_INLINE const char *gx_number_digits(const char *at, const char *end, uint64_t *number) {
    uint64_t made = *number;
    for (; at < end && (unsigned char)(*at - '0') < 10; at++) made = 10 * made + (unsigned char)(*at - '0');
    *number = made;
    return at;
}

/* All of `text` is one: an optional sign, digits, of which one point may be anywhere, and an optional exponent. To the
 * nearest double; beyond the largest to an infinity. "inf", "nan" and hexadecimal are none. */
bool gx_number_read(gale_str text, double *ret_number);

/* The double that is nearest to mantissa * 10^exponent. False where that takes more than 128 bits to say: read its
 * text. */
bool gx_number_of(uint64_t mantissa, int32_t exponent, double *ret_number);

/* Writes the number with the fewest digits that gx_number_read reads back, and a NUL; returns the size without it.
 * With an exponent below 1e-4 and from 1e16 on: "0.1", "250", "1e+16", "1.5e-07". Numbers that are not finite are
 * "nan", "inf" and "-inf". */
size_t gx_number_write(char to[GX_NUMBER_TEXT], double number);

/* The text of a float in every sink: as gx_number_write has it, but with ".0" behind one that is whole, so that it is not taken for a whole
 * number; "NaN", "Infinity" and "-Infinity", which PostgreSQL and many others read. */
size_t gx_number_write_float(char to[GX_NUMBER_TEXT], double number);

/* Write a whole number, and no NUL; return the size, at most 20. */
size_t gx_number_write_whole(char *to, int64_t number);
size_t gx_number_write_count(char *to, uint64_t number);

#endif
