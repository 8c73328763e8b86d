#include "front/properties.h"

#include "base/encoding.h"
#include "base/os/file.h"
#include "base/str.h"
#include "base/utf8.h"

#include <stdlib.h>

typedef struct scan {
    const char *name;
    const char *at, *end, *line_start;
    size_t line;
    char *out; /* the next free byte of the properties' own text */
    gale_error *error;
} scan;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\f';
}

static bool is_end(char c) {
    return c == '\n' || c == '\r';
}

static void next_line(scan *s) {
    if (s->at < s->end && *s->at == '\r') s->at++;
    if (s->at < s->end && *s->at == '\n') s->at++;
    s->line++;
    s->line_start = s->at;
}

static void skip_blanks(scan *s) {
    while (s->at < s->end && is_blank(*s->at)) s->at++;
}

/* Up to what begins a property; false at the end of all. */
static bool find_property(scan *s) {
    while (s->at < s->end) {
        skip_blanks(s);
        if (s->at == s->end) return false;
        bool comment = *s->at == '#' || *s->at == '!';
        if (!comment && !is_end(*s->at)) return true;
        while (s->at < s->end && !is_end(*s->at)) s->at++;
        if (s->at < s->end) next_line(s);
    }
    return false;
}

static int refuse(const scan *s, const char *what) {
    return gale_error_set(s->error, GALE_SYNTAX, "%s:%zu:%zu: %s", s->name, s->line,
                          (size_t)(s->at - s->line_start) + 1, what);
}

static int hex_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* At \uXXXX, behind the u. What is half of a pair is no character, and refused. */
static int take_unicode(scan *s) {
    unsigned code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = s->at < s->end ? hex_of(*s->at) : -1;
        if (digit < 0) return refuse(s, "\\u needs four hexadecimal digits");
        code = code * 16 + (unsigned)digit;
        s->at++;
    }
    if (code == 0 || (code >= 0xd800 && code < 0xe000)) return refuse(s, "this \\u is no character");
    s->out += gx_utf8_put(s->out, code);
    return 0;
}

/* Behind a backslash. */
static int take_escape(scan *s) {
    static const char letters[] = "tnrf", meant[] = "\t\n\r\f";
    if (s->at == s->end) return 0;
    char c = *s->at;
    if (is_end(c)) {
        next_line(s);
        skip_blanks(s);
        return 0;
    }
    s->at++;
    if (c == 'u') return take_unicode(s);
    const char *letter = strchr(letters, c);
    *s->out++ = letter ? meant[letter - letters] : c;
    return 0;
}

/* Up to a line's end; of a name, also up to what ends it. */
static int take_text(scan *s, bool name, gale_str *ret_text) {
    char *start = s->out;
    while (s->at < s->end && !is_end(*s->at)) {
        char c = *s->at;
        if (name && (is_blank(c) || c == '=' || c == ':')) break;
        s->at++;
        if (c != '\\') {
            *s->out++ = c;
            continue;
        }
        int rc = take_escape(s);
        if (rc < 0) return rc;
    }
    *ret_text = (gale_str){ start, (size_t)(s->out - start) };
    *s->out++ = 0;
    return 0;
}

static int take_property(scan *s, gx_property *ret_property) {
    int rc = take_text(s, true, &ret_property->name);
    if (rc < 0) return rc;
    skip_blanks(s);
    if (s->at < s->end && (*s->at == '=' || *s->at == ':')) s->at++;
    skip_blanks(s);
    rc = take_text(s, false, &ret_property->value);
    if (s->at < s->end) next_line(s);
    return rc;
}

static int fill(scan *s, gx_properties *properties) {
    while (find_property(s)) {
        int rc = take_property(s, &properties->list[properties->count]);
        if (rc < 0) return rc;
        properties->count++;
    }
    return 0;
}

int gx_properties_parse(const char *name, gale_str text, gx_properties *ret_properties, gale_error *error) {
    if (text.size > GX_PROPERTIES_BYTES)
        return gale_error_set(error, GALE_TOO_LARGE, "%s: larger than %d MiB", name, GX_PROPERTIES_BYTES >> 20);
    if (gx_encoding_read(name, &text, error) < 0) return GALE_SYNTAX;
    if (!gx_utf8_valid(text.data, text.size) || memchr(text.data ? text.data : "", 0, text.size))
        return gale_error_set(error, GALE_SYNTAX, "%s: this is not UTF-8 text", name);
    size_t lines = 1;
    for (size_t i = 0; i < text.size; i++) lines += is_end(text.data[i]);
    gx_properties made = { calloc(lines, sizeof *made.list), 0, malloc(text.size + 2 * lines + 2) };
    scan s = { name, text.data, text.data + text.size, text.data, 1, made.text, error };
    int rc = made.list && made.text ? fill(&s, &made)
                                    : gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", name);
    if (rc < 0)
        gx_properties_fini(&made);
    else
        *ret_properties = made;
    return rc;
}

int gx_properties_load(const char *path, gx_properties *ret_properties, gale_error *error) {
    char *bytes;
    size_t size;
    int rc = gx_file_read_all(path, GX_PROPERTIES_BYTES, &bytes, &size, error);
    if (rc < 0) return rc;
    rc = gx_properties_parse(path, (gale_str){ bytes, size }, ret_properties, error);
    free(bytes);
    return rc;
}

const gale_str *gx_properties_get(const gx_properties *properties, gale_str name) {
    for (size_t i = properties->count; i > 0; i--)
        if (gx_str_equal(properties->list[i - 1].name, name)) return &properties->list[i - 1].value;
    return NULL;
}

void gx_properties_fini(gx_properties *properties) {
    free(properties->list);
    free(properties->text);
    *properties = (gx_properties){ .count = 0 };
}
