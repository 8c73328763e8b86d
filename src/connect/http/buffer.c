#include "connect/http/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(http_buffer *buffer, size_t more) {
    if (more < buffer->capacity - buffer->size) return true;
    if (more >= SIZE_MAX / 2 - buffer->size) return false;
    size_t capacity = buffer->capacity ? buffer->capacity : 256;
    while (capacity <= buffer->size + more) capacity *= 2;
    char *data = realloc(buffer->data, capacity);
    if (!data) return false;
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

void http_buffer_add(http_buffer *buffer, const void *data, size_t size) {
    if (buffer->failed || !reserve(buffer, size)) {
        buffer->failed = true;
        return;
    }
    if (size) memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    buffer->data[buffer->size] = '\0';
}

void http_buffer_text(http_buffer *buffer, const char *text) {
    http_buffer_add(buffer, text, strlen(text));
}

void http_buffer_format(http_buffer *buffer, const char *format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    int size = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (size < 0 || (size_t)size >= sizeof text)
        buffer->failed = true;
    else
        http_buffer_add(buffer, text, (size_t)size);
}

void http_buffer_cut(http_buffer *buffer, size_t size) {
    if (size > buffer->size) return;
    buffer->size = size;
    if (buffer->data) buffer->data[size] = '\0';
}

void http_buffer_fini(http_buffer *buffer) {
    free(buffer->data);
    *buffer = (http_buffer){ .data = NULL };
}
