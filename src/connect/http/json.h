/* Values as JSON: as gale.bolt.Format writes them. Bytes are {"base64": "..."}, NaN and infinities null.
 * Threads: any. */
#ifndef GALE_CONNECT_HTTP_JSON_H
#define GALE_CONNECT_HTTP_JSON_H

#include "connect/http/buffer.h"

#include <gale/tuple.h>

void http_json_string(http_buffer *to, const char *text, size_t size);
void http_json_value(http_buffer *to, const gale_value *value);

/* An object of all its fields. */
void http_json_tuple(http_buffer *to, const gale_tuple *tuple);

#endif
