/* Bytes that are read, and trusted in nothing: what asks for more than there is sets `bad`, and reads zeros from then on.
 * Threads: one. Owner: borrows. */
#ifndef GALE_CONNECT_FORMATS_CURSOR_H
#define GALE_CONNECT_FORMATS_CURSOR_H

#include <gale/base.h>

typedef struct fmt_cursor {
    const unsigned char *at;
    size_t left;
    bool bad;
} fmt_cursor;

GALE_INLINE fmt_cursor fmt_cursor_of(gale_str bytes) {
    fmt_cursor cursor = { (const unsigned char *)bytes.data, bytes.size, false };
    return cursor;
}

GALE_INLINE gale_str fmt_read_bytes(fmt_cursor *from, uint64_t size) {
    gale_str bytes = { "", 0 };
    if (from->bad || size > from->left) {
        from->bad = true;
        return bytes;
    }
    bytes.data = (const char *)from->at;
    bytes.size = (size_t)size;
    from->at += size;
    from->left -= (size_t)size;
    return bytes;
}

/* Seven bits a byte, at most ten bytes; what is above 64 bits is bad. */
GALE_INLINE uint64_t fmt_read_varint(fmt_cursor *from) {
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && from->left && !from->bad; shift += 7) {
        unsigned char byte = *from->at++;
        from->left--;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (shift == 63 && byte > 1) break;
        if (byte < 0x80) return number;
    }
    from->bad = true;
    return 0;
}

/* The lowest byte first. */
GALE_INLINE uint64_t fmt_read_fixed(fmt_cursor *from, size_t size) {
    uint64_t number = 0;
    gale_str bytes = fmt_read_bytes(from, size);
    for (size_t i = 0; i < bytes.size; i++) number |= (uint64_t)(unsigned char)bytes.data[i] << (8 * i);
    return number;
}

GALE_INLINE uint64_t fmt_zigzag(int64_t number) {
    return (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
}

GALE_INLINE int64_t fmt_unzigzag(uint64_t number) {
    return (int64_t)(number >> 1 ^ (number & 1 ? UINT64_MAX : 0));
}

#endif
