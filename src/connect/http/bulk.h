/* What Elasticsearch says to `_bulk`: of each document what became of it.
 * Threads: any. Owner: the caller's. */
#ifndef GALE_CONNECT_HTTP_BULK_H
#define GALE_CONNECT_HTTP_BULK_H

#include <gale/base.h>

enum { HTTP_BULK_WHY = 160 };

typedef struct http_bulk_item {
    int64_t status;
    char why[HTTP_BULK_WHY]; /* "mapper_parsing_exception: failed to parse"; empty where there is nothing to say */
} http_bulk_item;

typedef void http_bulk_fn(void *user, size_t index, const http_bulk_item *item);

/* Calls `each` for so many documents, in order; false, and no call, when the answer is not of so many. */
bool http_bulk_read(gale_str answer, size_t count, http_bulk_fn *each, void *user);

#endif
