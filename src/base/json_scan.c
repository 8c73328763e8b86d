#include "base/json_scan.h"

#include "base/number.h"
#include "base/utf8.h"

const char gx_json_wrong_name[] = "expected a name in quotation marks";
const char gx_json_wrong_colon[] = "expected ':'";
const char gx_json_wrong_map[] = "expected ',' or '}'";
const char gx_json_wrong_list[] = "expected ',' or ']'";
const char gx_json_wrong_deep[] = "more than 512 lists and objects inside each other";

bool gx_json_scan_wrong(gx_json_scan *scan, const char *place, const char *what) {
    scan->wrong = what;
    scan->place = place;
    return false;
}

void gx_json_scan_where(gale_str text, const char *place, size_t *ret_line, size_t *ret_column) {
    *ret_line = *ret_column = 1;
    for (const char *at = text.data; at < place; at++) {
        bool is_end = *at == '\n';
        *ret_line += is_end;
        *ret_column = is_end ? 1 : *ret_column + (((unsigned char)*at & 0xc0) != 0x80);
    }
}

/* --- Strings --- */

static bool read_hex(gx_json_scan *scan, const char *at, uint32_t *ret_code) {
    uint32_t code = 0;
    if (scan->end - at < 4) return gx_json_scan_wrong(scan, at, "\\u needs four hexadecimal digits");
    for (int i = 0; i < 4; i++) {
        char c = at[i], low = (char)(c | 0x20);
        bool is_digit = c >= '0' && c <= '9';
        if (!is_digit && !(low >= 'a' && low <= 'f'))
            return gx_json_scan_wrong(scan, at, "\\u needs four hexadecimal digits");
        code = code << 4 | (uint32_t)(is_digit ? c - '0' : low - 'a' + 10);
    }
    *ret_code = code;
    return true;
}

/* Behind a backslash: the size of what is there, or 0. */
static size_t escape_size(gx_json_scan *scan, const char *at) {
    uint32_t code;
    if (at == scan->end) return 1; /* the string does not end, which is said there */
    switch (*at) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't': return 1;
    case 'u': return read_hex(scan, at + 1, &code) ? 5 : 0;
    default: gx_json_scan_wrong(scan, at - 1, "there is no such escape"); return 0;
    }
}

bool gx_json_scan_escaped(gx_json_scan *scan, const char *from, gale_str *ret_raw) {
    for (const char *at = from;;) {
        at = gx_scan(at, scan->end, GX_SCAN_READ);
        if (at >= scan->end) return gx_json_scan_wrong(scan, from - 1, "the string does not end");
        if (*at == '"') {
            *ret_raw = (gale_str){ from, (size_t)(at - from) };
            scan->at = at + 1;
            return true;
        }
        if (*at != '\\') return gx_json_scan_wrong(scan, at, "a control character stands in a string");
        size_t size = escape_size(scan, at + 1);
        if (!size) return false;
        at += 1 + size;
    }
}

/* Behind "\u": the character, whose second half may be a second escape. */
static const char *read_unicode(gx_json_scan *scan, const char *at, uint32_t *ret_code) {
    static const char half[] = "half of a surrogate pair stands alone";
    const char *place = at - 2;
    uint32_t low = 0;
    if (!read_hex(scan, at, ret_code)) return NULL;
    at += 4;
    if (!gx_is_within(*ret_code, 0xd800, 0x800)) return at;
    bool is_pair = *ret_code < 0xdc00 && scan->end - at >= 6 && at[0] == '\\' && at[1] == 'u' &&
                   read_hex(scan, at + 2, &low) && gx_is_within(low, 0xdc00, 0x400);
    if (!is_pair) return gx_json_scan_wrong(scan, place, half), NULL;
    *ret_code = 0x10000 + ((*ret_code - 0xd800) << 10) + (low - 0xdc00);
    return at + 6;
}

static char escaped_letter(char c) {
    switch (c) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return c;
    }
}

int64_t gx_json_scan_unescape(gx_json_scan *scan, gale_str raw, char *to) {
    const char *at = raw.data, *end = raw.data + raw.size;
    char *begin = to;
    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((slash ? slash : end) - at);
        memcpy(to, at, plain);
        to += plain;
        if (!slash) break;
        at = slash + 2;
        if (slash[1] != 'u') {
            *to++ = escaped_letter(slash[1]);
            continue;
        }
        uint32_t code;
        at = read_unicode(scan, at, &code);
        if (!at) return -1;
        to += gx_utf8_put(to, code);
    }
    return to - begin;
}

/* --- Numbers --- */

/* The exponent, behind its "e". */
GX_INLINE const char *take_power(gx_json_scan *scan, const char *at, gx_json_number *number) {
    enum { MOST_DIGITS = 5 };
    bool is_signed = at < scan->end && (*at == '+' || *at == '-');
    uint64_t power = 0;
    const char *digits = at + is_signed, *stop = gx_number_digits(digits, scan->end, &power);
    if (stop == digits) return gx_json_scan_wrong(scan, stop, "expected the digits of an exponent"), NULL;
    number->fits = number->fits && stop - digits <= MOST_DIGITS;
    if (number->fits) number->exponent += *at == '-' ? -(int32_t)power : (int32_t)power;
    number->whole = false;
    return stop;
}

