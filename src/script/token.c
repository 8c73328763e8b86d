#include "script/token.h"

#include "base/number.h"

#include <stdlib.h>

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static char at(gale_str rest, size_t place) {
    return place < rest.size ? rest.data[place] : 0;
}

/* How many bytes a long bracket's beginning has, "[[" or "[==["; 0: none. */
static size_t bracket_at(gale_str rest, size_t place) {
    if (at(rest, place) != '[') return 0;
    size_t size = 1;
    while (at(rest, place + size) == '=') size++;
    return at(rest, place + size) == '[' ? size + 1 : 0;
}

/* Where what such a bracket begins ends, or the end of the text. */
static size_t bracket_end(gale_str rest, size_t place, size_t bracket) {
    for (size_t i = place + bracket; i < rest.size; i++) {
        if (rest.data[i] != ']') continue;
        size_t size = 1;
        while (at(rest, i + size) == '=') size++;
        if (size == bracket - 1 && at(rest, i + size) == ']') return i + size + 1;
    }
    return rest.size;
}

static void skip(gale_str *rest, size_t size) {
    rest->data += size;
    rest->size -= size;
}

static void skip_blanks(gale_str *rest) {
    while (rest->size) {
        char c = rest->data[0];
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            skip(rest, 1);
        } else if (c == '-' && at(*rest, 1) == '-') {
            size_t bracket = bracket_at(*rest, 2), end = bracket ? bracket_end(*rest, 2, bracket) : 2;
            while (!bracket && end < rest->size && rest->data[end] != '\n') end++;
            skip(rest, end);
        } else {
            return;
        }
    }
}

static gx_token cut(gale_str *rest, gx_token_kind kind, size_t size) {
    gx_token token = { .kind = kind, .text = { rest->data, size } };
    skip(rest, size);
    return token;
}

/* As Lua's scanner: everything that may belong to a number, then it is one or it is not. Hexadecimal and what does not fit an
 * integer is left to Lua. */
static gx_token take_number(gale_str *rest) {
    size_t size = 0;
    for (;; size++) {
        char c = at(*rest, size);
        bool sign = (c == '+' || c == '-') && size && (rest->data[size - 1] | 0x20) == 'e';
        if (!is_digit(c) && !is_letter(c) && c != '.' && !sign) break;
    }
    gx_token token = cut(rest, GX_TOKEN_NUMBER, size);
    uint64_t whole;
    if (gx_str_number(token.text, 10, INT64_MAX, &whole)) {
        token.is_whole = true;
        token.whole = (int64_t)whole;
        return token;
    }
    if (!gx_number_read(token.text, &token.number)) token.kind = GX_TOKEN_WRONG;
    return token;
}

static gx_token take_string(gale_str *rest) {
    char quote = rest->data[0];
    bool escaped = false;
    size_t size = 1;
    for (; size < rest->size && rest->data[size] != quote; size++) {
        if (rest->data[size] == '\n') return cut(rest, GX_TOKEN_WRONG, size);
        if (rest->data[size] != '\\') continue;
        escaped = true;
        size++;
    }
    if (size >= rest->size) return cut(rest, GX_TOKEN_WRONG, rest->size);
    gx_token token = cut(rest, escaped ? GX_TOKEN_LONG : GX_TOKEN_STRING, size + 1);
    token.inside = (gale_str){ token.text.data + 1, size - 1 };
    return token;
}

static size_t sign_size(gale_str rest) {
    static const char *const signs[] = { "...", "==", "~=", "<=", ">=", "//", "::", "<<", ">>", ".." };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t size = strlen(signs[i]);
        if (rest.size >= size && memcmp(rest.data, signs[i], size) == 0) return size;
    }
    return strchr("+-*/%^#&~|<>=(){}[];:,.", rest.data[0]) ? 1 : 0;
}

gx_token gx_token_next(gale_str *rest) {
    skip_blanks(rest);
    if (!rest->size) return cut(rest, GX_TOKEN_END, 0);
    char c = rest->data[0];
    size_t size = 0;
    if (is_letter(c)) {
        while (is_letter(at(*rest, size)) || is_digit(at(*rest, size))) size++;
        return cut(rest, GX_TOKEN_NAME, size);
    }
    if (is_digit(c) || (c == '.' && is_digit(at(*rest, 1)))) return take_number(rest);
    if (c == '"' || c == '\'') return take_string(rest);
    size = bracket_at(*rest, 0);
    if (size) return cut(rest, GX_TOKEN_LONG, bracket_end(*rest, 0, size));
    size = c ? sign_size(*rest) : 0;
    return cut(rest, size ? GX_TOKEN_SIGN : GX_TOKEN_WRONG, size ? size : 1);
}

bool gx_token_is_reserved(gale_str name) {
    static const char *const words[] = { "and",      "break",  "do",   "else", "elseif", "end",  "false", "for",
                                         "function", "goto",   "if",   "in",   "local",  "nil",  "not",   "or",
                                         "repeat",   "return", "then", "true", "until",  "while" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (gx_str_is(name, words[i])) return true;
    return false;
}

bool gx_token_is_name(gale_str name) {
    if (!name.size || !is_letter(name.data[0]) || gx_token_is_reserved(name)) return false;
    for (size_t i = 1; i < name.size; i++)
        if (!is_letter(name.data[i]) && !is_digit(name.data[i])) return false;
    return true;
}
