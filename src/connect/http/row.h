/* What a spout emits of a request: the fields that `emit` names, in its order.
 *
 *      body           text, or bytes where it is not UTF-8; with `format: lines` one line of it
 *      method, path   text; the path as it came, without the query
 *      query          what stands behind the '?', as it came; null where there is none
 *      headers        a map of names, in small letters, and what they say; of two of one name the last; without Authorization
 *      remote         the address of the client, or of the proxy before it
 *      time           milliseconds since 1970, when it had come as a whole
 *      key            what Idempotency-Key says; null where there is none
 */
#ifndef GALE_CONNECT_HTTP_ROW_H
#define GALE_CONNECT_HTTP_ROW_H

#include "connect/http/server.h"
#include "head/head.h"

#include <gale/connect.h>
#include <gale/value.h>

enum { HTTP_ROW_MAX = 8, HTTP_HEADERS_MAX = 128 };

typedef gale_names http_row;

/* Of names with commas between them. GALE_INVALID with a sentence. */
int http_row_parse(const char *text, http_row *row, gale_error *error);

/* Room for the values of one request; borrowed from the request, and from here. */
typedef struct http_values {
    gale_value list[HTTP_ROW_MAX];
    gale_value headers[2 * HTTP_HEADERS_MAX];
    char names[HEAD_MAX];
    char remote[64];
    size_t size; /* about so many bytes, but for the body's */
} http_values;

/* All but the body. GALE_TOO_LARGE: it has more headers than HTTP_HEADERS_MAX. */
int http_row_values(const http_row *row, const http_request *request, http_values *values);

/* Puts the body, or a line of it, where it belongs. */
void http_row_body(const http_row *row, gale_str body, http_values *values);

#endif
