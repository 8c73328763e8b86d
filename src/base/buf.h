/* Growable bytes. Memory comes from a gx_heap, or from malloc when `heap` is NULL (for programs and formatting outside
 * a runtime). The first failure sticks: `failed` is set, later appends do nothing, and the end can be checked once. */
#ifndef GX_BASE_BUF_H
#define GX_BASE_BUF_H

#include "base/alloc.h"

#include <gale/base.h>
#include <stdarg.h>

typedef struct gx_buf {
    char *data;
    size_t size;
    size_t capacity;
    gx_heap *heap;
    bool failed;
} gx_buf;

#define GX_BUF_INIT(heap_)                                                                                             \
    { NULL, 0, 0, (heap_), false }

void gx_buf_fini(gx_buf *buf);
bool gx_buf_reserve(gx_buf *buf, size_t more);
void gx_buf_add(gx_buf *buf, const void *bytes, size_t size);
void gx_buf_add_text(gx_buf *buf, const char *text);
void gx_buf_add_byte(gx_buf *buf, char byte);
void gx_buf_add_u64(gx_buf *buf, uint64_t number);
void gx_buf_add_i64(gx_buf *buf, int64_t number);
void gx_buf_add_f64(gx_buf *buf, double number); /* gx_number_write_float */
void gx_buf_format(gx_buf *buf, const char *format, ...) GALE_PRINTF(2, 3);
GX_INLINE void gx_buf_reset(gx_buf *buf) {
    buf->size = 0;
    buf->failed = false;
}

/* The bytes with a NUL behind them (not counted), or NULL when an append failed. Borrowed. */
const char *gx_buf_text(gx_buf *buf);

#endif
