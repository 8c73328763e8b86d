#include "connect/http/page.h"

#include "connect/http/parse.h"

#include <gale/connect.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Ways in JSON ----------------------------------------------------------------------------------------------------- */

/* "data.events"; NULL: there is no such thing. */
static json_t *follow(json_t *json, const char *way) {
    while (json && way && *way) {
        size_t size = strcspn(way, ".");
        char name[256];
        if (size >= sizeof name) return NULL;
        memcpy(name, way, size);
        name[size] = '\0';
        json = json_object_get(json, name);
        way += size + (way[size] == '.');
    }
    return json;
}

/* A text, or a whole number; NULL for anything else. */
static char *text_of(const json_t *json) {
    char number[32];
    if (json_is_string(json)) return strdup(json_string_value(json));
    if (!json_is_integer(json)) return NULL;
    snprintf(number, sizeof number, "%" PRId64, (int64_t)json_integer_value(json));
    return strdup(number);
}

/* --- An answer -------------------------------------------------------------------------------------------------------- */

static int refuse(char *why, size_t size, const char *what, const char *way) {
    snprintf(why, size, "%s%s%s", what, way ? " at " : "", way ? way : "");
    return GALE_INVALID;
}

static int open_json(http_page *page, gale_str body, const char *items, const char *cursor, char **ret_cursor,
                     char *why, size_t size) {
    json_t *json = json_loadb(body.data, body.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (!json) return refuse(why, size, "the answer is not JSON", NULL);
    page->json = json;
    if (page->format == HTTP_PAGE_ARRAY && !json_is_array(follow(json, items)))
        return refuse(why, size, "the answer has no array", items);
    if (cursor) *ret_cursor = text_of(follow(json, cursor));
    if (page->format != HTTP_PAGE_ARRAY) {
        json_decref(json);
        page->json = NULL;
        return 0;
    }
    page->json = json_incref(follow(json, items));
    json_decref(json);
    return 0;
}

static bool is_blank(gale_str text) {
    while (text.size && strchr(" \t\r\n", text.data[text.size - 1])) text.size--;
    return text.size == 0;
}

/* An answer that is read as text: behind a byte order mark, and not packed. One that has nothing has no rows. */
static int open_text(http_page *page, const char *items, const char *cursor, char **ret_cursor, char *why,
                     size_t size) {
    gale_str body = { page->body.data ? page->body.data : "", page->body.size };
    const char *foreign = gale_foreign_encoding(body.data, body.size);
    size_t mark = gale_byte_order_mark(body.data, body.size);
    if (foreign) {
        snprintf(why, size, "the answer is %s, and its headers do not say so", foreign);
        return GALE_INVALID;
    }
    body = (gale_str){ body.data + mark, body.size - mark };
    bool lines = page->format == HTTP_PAGE_LINES;
    if (!lines && !is_blank(body)) return open_json(page, body, items, cursor, ret_cursor, why, size);
    page->format = HTTP_PAGE_LINES;
    page->next = lines ? mark : page->body.size;
    return 0;
}

int http_page_open(http_page *page, http_page_format format, http_buffer *body, const char *items, const char *cursor,
                   char **ret_cursor, char *why, size_t size) {
    http_page_fini(page);
    *page = (http_page){ .format = format, .body = *body };
    *body = (http_buffer){ .data = NULL };
    *ret_cursor = NULL;
    bool text = format != HTTP_PAGE_BODY || cursor;
    int rc = text ? open_text(page, items, cursor, ret_cursor, why, size) : 0;
    page->open = rc == 0;
    if (rc < 0) http_page_fini(page);
    return rc;
}

static bool next_element(http_page *page, gale_str *ret_row) {
    const json_t *element = json_array_get(page->json, page->next);
    free(page->element);
    page->element = element ? json_dumps(element, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    if (!page->element) return false;
    page->next++;
    *ret_row = (gale_str){ page->element, strlen(page->element) };
    return true;
}

static bool next_line(http_page *page, gale_str *ret_row) {
    gale_str rest = { page->body.data ? page->body.data + page->next : "", page->body.size - page->next };
    bool is = http_next_line(&rest, ret_row);
    page->next = page->body.size - rest.size;
    return is;
}

static bool next_row(http_page *page, gale_str *ret_row) {
    if (page->format == HTTP_PAGE_ARRAY) return next_element(page, ret_row);
    if (page->format == HTTP_PAGE_LINES) return next_line(page, ret_row);
    *ret_row = (gale_str){ page->body.data ? page->body.data : "", page->body.size };
    return page->next++ == 0 && page->body.size;
}

bool http_page_next(http_page *page, gale_str *ret_row) {
    if (page->open && next_row(page, ret_row)) return true;
    http_page_fini(page);
    return false;
}

void http_page_fini(http_page *page) {
    json_decref(page->json);
    free(page->element);
    http_buffer_fini(&page->body);
    *page = (http_page){ .json = NULL };
}
