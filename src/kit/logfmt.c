#include "kit/logfmt.h"

#include "base/utf8.h"

#include <gale/error.h>

enum { BLANK = 1, QUOTE = 2 };

static const uint8_t kinds[256] = { [' '] = BLANK, ['\t'] = BLANK, ['\r'] = BLANK, ['\n'] = BLANK, ['"'] = QUOTE };

static uint8_t kind_of(char c) {
    return kinds[(unsigned char)c];
}

static bool is_blank(char c) {
    return kind_of(c) == BLANK;
}

static bool is_gap(const gx_logfmt *logfmt, char c) {
    return c == logfmt->format.separator || is_blank(c);
}

gx_logfmt gx_logfmt_begin(gx_logfmt_format format, gale_str text, gx_buf *scratch) {
    gx_buf_reset(scratch);
    return (gx_logfmt){ .format = format, .scratch = scratch, .rest = text };
}

static bool wrong(gx_logfmt *logfmt, const char *problem) {
    logfmt->problem = problem;
    return false;
}

static gale_str take(gale_str *rest, size_t size) {
    gale_str piece = { rest->data, size };
    *rest = (gale_str){ rest->data + size, rest->size - size };
    return piece;
}

/* --- Escapes --- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Four digits behind "\u" at the beginning of `rest`; -1 when they are not there. */
static int32_t code_of(gale_str rest) {
    int32_t code = 0;
    if (rest.size < 6 || rest.data[0] != '\\' || rest.data[1] != 'u') return -1;
    for (size_t i = 2; i < 6; i++) {
        int digit = hex_digit(rest.data[i]);
        if (digit < 0) return -1;
        code = code * 16 + digit;
    }
    return code;
}

static bool is_half(int32_t code, int32_t first) {
    return code >= first && code < first + 0x400;
}

/* \uXXXX, or two that are a pair; how many bytes it has. */
static size_t add_code(gx_buf *out, gale_str rest, int32_t code) {
    char bytes[4];
    size_t size = 6;
    if (is_half(code, 0xd800)) {
        int32_t low = code_of((gale_str){ rest.data + 6, rest.size - 6 });
        bool paired = is_half(low, 0xdc00);
        code = paired ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
        size += paired ? 6 : 0;
    }
    if (is_half(code, 0xdc00)) code = 0xfffd;
    gx_buf_add(out, bytes, gx_utf8_put(bytes, (uint32_t)code));
    return size;
}

/* What a backslash begins; how many bytes of `rest` it is. */
static size_t add_escape(gx_buf *out, gale_str rest) {
    static const char letters[] = "\"\\/nrtbf", meant[] = "\"\\/\n\r\t\b\f";
    int32_t code = code_of(rest);
    if (code >= 0) return add_code(out, rest, code);
    const char *letter = rest.size > 1 && rest.data[1] ? strchr(letters, rest.data[1]) : NULL;
    gx_buf_add_byte(out, letter ? meant[letter - letters] : '\\');
    return letter ? 2 : 1;
}

/* Nothing is longer than what it is written as, so that what is copied of a text has room once, and does not move. */
static bool unescape(gx_logfmt *logfmt, gale_str inside, gale_str *ret_value) {
    gx_buf *scratch = logfmt->scratch;
    size_t begin = scratch->size;
    if (!gx_buf_reserve(scratch, inside.size + logfmt->rest.size)) return false;
    for (size_t i = 0; i < inside.size;) {
        if (inside.data[i] != '\\')
            gx_buf_add_byte(scratch, inside.data[i++]);
        else
            i += add_escape(scratch, (gale_str){ inside.data + i, inside.size - i });
    }
    *ret_value = (gale_str){ scratch->data + begin, scratch->size - begin };
    return true;
}

/* --- Pairs --- */

static bool quoted(gx_logfmt *logfmt, gale_str *ret_value) {
    gale_str rest = logfmt->rest;
    bool escaped = false;
    for (size_t i = 1; i < rest.size; i++) {
        if (rest.data[i] == '\\') {
            escaped = true;
            i++;
        } else if (rest.data[i] == '"') {
            if (i + 1 < rest.size && !is_gap(logfmt, rest.data[i + 1]))
                return wrong(logfmt, "something follows a closing quote at once");
            gale_str inside = { rest.data + 1, i - 1 };
            take(&logfmt->rest, i + 1);
            *ret_value = inside;
            return !escaped || unescape(logfmt, inside, ret_value);
        }
    }
    return wrong(logfmt, "a quote is not closed");
}

/* Where the separator is a blank, every blank is one; where it is not, those at the value's end are none of it. */
static bool plain(gx_logfmt *logfmt, gale_str *ret_value) {
    gale_str rest = logfmt->rest;
    bool by_blanks = is_blank(logfmt->format.separator);
    size_t size = 0;
    if (by_blanks)
        while (size < rest.size && !kind_of(rest.data[size])) size++;
    else
        while (size < rest.size && rest.data[size] != logfmt->format.separator && rest.data[size] != '"') size++;
    if (size < rest.size && rest.data[size] == '"')
        return wrong(logfmt, "there is a quote in a value that does not begin with one");
    *ret_value = take(&logfmt->rest, size);
    while (ret_value->size && is_blank(ret_value->data[ret_value->size - 1])) ret_value->size--;
    return true;
}

bool gx_logfmt_next(gx_logfmt *logfmt, gale_str *ret_key, gale_str *ret_value) {
    gale_str *rest = &logfmt->rest;
    size_t size = 0;
    if (logfmt->problem) return false;
    while (rest->size && is_gap(logfmt, rest->data[0])) rest->data++, rest->size--;
    if (!rest->size) return false;
    const gx_logfmt_format format = logfmt->format;
    while (size < rest->size && !kind_of(rest->data[size]) && rest->data[size] != format.assign &&
           rest->data[size] != format.separator)
        size++;
    if (size < rest->size && rest->data[size] == '"') return wrong(logfmt, "there is a quote in a key");
    if (!size) return wrong(logfmt, "there is no key before an assignment");
    *ret_key = take(rest, size);
    *ret_value = (gale_str){ NULL, 0 };
    if (!rest->size || rest->data[0] != logfmt->format.assign) return true;
    take(rest, 1);
    return rest->size && rest->data[0] == '"' ? quoted(logfmt, ret_value) : plain(logfmt, ret_value);
}

static int check_one(char byte, const char *name, const char *who, gale_error *error) {
    bool ok = byte > 0 && byte != '\n' && byte != '\r' && byte != '"' && byte != '\\';
    return ok ? GALE_OK
              : gale_error_set(error, GALE_INVALID,
                               "%s: %s must be one character of ASCII, no quote, backslash or end of a line", who,
                               name);
}

int gx_logfmt_check(gx_logfmt_format format, const char *who, gale_error *error) {
    int rc = check_one(format.separator, "separator", who, error);
    if (rc >= 0) rc = check_one(format.assign, "assign", who, error);
    if (rc >= 0 && (format.assign == format.separator || is_blank(format.assign)))
        return gale_error_set(error, GALE_INVALID, "%s: assign must be neither a blank nor the separator", who);
    return rc;
}
