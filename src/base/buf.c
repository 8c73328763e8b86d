#include "base/buf.h"

#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grow(gx_buf *buf, size_t capacity) {
    if (!buf->heap) return realloc(buf->data, capacity);
    char *data = gx_alloc(buf->heap, GX_TAG_OTHER, capacity);
    if (!data) return NULL;
    if (buf->size) memcpy(data, buf->data, buf->size);
    gx_free(buf->heap, GX_TAG_OTHER, buf->data, buf->capacity);
    return data;
}

void gx_buf_fini(gx_buf *buf) {
    if (buf->heap)
        gx_free(buf->heap, GX_TAG_OTHER, buf->data, buf->capacity);
    else
        free(buf->data);
    *buf = (gx_buf)GX_BUF_INIT(buf->heap);
}

bool gx_buf_reserve(gx_buf *buf, size_t more) {
    if (buf->failed || more > SIZE_MAX / 4) return !(buf->failed = true);
    size_t needed = buf->size + more + 1;
    if (needed <= buf->capacity) return true;
    size_t capacity = buf->capacity ? buf->capacity * 2 : 64;
    while (capacity < needed) capacity *= 2;
    char *data = grow(buf, capacity);
    if (!data) return !(buf->failed = true);
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

void gx_buf_add(gx_buf *buf, const void *bytes, size_t size) {
    if (!gx_buf_reserve(buf, size)) return;
    if (size) memcpy(buf->data + buf->size, bytes, size);
    buf->size += size;
}

void gx_buf_add_text(gx_buf *buf, const char *text) {
    gx_buf_add(buf, text, strlen(text));
}

void gx_buf_add_byte(gx_buf *buf, char byte) {
    gx_buf_add(buf, &byte, 1);
}

/* Decimal digits; printf takes ten times as long. */
void gx_buf_add_u64(gx_buf *buf, uint64_t number) {
    if (gx_buf_reserve(buf, 20)) buf->size += gx_number_write_count(buf->data + buf->size, number);
}

void gx_buf_add_i64(gx_buf *buf, int64_t number) {
    if (gx_buf_reserve(buf, 20)) buf->size += gx_number_write_whole(buf->data + buf->size, number);
}

void gx_buf_add_f64(gx_buf *buf, double number) {
    if (gx_buf_reserve(buf, GX_NUMBER_TEXT)) buf->size += gx_number_write_float(buf->data + buf->size, number);
}

void gx_buf_format(gx_buf *buf, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (size < 0)
        buf->failed = true;
    else if (gx_buf_reserve(buf, (size_t)size)) {
        vsnprintf(buf->data + buf->size, (size_t)size + 1, format, again);
        buf->size += (size_t)size;
    }
    va_end(again);
}

const char *gx_buf_text(gx_buf *buf) {
    if (!gx_buf_reserve(buf, 0)) return NULL;
    buf->data[buf->size] = 0;
    return buf->data;
}
