#include "connect/http/charset.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_SHOWN = 40 };

static const char *const read_names[] = { "utf-8", "utf8", "us-ascii", "ascii", "ansi_x3.4-1968" };

/* How the names of charsets begin that are ASCII and 128 characters more. */
static const char *const ascii_and_more[] = { "iso-8859-", "iso8859-",    "iso_8859-", "latin-",
                                              "latin",     "windows-125", "cp125",     "koi8-" };

static bool is_ascii(gale_str body) {
    for (size_t i = 0; i < body.size; i++)
        if ((unsigned char)body.data[i] >= 0x80) return false;
    return true;
}

static bool is_one_of(gale_str word, const char *const *names, size_t count, bool begins) {
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(names[i]);
        if ((begins ? word.size > size : word.size == size) && strncasecmp(word.data, names[i], size) == 0) return true;
    }
    return false;
}

/* A token, or the text between quotes, of which some clients send single ones. `*at` goes behind it, to a ';' or the end. */
static gale_str value_at(const char **at) {
    char quote = **at == '"' || **at == '\'' ? **at : '\0';
    const char *begin = *at + (quote != '\0'), *end = begin;
    while (quote && *end && *end != quote) end += *end == '\\' && end[1] ? 2 : 1;
    if (!quote) end += strcspn(end, "; \t,");
    *at = end + strcspn(end, ";");
    return (gale_str){ begin, (size_t)(end - begin) };
}

/* The first parameter of the name charset; empty where there is none. */
static gale_str charset_of(const char *type) {
    const char *at = type + strcspn(type, ";");
    while (*at == ';') {
        at += 1 + strspn(at + 1, " \t");
        const char *name = at;
        at += strcspn(at, "=;");
        bool is_charset = (size_t)(at - name) == strlen("charset") &&
                          strncasecmp(name, "charset", strlen("charset")) == 0;
        if (*at != '=') continue;
        at++;
        gale_str value = value_at(&at);
        if (is_charset) return value;
    }
    return (gale_str){ "", 0 };
}

bool http_charset_is_read(const char *type, gale_str body, char *why, size_t size) {
    gale_str charset = type ? charset_of(type) : (gale_str){ "", 0 };
    bool extends = is_one_of(charset, ascii_and_more, sizeof ascii_and_more / sizeof *ascii_and_more, true);
    if (!body.size || !charset.size || is_one_of(charset, read_names, sizeof read_names / sizeof *read_names, false))
        return true;
    if (extends && is_ascii(body)) return true;
    snprintf(why, size, "Content-Type: charset '%.*s' is not understood%s; utf-8 is",
             (int)(charset.size < NAME_MAX_SHOWN ? charset.size : NAME_MAX_SHOWN), charset.data,
             extends ? " beyond ASCII" : "");
    return false;
}
