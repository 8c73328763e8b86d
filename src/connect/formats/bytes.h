/* Bytes that are written, and grow. Threads: one. Owner: who has it. What fails sets `failed`, and from then on nothing is added. */
#ifndef GALE_CONNECT_FORMATS_BYTES_H
#define GALE_CONNECT_FORMATS_BYTES_H

#include <gale/base.h>

/* Zeroed, it is empty. */
typedef struct fmt_bytes {
    char *data;
    size_t size, room;
    bool failed;
} fmt_bytes;

void fmt_bytes_add(fmt_bytes *to, const void *data, size_t size);

/* Seven bits a byte, the lowest first; the last has no high bit. */
void fmt_bytes_varint(fmt_bytes *to, uint64_t number);

/* `size` bytes of a number, the lowest first. */
void fmt_bytes_fixed(fmt_bytes *to, uint64_t number, size_t size);

/* Puts the length of all from `at` on before it, as a varint. */
void fmt_bytes_prefix(fmt_bytes *to, size_t at);

void fmt_bytes_free(fmt_bytes *to);

#endif
