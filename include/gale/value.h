/* gale/value.h: what a tuple is made of.
 *
 * What:    a value is null, bool, i64, f64, string, bytes, list or map. A `gale_value` is a view of 16 bytes: scalars
 *          in place, the rest borrowed. The same type serves to build (a list points to an array of gale_value) and to
 *          read (a list taken from a tuple points into the tuple's body); the functions below hide the difference.
 * Owner:   a view borrows. A value read from a tuple lives as long as that tuple; a value that is built lives as long
 *          as the memory it was made from.
 * Limits:  GALE_VALUE_DEPTH lists and maps inside each other; 1 GiB a body, and what is larger is GALE_TOO_LARGE
 *          where it is emitted or copied, never when it is made; strings are UTF-8, whoever brings them in checks it
 *          (gale_utf8_valid) and makes bytes of what is not.
 * Misuse:  every function checks. NULL is the null value, and so is what has a size but no place, wherever it stands
 *          inside a value; what is not wanted may be NULL (`ret_key`, `ret_value`). A size is believed: there must be
 *          as much.
 * Equality is by type and content: i64 1 and f64 1.0 are two values. Every NaN is one NaN, and -0.0 is 0.0.
 */
#ifndef GALE_VALUE_H
#define GALE_VALUE_H

#include <gale/base.h>
#include <gale/error.h>

GALE_BEGIN

typedef enum gale_type {
    GALE_TYPE_NULL,
    GALE_TYPE_BOOL,
    GALE_TYPE_I64,
    GALE_TYPE_F64,
    GALE_TYPE_STRING,
    GALE_TYPE_BYTES,
    GALE_TYPE_LIST,
    GALE_TYPE_MAP,
    GALE_TYPE_COUNT
} gale_type;

enum { GALE_VALUE_DEPTH = 32 };

/* `type` is a gale_type. `encoded` says that a list or map points into a tuple's body. `size` counts the bytes of a
 * string or of bytes (without the NUL), the items of a list, the entries of a map; what is larger than it can say is as
 * large as it can: no tuple has room for that, and its emit returns GALE_TOO_LARGE. */
typedef struct gale_value {
    uint8_t type;
    uint8_t encoded;
    uint16_t reserved;
    uint32_t size;
    union {
        bool boolean;
        int64_t i64;
        double f64;
        const char *string;
        const void *bytes;
        const struct gale_value *items; /* list: `size` values; map: `size` pairs, key (a string) then value */
        const struct gale_body *body;
    } as;
} gale_value;

/* Nothing. */
GALE_INLINE gale_value gale_null(void) {
    gale_value v = { GALE_TYPE_NULL, 0, 0, 0, { 0 } };
    return v;
}

/* True or false. */
GALE_INLINE gale_value gale_bool(bool boolean) {
    gale_value v = { GALE_TYPE_BOOL, 0, 0, 0, { 0 } };
    v.as.i64 = 0;
    v.as.boolean = boolean;
    return v;
}

/* A whole number. */
GALE_INLINE gale_value gale_i64(int64_t number) {
    gale_value v = { GALE_TYPE_I64, 0, 0, 0, { 0 } };
    v.as.i64 = number;
    return v;
}

/* A number with a fraction. */
GALE_INLINE gale_value gale_f64(double number) {
    gale_value v = { GALE_TYPE_F64, 0, 0, 0, { 0 } };
    v.as.f64 = number;
    return v;
}

/* Text of `size` bytes (at most 1 GiB), UTF-8, borrowed; it need not be ended by a NUL. */
GALE_INLINE gale_value gale_string(const char *text, size_t size) {
    gale_value v = { GALE_TYPE_STRING, 0, 0, (uint32_t)(size < UINT32_MAX ? size : UINT32_MAX), { 0 } };
    v.as.string = text;
    return v;
}

/* Bytes, borrowed. */
GALE_INLINE gale_value gale_bytes(const void *bytes, size_t size) {
    gale_value v = { GALE_TYPE_BYTES, 0, 0, (uint32_t)(size < UINT32_MAX ? size : UINT32_MAX), { 0 } };
    v.as.bytes = bytes;
    return v;
}

