/* Base64 with padding (RFC 4648, section 4). Threads: any. */
#ifndef GX_BASE_BASE64_H
#define GX_BASE_BASE64_H

#include "base/str.h"

/* How many characters so many bytes take. */
GX_INLINE size_t gx_base64_size(size_t size) {
    return (size / 3 + (size % 3 != 0)) * 4;
}

/* Writes gx_base64_size characters, and says how many that was. */
size_t gx_base64_encode(const void *bytes, size_t size, char *to);

/* Decodes whole groups of four with their padding; how many bytes that was, or -1. `to` has room for three bytes a group. */
int64_t gx_base64_decode(gale_str text, unsigned char *to);

#endif
