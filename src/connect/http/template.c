#include "connect/http/template.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* --- Pieces ----------------------------------------------------------------------------------------------------------- */

typedef struct piece {
    gale_str text; /* as it is, or the name of a field */
    bool field, slashes;
} piece;

/* 1: a piece; 0: there are no more; GALE_INVALID: a brace has no other one. */
static int next_piece(const char **at, piece *ret) {
    size_t plain = strcspn(*at, "{}");
    *ret = (piece){ .text = { *at, plain } };
    *at += plain;
    if (plain) return 1;
    if (!**at) return 0;
    const char *end = **at == '{' ? strchr(*at, '}') : NULL;
    if (!end) return GALE_INVALID;
    ret->field = true;
    ret->slashes = (*at)[1] == '+';
    const char *name = *at + 1 + ret->slashes;
    ret->text = (gale_str){ name, (size_t)(end - name) };
    *at = end + 1;
    return ret->text.size && !memchr(name, '{', ret->text.size) ? 1 : GALE_INVALID;
}

static bool is_request(const piece *p) {
    return p->text.size == strlen("request") && memcmp(p->text.data, "request", p->text.size) == 0;
}

/* --- Checking --------------------------------------------------------------------------------------------------------- */

/* Where the host begins; NULL: it is of neither scheme. */
static const char *host_of(const char *url) {
    if (strncasecmp(url, "http://", 7) == 0) return url + 7;
    return strncasecmp(url, "https://", 8) == 0 ? url + 8 : NULL;
}

static int check_host(const char *host, gale_error *error) {
    size_t size = strcspn(host, "/?#");
    if (!size) return gale_error_set(error, GALE_INVALID, "url: it has no host");
    if (memchr(host, '@', size))
        return gale_error_set(error, GALE_INVALID,
                              "url: it has no user and no password: user and passwordFrom say them");
    if (memchr(host, '{', size) || memchr(host, '}', size))
        return gale_error_set(error, GALE_INVALID, "url: fields stand behind the host");
    return 0;
}

static int check_letters(const char *url, gale_error *error) {
    for (; *url; url++)
        if ((unsigned char)*url <= ' ' || (unsigned char)*url >= 0x7f)
            return gale_error_set(error, GALE_INVALID, "url: blanks and letters beyond ASCII are encoded (%%20)");
    return 0;
}

int http_template_check(const char *url, bool *ret_fields, gale_error *error) {
    const char *host = host_of(url), *at = url;
    piece p;
    int rc = 0;
    *ret_fields = false;
    if (!host) return gale_error_set(error, GALE_INVALID, "url: it begins with http:// or https://");
    rc = check_host(host, error);
    if (rc == 0) rc = check_letters(url, error);
    if (rc < 0) return rc;
    while ((rc = next_piece(&at, &p)) > 0)
        if (p.field && !is_request(&p)) *ret_fields = true;
    return rc < 0 ? gale_error_set(error, rc, "url: a field stands in braces: {name}") : 0;
}

/* --- Writing ---------------------------------------------------------------------------------------------------------- */

static bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-._~", c));
}

void http_encode(http_buffer *to, const char *data, size_t size, bool slashes) {
    for (size_t i = 0; i < size; i++) {
        if (is_unreserved(data[i]) || (slashes && data[i] == '/'))
            http_buffer_add(to, data + i, 1);
        else
            http_buffer_format(to, "%%%02X", (unsigned)(unsigned char)data[i]);
    }
}

static bool is_dots(const char *data, size_t size) {
    return (size == 1 && *data == '.') || (size == 2 && data[0] == '.' && data[1] == '.');
}

/* Is a part of it between slashes a way to somewhere else? */
static bool leads_away(const char *data, size_t size) {
    size_t from = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && data[i] != '/') continue;
        if (is_dots(data + from, i - from)) return true;
        from = i + 1;
    }
    return false;
}

static int write_field(const piece *p, const gale_value *value, http_buffer *to, char *why, size_t size) {
    char number[32];
    int length = (int)p->text.size;
    const char *text = value->as.string;
    size_t bytes = value->size;
    if (value->type == GALE_TYPE_I64) {
        bytes = (size_t)snprintf(number, sizeof number, "%" PRId64, value->as.i64);
        text = number;
    } else if (value->type != GALE_TYPE_STRING && value->type != GALE_TYPE_BYTES) {
        snprintf(why, size, "url: field %.*s is no text and no whole number", length, p->text.data);
        return GALE_INVALID;
    }
    if (!bytes || bytes > 1024 || leads_away(text, bytes)) {
        snprintf(why, size, "url: field %.*s is empty, has more than 1,024 bytes, or is '.' or '..'", length,
                 p->text.data);
        return GALE_INVALID;
    }
    http_encode(to, text, bytes, p->slashes);
    return 0;
}

static int write_piece(const piece *p, const gale_tuple *tuple, const char *request, http_buffer *to, char *why,
                       size_t size) {
    char name[128];
    gale_value value;
    if (!p->field) {
        http_buffer_add(to, p->text.data, p->text.size);
        return 0;
    }
    if (is_request(p)) {
        http_buffer_text(to, request);
        return 0;
    }
    snprintf(name, sizeof name, "%.*s", (int)p->text.size, p->text.data);
    if (tuple && gale_tuple_get(tuple, name, &value)) return write_field(p, &value, to, why, size);
    snprintf(why, size, "url: field %s is not there", name);
    return GALE_INVALID;
}

int http_template_write(const char *url, const gale_tuple *tuple, const char *request, http_buffer *to, char *why,
                        size_t size) {
    piece p;
    int rc = 0;
    while (rc == 0 && next_piece(&url, &p) > 0) rc = write_piece(&p, tuple, request, to, why, size);
    return rc;
}

void http_template_show(const char *url, char *to, size_t size) {
    snprintf(to, size, "%.*s", (int)strcspn(url, "?#"), url);
}
