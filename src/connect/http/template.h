/* Addresses with fields in them: "https://host/things/{id}". The value of a field stands there with all but letters, digits and -._~ encoded; {+path} keeps its
 * slashes; {request} is the request's own name, which its Idempotency-Key has, too.
 * Threads: any. Owner: nothing is kept. */
#ifndef GALE_CONNECT_HTTP_TEMPLATE_H
#define GALE_CONNECT_HTTP_TEMPLATE_H

#include "connect/http/buffer.h"

#include <gale/tuple.h>

/* The name of a request, and how many bytes it has at the most. */
enum { HTTP_REQUEST_NAME = 64 };

/* Is it an address of http or https, without a password in it, and do its fields stand behind the host? `*ret_fields` says whether it has some, but
 * for {request}. GALE_INVALID with a sentence. */
int http_template_check(const char *url, bool *ret_fields, gale_error *error);

/* GALE_INVALID with a sentence in `why`: of this tuple no address can be made. */
int http_template_write(const char *url, const gale_tuple *tuple, const char *request, http_buffer *to, char *why,
                        size_t size);

/* What may be told of an address: without query. */
void http_template_show(const char *url, char *to, size_t size);

/* Adds the bytes with all but letters, digits and -._~ (and '/', where `slashes`) encoded. */
void http_encode(http_buffer *to, const char *data, size_t size, bool slashes);

#endif
