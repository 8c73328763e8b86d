/* Unpacks bodies of requests as their Content-Encoding says (RFC 9110, 8.4), within a bound.
 *
 * What:    gzip (also of several members), x-gzip, deflate (with zlib's head, or bare, as some clients send it) and
 *          identity, and lists of them. Memory is bounded by what the bodies come to, never by what they promise.
 * Threads: any. Owner: http_buffer_fini frees what was made. */
#ifndef GALE_CONNECT_HTTP_UNPACK_H
#define GALE_CONNECT_HTTP_UNPACK_H

#include "connect/http/buffer.h"

#include <gale/error.h>
#include <gale/value.h>

#define HTTP_CODINGS "gzip, deflate"

enum { HTTP_CODINGS_MAX = 4 };

typedef enum http_coding { HTTP_GZIP, HTTP_DEFLATE } http_coding;

typedef struct http_codings {
    http_coding list[HTTP_CODINGS_MAX]; /* in the order in which they were applied */
    size_t count;
} http_codings;

/* Adds those of one header `Content-Encoding`. GALE_UNSUPPORTED with the first name that is not understood,
 * GALE_TOO_LARGE for more than HTTP_CODINGS_MAX: `why` says so. */
int http_codings_add(http_codings *codings, const char *header, char *why, size_t size);

/* Unpacks all of it to a buffer that begins empty, of at most `most` bytes. An empty body stays empty.
 * GALE_TOO_LARGE; GALE_DAMAGED: it is not that, is cut off, or has something behind it; GALE_NO_MEMORY. Then the
 * buffer is empty. */
int http_unpack(const http_codings *codings, gale_str packed, size_t most, http_buffer *to);

/* The same in place: `body` is unpacked, or unchanged where that fails. */
int http_unpack_body(const http_codings *codings, size_t most, http_buffer *body);

#endif
