/* Memory of a message, or of a schema: taken piece by piece, given back at once. Threads: one. Owner: who has it. Limits: FMT_MEMORY_MAX bytes; what
 * wants more gets NULL, and `too_much` says that it was not the machine's. */
#ifndef GALE_CONNECT_FORMATS_MEMORY_H
#define GALE_CONNECT_FORMATS_MEMORY_H

#include <gale/value.h>

enum { FMT_MEMORY_MAX = 256 << 20 };

typedef struct fmt_piece fmt_piece;

/* Zeroed, it is empty. */
typedef struct fmt_memory {
    fmt_piece *first; /* the newest */
    size_t used;      /* of it */
    size_t total;
    bool too_much;
} fmt_memory;

/* Zeroed bytes, aligned for everything; NULL when there are no more. */
void *fmt_memory_take(fmt_memory *memory, size_t size);

/* A copy, ended by a NUL; `data` is NULL when memory is out. */
gale_str fmt_memory_copy(fmt_memory *memory, const void *data, size_t size);

/* Makes room for one more in an array of `size` bytes an item that was grown by this alone: at powers of two it moves. NULL: no memory. */
void *fmt_memory_grow(fmt_memory *memory, const void *items, size_t count, size_t size);

/* Why NULL was returned: GALE_TOO_LARGE or GALE_NO_MEMORY. */
int fmt_memory_error(const fmt_memory *memory);

/* Empty again; one piece is kept for the next. */
void fmt_memory_reset(fmt_memory *memory);
void fmt_memory_free(fmt_memory *memory);

#endif
