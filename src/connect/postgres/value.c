#include "connect/postgres/value.h"

#include <errno.h>
#include <gale/connect.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of PostgreSQL's catalog pg_type, which numbers them for ever. */
enum { BOOL = 16, BYTEA = 17, INT8 = 20, INT2 = 21, INT4 = 23, OID = 26, XID = 28, FLOAT4 = 700, FLOAT8 = 701 };

static gale_value whole_of(const char *text, size_t size) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    return size && !errno && end == text + size ? gale_i64(number) : gale_text_or_bytes(text, size);
}

static gale_value number_of(const char *text, size_t size) {
    gale_str digits = { text, size };
    double number;
    if (gale_number_read(digits, &number)) return gale_f64(number);
    if (size == 3 && memcmp(text, "NaN", 3) == 0) return gale_f64(NAN);
    bool negative = size == 9 && *text == '-';
    bool is_infinite = size == 8u + negative && memcmp(text + negative, "Infinity", 8) == 0;
    return is_infinite ? gale_f64(negative ? -INFINITY : INFINITY) : gale_text_or_bytes(text, size);
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \x0a0b, two digits a byte. */
static gale_value bytes_of(char *text, size_t size) {
    if (size % 2 || size < 2 || memcmp(text, "\\x", 2) != 0) return gale_text_or_bytes(text, size);
    for (size_t i = 2; i < size; i++)
        if (digit_of(text[i]) < 0) return gale_text_or_bytes(text, size);
    size_t count = size / 2 - 1;
    for (size_t i = 0; i < count; i++) text[i] = (char)(digit_of(text[2 + 2 * i]) << 4 | digit_of(text[3 + 2 * i]));
    return gale_bytes(text, count);
}

gale_value pg_value_of(uint32_t type, char *text, size_t size) {
    switch (type) {
    case BOOL:
        return size == 1 && (*text == 't' || *text == 'f') ? gale_bool(*text == 't') : gale_text_or_bytes(text, size);
    case INT2:
    case INT4:
    case INT8:
    case OID:
    case XID: return whole_of(text, size);
    case FLOAT4:
    case FLOAT8: return number_of(text, size);
    case BYTEA: return bytes_of(text, size);
    default: return gale_text_or_bytes(text, size);
    }
}
