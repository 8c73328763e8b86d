/* What a tuple is in a body: a document of JSON, a line of `_bulk` with its document, or bytes as they are.
 *
 *      json    the document alone
 *      lines   document \n document \n
 *      array   [document,document]
 *      bulk    action \n document \n, as Elasticsearch's _bulk takes it
 *      raw     the bytes; those of several tuples with an end of line between them
 *
 * Threads: any. Owner: nothing is kept. */
#ifndef GALE_CONNECT_HTTP_DOCUMENT_H
#define GALE_CONNECT_HTTP_DOCUMENT_H

#include "connect/http/buffer.h"

#include <gale/tuple.h>

typedef enum http_format { HTTP_JSON, HTTP_LINES, HTTP_ARRAY, HTTP_BULK, HTTP_RAW } http_format;

typedef struct http_document {
    http_format format;
    char *body;  /* the field that is the document; NULL: an object of all */
    char *index; /* of bulk; NULL: the address says it */
    char *id;    /* of bulk: a field; NULL: Elasticsearch makes one */
} http_document;

/* "application/json" and so on. */
const char *http_document_type(http_format format);

/* Of a name as `format` has it in a file. */
http_format http_document_format(const char *name);

/* Adds what the tuple is. GALE_INVALID with a sentence in `why`, GALE_NO_MEMORY: nothing was added. */
int http_document_write(const http_document *document, const gale_tuple *tuple, http_buffer *to, char *why,
                        size_t size);

#endif
