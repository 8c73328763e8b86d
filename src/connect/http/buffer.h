/* Bytes that grow: bodies, answers, texts that are made. A NUL stands behind them, which is not counted.
 * Threads: any, one at a time. Owner: http_buffer_fini frees; zero is an empty one. What failed for memory says so, and stays as it was. */
#ifndef GALE_CONNECT_HTTP_BUFFER_H
#define GALE_CONNECT_HTTP_BUFFER_H

#include <gale/base.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct http_buffer {
    char *data;
    size_t size, capacity;
    bool failed;
} http_buffer;

void http_buffer_add(http_buffer *buffer, const void *data, size_t size);
void http_buffer_text(http_buffer *buffer, const char *text);
void http_buffer_format(http_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Forgets what is behind `size`; the memory stays. */
void http_buffer_cut(http_buffer *buffer, size_t size);
void http_buffer_fini(http_buffer *buffer);

#endif
