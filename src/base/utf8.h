/* UTF-8 validation, behind gale_utf8_valid. ASCII runs are checked 32 bytes at a time. */
#ifndef GX_BASE_UTF8_H
#define GX_BASE_UTF8_H

#include "base/port.h"

bool gx_utf8_valid(const char *text, size_t size);

/* How much of the text is valid: up to the first character that is malformed or cut off, or all of it. */
size_t gx_utf8_prefix(const char *text, size_t size);

/* The size of the character that `text` begins with; 0 when it is malformed, cut off or missing. */
size_t gx_utf8_step(const char *text, size_t size);

/* Writes the character with this number, which is no surrogate and at most 0x10ffff, and returns its size. */
size_t gx_utf8_put(char to[4], uint32_t code);

/* Copies at most `room - 1` bytes of `text` (NULL: nothing) to `to`, ended by a NUL; cuts between characters. */
void gx_utf8_copy(char *to, size_t room, const char *text);

#endif