/* One walk over the digits. Where the number is not used, the compiler leaves its arithmetic out. */
GX_INLINE bool take_number(gx_json_scan *scan, gx_json_number *ret_number) {
    enum { MOST_DIGITS = 19 }; /* that 64 bits hold, whatever they are */
    const char *at = scan->at, *end = scan->end;
    gx_json_number number = { .negative = at < end && *at == '-', .whole = true };
    at += number.negative;
    const char *stop = at < end && *at == '0' ? at + 1 : gx_number_digits(at, end, &number.mantissa);
    if (stop == at) return gx_json_scan_wrong(scan, scan->at, number.negative ? "expected digits" : "expected a value");
    ptrdiff_t count = stop - at, behind = 0;
    if (stop < end && *stop == '.') {
        at = stop + 1;
        stop = gx_number_digits(at, end, &number.mantissa);
        behind = stop - at;
        if (!behind) return gx_json_scan_wrong(scan, at, "expected digits behind the point");
        number.whole = false;
    }
    number.fits = count + behind <= MOST_DIGITS;
    if (number.fits) number.exponent = -(int32_t)behind;
    if (stop < end && (*stop | 0x20) == 'e' && !(stop = take_power(scan, stop + 1, &number))) return false;
    number.text = (gale_str){ scan->at, (size_t)(stop - scan->at) };
    scan->at = stop;
    *ret_number = number;
    return true;
}

bool gx_json_scan_number(gx_json_scan *scan, gx_json_number *ret_number) {
    return take_number(scan, ret_number);
}

double gx_json_number_value(const gx_json_number *number) {
    double value = 0;
    if (number->fits && gx_number_of(number->mantissa, number->exponent, &value))
        return number->negative ? -value : value;
    gx_number_read(number->text, &value);
    return value;
}

bool gx_json_number_whole(const gx_json_number *number, int64_t *ret_number) {
    if (!number->whole || !number->fits || number->mantissa > (uint64_t)INT64_MAX + number->negative) return false;
    *ret_number = (int64_t)(number->negative ? 0 - number->mantissa : number->mantissa);
    return true;
}

/* --- Values that nobody wants --- */

bool gx_json_scan_word(gx_json_scan *scan, const char *word, size_t size) {
    if ((size_t)(scan->end - scan->at) < size || memcmp(scan->at, word, size) != 0)
        return gx_json_scan_wrong(scan, scan->at, "expected a value");
    scan->at += size;
    return true;
}

static bool skip_string(gx_json_scan *scan) {
    gale_str raw;
    bool escaped;
    return gx_json_scan_string(scan, &raw, &escaped);
}

static bool skip_scalar(gx_json_scan *scan, char first) {
    gx_json_number ignored;
    switch (first) {
    case '"': scan->at++; return skip_string(scan);
    case 't': return gx_json_scan_word(scan, "true", 4);
    case 'f': return gx_json_scan_word(scan, "false", 5);
    case 'n': return gx_json_scan_word(scan, "null", 4);
    default: return take_number(scan, &ignored);
    }
}

static bool skip_name(gx_json_scan *scan) {
    if (!gx_json_scan_take(scan, '"')) return gx_json_scan_wrong(scan, scan->at, gx_json_wrong_name);
    return skip_string(scan) &&
           (gx_json_scan_take(scan, ':') || gx_json_scan_wrong(scan, scan->at, gx_json_wrong_colon));
}

static bool skip_object(gx_json_scan *scan, uint32_t depth) {
    if (gx_json_scan_take(scan, '}')) return true;
    do {
        if (!skip_name(scan) || !gx_json_scan_skip(scan, depth)) return false;
    } while (gx_json_scan_take(scan, ','));
    return gx_json_scan_take(scan, '}') || gx_json_scan_wrong(scan, scan->at, gx_json_wrong_map);
}

static bool skip_list(gx_json_scan *scan, uint32_t depth) {
    if (gx_json_scan_take(scan, ']')) return true;
    do {
        if (!gx_json_scan_skip(scan, depth)) return false;
    } while (gx_json_scan_take(scan, ','));
    return gx_json_scan_take(scan, ']') || gx_json_scan_wrong(scan, scan->at, gx_json_wrong_list);
}

bool gx_json_scan_skip(gx_json_scan *scan, uint32_t depth) {
    gx_json_scan_blanks(scan);
    if (scan->at == scan->end) return gx_json_scan_wrong(scan, scan->at, "expected a value");
    char first = *scan->at;
    if (first != '{' && first != '[') return skip_scalar(scan, first);
    if (depth == GX_JSON_DEPTH) return gx_json_scan_wrong(scan, scan->at, gx_json_wrong_deep);
    scan->at++;
    return first == '{' ? skip_object(scan, depth + 1) : skip_list(scan, depth + 1);
}

bool gx_json_scan_ended(gx_json_scan *scan) {
    gx_json_scan_blanks(scan);
    return scan->at == scan->end || gx_json_scan_wrong(scan, scan->at, "expected the end of the text");
}
