#include "connect/http/row.h"

#include "connect/http/parse.h"

#include <gale/clock.h>

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { BODY, METHOD, PATH, QUERY, HEADERS, REMOTE, TIME, KEY };
static const char *const names[] = { "body", "method", "path", "query", "headers", "remote", "time", "key", NULL };

int http_row_parse(const char *text, http_row *row, gale_error *error) {
    return gale_names_read("emit", text, "a request", names, row, error);
}

/* --- Values ----------------------------------------------------------------------------------------------------------- */

typedef struct gathering {
    http_values *values;
    size_t count, used;
    bool too_many;
} gathering;

/* The name in small letters; NULL when there is no more room. */
static char *small_letters(gathering *g, const char *name) {
    size_t size = strlen(name) + 1;
    if (size > sizeof g->values->names - g->used) return NULL;
    char *to = g->values->names + g->used;
    for (size_t i = 0; i < size; i++) to[i] = (char)tolower((unsigned char)name[i]);
    g->used += size;
    return to;
}

/* Replaces what an earlier header of that name had. */
static void put(gathering *g, gale_value key, gale_value value) {
    gale_value *pairs = g->values->headers;
    for (size_t i = 0; i < g->count; i++) {
        if (!gale_value_equal(&pairs[2 * i], &key)) continue;
        pairs[2 * i + 1] = value;
        return;
    }
    pairs[2 * g->count] = key;
    pairs[2 * g->count + 1] = value;
    g->count++;
}

static void take_header(void *user, const char *name, const char *value) {
    gathering *g = user;
    if (strcasecmp(name, "Authorization") == 0 || !gale_utf8_valid(name, strlen(name))) return;
    char *key = g->count < HTTP_HEADERS_MAX ? small_letters(g, name) : NULL;
    if (!key) {
        g->too_many = true;
        return;
    }
    put(g, gale_text(key), gale_text_or_bytes(value, strlen(value)));
    g->values->size += strlen(name) + strlen(value) + 32;
}

static int headers_of(const http_request *request, http_values *values, gale_value *ret_map) {
    gathering g = { .values = values };
    http_request_headers(request, take_header, &g);
    *ret_map = gale_map(values->headers, g.count);
    return g.too_many ? GALE_TOO_LARGE : 0;
}

static gale_value now(void) {
    gale_clock wall = gale_clock_wall();
    return gale_i64(wall.now(wall.user) / GALE_MILLISECOND);
}

static gale_value text_or_null(const char *text) {
    return text ? gale_text_or_bytes(text, strlen(text)) : gale_null();
}

int http_row_values(const http_row *row, const http_request *request, http_values *values) {
    int rc = 0;
    gale_str path, query;
    http_target_cut(http_request_target(request), &path, &query);
    values->size = path.size + query.size;
    for (size_t i = 0; rc == 0 && i < row->count; i++) {
        gale_value *value = &values->list[i];
        switch (row->places[i]) {
        case BODY: *value = gale_null(); break;
        case METHOD: *value = gale_text(http_request_method(request)); break;
        case PATH: *value = gale_text_or_bytes(path.data, path.size); break;
        case QUERY: *value = query.size ? gale_text_or_bytes(query.data, query.size) : gale_null(); break;
        case HEADERS: rc = headers_of(request, values, value); break;
        case REMOTE:
            http_request_remote(request, values->remote, sizeof values->remote);
            *value = gale_text(values->remote);
            break;
        case TIME: *value = now(); break;
        default: *value = text_or_null(http_request_header(request, "Idempotency-Key"));
        }
    }
    return rc;
}

void http_row_body(const http_row *row, gale_str body, http_values *values) {
    for (size_t i = 0; i < row->count; i++)
        if (row->places[i] == BODY) values->list[i] = gale_text_or_bytes(body.data, body.size);
}
