/* Encoding of bytes that are to be read as text: byte order marks, packed formats, ends of lines. Every reader of
 * text asks here, so that the same bytes are the same text everywhere.
 *
 * What:    text is UTF-8 or any superset of ASCII. A UTF-8 byte order mark at the beginning is skipped. UTF-16,
 *          UTF-32 and packed bytes are recognised by their first bytes and refused by name, never passed on as text.
 * Threads: any. Owner: results borrow from what was given. */
#ifndef GX_BASE_ENCODING_H
#define GX_BASE_ENCODING_H

#include "base/str.h"

#include <gale/error.h>

/* No encoding is recognised by more bytes than these. */
enum { GX_ENCODING_HEAD = 10, GX_ENCODING_MARK = 3 };

/* The name of the encoding that the bytes begin with, if a reader of text must not take them: "gzip data", "UTF-16
 * text". NULL: text. */
GX_INLINE const char *gx_encoding_foreign(gale_str bytes);

/* The same, of bytes whose first one may begin one. */
const char *gx_encoding_look(gale_str bytes);

/* Text that begins with this byte is neither refused nor skipped in part, whatever follows. */
GX_INLINE bool gx_encoding_is_plain(char first) {
    switch ((unsigned char)first) {
    case 0x00:
    case 0x04:
    case 0x1f:
    case 0x28:
    case 'B':
    case 'P':
    case 0xef: /* a mark */
    case 0xfd:
    case 0xfe:
    case 0xff: return false;
    default: return true;
    }
}

GX_INLINE const char *gx_encoding_foreign(gale_str bytes) {
    return !bytes.size || gx_encoding_is_plain(bytes.data[0]) ? NULL : gx_encoding_look(bytes);
}

/* The text without a UTF-8 byte order mark at its beginning. */
GX_INLINE gale_str gx_encoding_text(gale_str bytes) {
    bool marked = bytes.size >= GX_ENCODING_MARK && memcmp(bytes.data, "\xef\xbb\xbf", GX_ENCODING_MARK) == 0;
    return marked ? (gale_str){ bytes.data + GX_ENCODING_MARK, bytes.size - GX_ENCODING_MARK } : bytes;
}

/* The line without the one end ("\n", "\r\n" or "\r") that it may have. */
GX_INLINE gale_str gx_encoding_line(gale_str line) {
    if (line.size && line.data[line.size - 1] == '\n') line.size--;
    if (line.size && line.data[line.size - 1] == '\r') line.size--;
    return line;
}

/* Moves `*bytes` behind a byte order mark. GALE_SYNTAX for a foreign encoding: "NAME: this is gzip data: unpack it
 * first". */
int gx_encoding_read(const char *name, gale_str *bytes, gale_error *error);

/* "unpack it first" for packed data, "convert it to UTF-8 first" for text; `foreign` is of gx_encoding_foreign. */
const char *gx_encoding_advice(const char *foreign);

#endif
