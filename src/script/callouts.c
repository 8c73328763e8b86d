#include "script/callouts.h"

#include <string.h>

/* A reading of a pattern by recursive descent. */
typedef struct reading {
    gale_str pattern;
    size_t at;
    uint32_t run;                        /* items since the last callout */
    bool marks[GX_CALLOUTS_PATTERN + 1]; /* a callout stands before this byte */
} reading;

static char peek(const reading *r, size_t ahead) {
    return r->at + ahead < r->pattern.size ? r->pattern.data[r->at + ahead] : 0;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

static void mark(reading *r, size_t at) {
    r->marks[at] = true;
    r->run = 0;
}

/* --- Items --- */

static bool is_hex(char c) {
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* Behind a backslash: the size of an escape that stands for one character, or 0. */
static size_t escape_size(const reading *r) {
    static const char kinds[] = "dDwWsShHvVtnrfea";
    char c = peek(r, 1);
    if (c == 'x' && is_hex(peek(r, 2)) && is_hex(peek(r, 3))) return 4;
    if (c > ' ' && c < 0x7f && !is_digit(c) && !is_letter(c)) return 2;
    return c && strchr(kinds, c) ? 2 : 0;
}

static bool take_class(reading *r) {
    r->at += 1u + (peek(r, 1) == '^');
    for (bool first = true; peek(r, 0) != ']' || first; first = false) {
        if (r->at >= r->pattern.size) return false;
        char c = peek(r, 0), next = peek(r, 1);
        if (c == '[' && (next == ':' || next == '.' || next == '=')) return false;
        size_t size = c == '\\' ? escape_size(r) : 1;
        if (!size) return false;
        r->at += size;
    }
    r->at++;
    return true;
}

/* One character, with the bytes that are of it. */
static bool take_character(reading *r) {
    r->at++;
    while ((peek(r, 0) & 0xc0) == 0x80) r->at++;
    return true;
}

static bool take_escape(reading *r) {
    size_t size = escape_size(r);
    r->at += size;
    return size > 0;
}

/* Does something stand here that takes no character? It is passed. */
static bool take_anchor(reading *r) {
    static const char anchors[] = "bBAzZ";
    char c = peek(r, 0);
    bool is_escape = c == '\\' && peek(r, 1) && strchr(anchors, peek(r, 1));
    if (c != '^' && c != '$' && !is_escape) return false;
    r->at += 1u + is_escape;
    return true;
}

static bool is_repeat(const reading *r) {
    char c = peek(r, 0);
    return c == '*' || c == '+' || c == '?' || (c == '{' && is_digit(peek(r, 1)));
}

/* "{2}", "{2,}", "{2,5}"; `*ret_varies`: not always as often. */
static bool take_braces(reading *r, bool *ret_varies) {
    r->at++;
    while (is_digit(peek(r, 0))) r->at++;
    *ret_varies = peek(r, 0) == ',';
    r->at += *ret_varies;
    while (is_digit(peek(r, 0))) r->at++;
    return r->at++ < r->pattern.size && r->pattern.data[r->at - 1] == '}';
}

/* A repeat, if there is one. Behind one that may go another way stands a callout. */
static bool take_repeat(reading *r, bool *ret_repeated) {
    bool varies = true;
    *ret_repeated = is_repeat(r);
    if (!*ret_repeated) return true;
    if (peek(r, 0) == '{') {
        if (!take_braces(r, &varies)) return false;
    } else {
        r->at++;
    }
    if (peek(r, 0) == '?' || peek(r, 0) == '+') r->at++;
    if (varies) mark(r, r->at);
    return true;
}

/* --- Groups --- */

static bool take_alternatives(reading *r, bool *ret_several);

/* Behind "(?": ":", "<name>", "P<name>" or "'name'". */
static bool take_head(reading *r) {
    if (peek(r, 0) == ':') {
        r->at++;
        return true;
    }
    if (peek(r, 0) == 'P') r->at++;
    char close = peek(r, 0) == '<' ? '>' : peek(r, 0) == '\'' ? '\'' : 0;
    if (!close || !is_letter(peek(r, 1))) return false;
    for (r->at++; peek(r, 0) && peek(r, 0) != close;) r->at++;
    r->at++;
    return r->at <= r->pattern.size;
}

/* "(?im)": nothing but letters that leave the grammar alone. */
static bool take_options(reading *r) {
    size_t at = 2;
    while (peek(r, at) == 'i' || peek(r, at) == 'm' || peek(r, at) == 's') at++;
    if (at == 2 || peek(r, at) != ')') return false;
    r->at += at + 1;
    return true;
}

static bool take_group(reading *r) {
    bool is_named = peek(r, 1) == '?', several, repeated;
    if (peek(r, 1) == '*') return false;
    if (is_named && take_options(r)) return true;
    r->at += 1u + is_named;
    if (is_named && !take_head(r)) return false;
    size_t body = r->at;
    if (!take_alternatives(r, &several) || peek(r, 0) != ')') return false;
    r->at++;
    if (!take_repeat(r, &repeated)) return false;
    if (repeated || several) r->marks[body] = true;
    return true;
}

static bool take_item(reading *r) {
    bool repeated;
    char c = peek(r, 0);
    if (take_anchor(r)) return !is_repeat(r);
    if (c == '(') return take_group(r);
    if (c == '{' && (peek(r, 1) == ',' || peek(r, 1) == ' ' || peek(r, 1) == '\t'))
        return false; /* a repeat, since 10.43 */
    if (!c || c == ')' || c == '|' || is_repeat(r)) return false;
    bool taken = c == '\\' ? take_escape(r) : c == '[' ? take_class(r) : take_character(r);
    return taken && take_repeat(r, &repeated);
}

/* Up to the end, or to a closing parenthesis. `*ret_several`: there is more than one, and each begins with a
 * callout. */
static bool take_alternatives(reading *r, bool *ret_several) {
    size_t first = r->at;
    *ret_several = false;
    while (r->at < r->pattern.size && peek(r, 0) != ')') {
        if (peek(r, 0) == '|') {
            *ret_several = true;
            mark(r, ++r->at);
            continue;
        }
        if (r->run++ >= GX_CALLOUTS_RUN) mark(r, r->at);
        if (!take_item(r)) return false;
    }
    if (*ret_several) r->marks[first] = true;
    return true;
}

bool gx_callouts_place(gale_str pattern, gx_buf *to) {
    reading r = { .pattern = pattern };
    bool several;
    if (pattern.size > GX_CALLOUTS_PATTERN || memchr(pattern.data, 0, pattern.size)) return false;
    mark(&r, 0);
    if (!take_alternatives(&r, &several) || r.at < pattern.size) return false;
    for (size_t i = 0; i <= pattern.size; i++) {
        if (r.marks[i]) gx_buf_add_text(to, "(?C)");
        if (i < pattern.size) gx_buf_add_byte(to, pattern.data[i]);
    }
    return true;
}
