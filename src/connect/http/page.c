#include "connect/http/page.h"

#include "connect/http/parse.h"

#include <gale/connect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- An answer -------------------------------------------------------------------------------------------------------- */

static int refuse(char *why, size_t size, const char *what, const char *way) {
    snprintf(why, size, "%s%s%s", what, way ? " at " : "", way ? way : "");
    return GALE_INVALID;
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Its brackets belong together, to its end. */
static bool is_whole(gale_str json) {
    gale_json_item item = GALE_JSON_FIRST(json);
    while (gale_json_next(&item)) continue;
    return gale_json_kind_of(json) != GALE_JSON_NONE && !item.broken;
}

/* A text, or a whole number; NULL for anything else. */
static char *cursor_of(gale_str json) {
    int64_t number;
    bool is_one = gale_json_kind_of(json) == GALE_JSON_STRING || gale_json_whole(json, &number);
    char *text = is_one ? malloc(json.size + 1) : NULL;
    if (text && gale_json_text(json, text, json.size + 1) >= 0) return text;
    free(text);
    return NULL;
}

static int open_json(http_page *page, gale_str json, const char *items, const char *cursor, char **ret_cursor,
                     char *why, size_t size) {
    gale_str found, list;
    while (json.size && is_space(*json.data)) json.data++, json.size--;
    if (!is_whole(json)) return refuse(why, size, "the answer is not JSON", NULL);
    bool is_array = page->format != HTTP_PAGE_ARRAY ||
                    (gale_json_get(json, items ? items : "", &list) && gale_json_kind_of(list) == GALE_JSON_LIST);
    if (!is_array) return refuse(why, size, "the answer has no array", items);
    if (page->format == HTTP_PAGE_ARRAY && !is_whole(list)) return refuse(why, size, "the answer is not JSON", NULL);
    if (cursor && gale_json_get(json, cursor, &found)) *ret_cursor = cursor_of(found);
    if (page->format == HTTP_PAGE_ARRAY) page->item = (gale_json_item)GALE_JSON_FIRST(list);
    return 0;
}

static bool is_blank(gale_str text) {
    while (text.size && is_space(text.data[text.size - 1])) text.size--;
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

/* Without the blanks between its parts. */
static size_t pack(gale_str json, char *to) {
    bool inside = false;
    size_t size = 0;
    for (size_t i = 0; i < json.size; i++) {
        char c = json.data[i];
        if (!inside && is_space(c)) continue;
        to[size++] = c;
        if (inside && c == '\\') to[size++] = json.data[++i];
        if (c == '"') inside = !inside;
    }
    return size;
}

static bool next_element(http_page *page, gale_str *ret_row) {
    do
        if (!gale_json_next(&page->item)) return false;
    while (page->item.index < page->next);
    gale_str json = page->item.value;
    page->next++;
    *ret_row = json;
    if (gale_json_check(json, NULL, NULL) < 0) return true;
    free(page->element);
    page->element = malloc(json.size);
    if (!page->element) return false;
    *ret_row = (gale_str){ page->element, pack(json, page->element) };
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
    free(page->element);
    http_buffer_fini(&page->body);
    *page = (http_page){ .element = NULL };
}
