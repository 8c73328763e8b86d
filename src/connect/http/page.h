/* An answer that is taken apart: its rows one after the other, so that no more of them are made than there is room for.
 *
 *      body     the whole answer
 *      lines    each line that is not empty
 *      array    each element of an array of JSON, as it stands there, without blanks; it may stand deeper ("data.events").
 *               An element that is not JSON is a row as well: who reads it refuses it, and its neighbours go on
 *
 * What:    an empty answer has no rows, in every format. Lines and JSON are text: a byte order mark is skipped,
 * packed bytes are refused.
 * Threads: the task's. Owner: http_page_fini; zero is one without rows. */
#ifndef GALE_CONNECT_HTTP_PAGE_H
#define GALE_CONNECT_HTTP_PAGE_H

#include "connect/http/buffer.h"

#include <gale/error.h>
#include <gale/json.h>

typedef enum http_page_format { HTTP_PAGE_BODY, HTTP_PAGE_LINES, HTTP_PAGE_ARRAY } http_page_format;

typedef struct http_page {
    http_page_format format;
    http_buffer body;
    gale_json_item item; /* of array: the one that was found last */
    size_t next;         /* the row, or where the line begins */
    char *element;       /* that was made last */
    bool open;           /* it has rows still, perhaps */
} http_page;

/* Takes the body, which is empty then, and finds its rows; `items` and `cursor` are ways in JSON, or NULL. `*ret_cursor` is the caller's: what stands there,
 * NULL where nothing does. GALE_INVALID with a sentence in `why`: there is no such thing in it. */
int http_page_open(http_page *page, http_page_format format, http_buffer *body, const char *items, const char *cursor,
                   char **ret_cursor, char *why, size_t size);

/* The next row, good until the next call; false: there are no more. GALE_NO_MEMORY ends it, too. */
bool http_page_next(http_page *page, gale_str *ret_row);

void http_page_fini(http_page *page);

#endif
