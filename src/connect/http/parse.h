/* What the connector reads of bytes that others have sent, and of what a file says: nothing here has a state, or waits.
 * Threads: any. Owner: texts that are returned lie in what was given. */
#ifndef GALE_CONNECT_HTTP_PARSE_H
#define GALE_CONNECT_HTTP_PARSE_H

#include <gale/error.h>
#include <gale/value.h>

enum { HTTP_HOST_MAX = 255 };

/* Where to listen: "host:port", "[::1]:port", ":port" (all addresses of the machine: `host` is empty), or "port" (this machine alone).
 * GALE_INVALID with a sentence. */
typedef struct http_address {
    char host[HTTP_HOST_MAX + 1];
    uint16_t port;
} http_address;

int http_address_read(const char *text, http_address *address, gale_error *error);

/* The next line that is not empty, without its end (\n or \r\n); the last one needs none, or has \r alone. `*rest`
 * goes behind it. False: there is none. */
bool http_next_line(gale_str *rest, gale_str *ret_line);

/* The parts of a request's target, as they came: the path, and the query behind the first '?', which may be empty. */
void http_target_cut(gale_str target, gale_str *ret_path, gale_str *ret_query);

/* Is the path `base`, or below it? "/in" and "/in/x" are of "/in", "/inner" is not; all is of "/". */
bool http_path_is_of(gale_str path, const char *base);

/* Does a header `Authorization` have this token ("Bearer TOKEN")? How long it takes tells the length of the token alone. */
bool http_bearer_is(const char *header, const char *token);

/* What `Retry-After` says: seconds from `now` (since 1970) on, of a number or a date (RFC 9110: "Sun, 06 Nov 1994 08:49:37 GMT"); -1 when it says neither.
 * What has passed is 0. */
int64_t http_retry_after(gale_str text, int64_t now);

#endif