/* A list of `count` values, borrowed. */
GALE_INLINE gale_value gale_list(const gale_value *items, size_t count) {
    gale_value v = { GALE_TYPE_LIST, 0, 0, (uint32_t)(count < UINT32_MAX ? count : UINT32_MAX), { 0 } };
    v.as.items = items;
    return v;
}

/* A map of `count` entries: `pairs` holds key, value, key, value. Keys are strings; they may come in any order, and are
 * sorted by byte when the tuple is built; a key that comes twice makes the emit fail with GALE_INVALID. */
GALE_INLINE gale_value gale_map(const gale_value *pairs, size_t count) {
    gale_value v = { GALE_TYPE_MAP, 0, 0, (uint32_t)(count < UINT32_MAX ? count : UINT32_MAX), { 0 } };
    v.as.items = pairs;
    return v;
}

/* A NUL-ended string, borrowed. */
GALE_API gale_value gale_text(const char *text);

/* "i64" for GALE_TYPE_I64. Static storage. */
GALE_API const char *gale_type_name(int type);

/* Item `index` of a list, or the null value when there is none. */
GALE_API gale_value gale_list_at(const gale_value *list, size_t index);

/* Key and value of entry `index` of a map (entries of a map from a tuple are in the keys' byte order). False when there
 * is no such entry; the outputs are then untouched. */
GALE_API bool gale_map_at(const gale_value *map, size_t index, gale_str *ret_key, gale_value *ret_value);

/* The value under `key`. False when the map has no such key. */
GALE_API bool gale_map_get(const gale_value *map, gale_str key, gale_value *ret_value);

/* Same type and same content. */
GALE_API bool gale_value_equal(const gale_value *a, const gale_value *b);

/* A total order: by type in the order of gale_type, then by value; strings and bytes by byte, lists item by item, maps
 * entry by entry, NaN above every number. Negative, zero, positive. */
GALE_API int gale_value_compare(const gale_value *a, const gale_value *b);

/* gale's own stable 64-bit hash of a value (version 2): the same in every process, on every machine, in every release
 * that says version 2. Equal values hash alike whether built or read from a tuple. */
GALE_API uint64_t gale_value_hash(const gale_value *value);

/* Are these bytes well-formed UTF-8 (no surrogates, nothing overlong, nothing above U+10FFFF)? */
GALE_API bool gale_utf8_valid(const char *text, size_t size);

/* Room for the text of any number, and its NUL. */
enum { GALE_NUMBER_TEXT = 32 };

/* Writes a number with the fewest digits that read back the same, and a NUL; returns the size without it. Whatever the
 * locale: "0.1", "250", "1e+16", "5e-324", "-0", "nan", "inf", "-inf". */
GALE_API size_t gale_number_write(double number, char to[GALE_NUMBER_TEXT]);

/* All of `text` is a decimal number: an optional sign, digits with at most one point, an optional exponent. To the
 * nearest double; beyond the largest to an infinity. Whatever the locale; "inf", "nan" and hexadecimal are none. */
GALE_API bool gale_number_read(gale_str text, double *ret_number);

/* A value as text, the same in every sink: strings and bytes unchanged (borrowed); numbers (in `number`) with the fewest
 * digits, and ".0" behind a float that is whole; "NaN", "Infinity", "-Infinity", "true", "false", and nothing for null.
 * False: a list or a map. */
GALE_API bool gale_value_text(const gale_value *value, char number[GALE_NUMBER_TEXT], gale_str *ret_text);

/* A copy that owns all that it points to, in one allocation. NULL when memory is out or the value is not valid (too
 * deep, too large, a map's key that is no string or comes twice). The view to read it with is gale_value_owned_view. */
typedef struct gale_value_owned gale_value_owned;
GALE_API GALE_MUST_USE gale_value_owned *gale_value_copy(const gale_value *value);
GALE_API gale_value gale_value_owned_view(const gale_value_owned *owned);
GALE_API void gale_value_owned_free(gale_value_owned *owned);

GALE_END

#endif
