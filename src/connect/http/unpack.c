#include "connect/http/unpack.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

enum { PIECE = 16 << 10 };

/* --- Names ---------------------------------------------------------------------------------------------------------- */

static gale_str trim(gale_str word) {
    while (word.size && strchr(" \t", word.data[0])) word = (gale_str){ word.data + 1, word.size - 1 };
    while (word.size && strchr(" \t", word.data[word.size - 1])) word.size--;
    return word;
}

static bool is(gale_str word, const char *name) {
    return word.size == strlen(name) && strncasecmp(word.data, name, word.size) == 0;
}

static int add(http_codings *codings, http_coding coding, char *why, size_t size) {
    if (codings->count < HTTP_CODINGS_MAX) {
        codings->list[codings->count++] = coding;
        return 0;
    }
    snprintf(why, size, "Content-Encoding: more than %d encodings", HTTP_CODINGS_MAX);
    return GALE_TOO_LARGE;
}

static int add_word(http_codings *codings, gale_str word, char *why, size_t size) {
    if (!word.size || is(word, "identity")) return 0;
    if (is(word, "gzip") || is(word, "x-gzip")) return add(codings, HTTP_GZIP, why, size);
    if (is(word, "deflate")) return add(codings, HTTP_DEFLATE, why, size);
    snprintf(why, size, "Content-Encoding: '%.*s' is not understood; " HTTP_CODINGS " are",
             (int)(word.size < 40 ? word.size : 40), word.data);
    return GALE_UNSUPPORTED;
}

int http_codings_add(http_codings *codings, const char *header, char *why, size_t size) {
    int rc = 0;
    while (rc == 0 && *header) {
        size_t whole = strcspn(header, ",");
        rc = add_word(codings, trim((gale_str){ header, whole }), why, size);
        header += whole + (header[whole] == ',');
    }
    return rc;
}

/* --- One encoding --------------------------------------------------------------------------------------------------- */

/* zlib's head is two bytes that 31 divides, of method 8; a bare stream may look so only by chance. */
static bool has_head(gale_str packed) {
    unsigned first = (unsigned char)packed.data[0], second = packed.size > 1 ? (unsigned char)packed.data[1] : 0;
    return (first & 15) == Z_DEFLATED && (first * 256 + second) % 31 == 0;
}

static int window_bits(http_coding coding, gale_str packed) {
    if (coding == HTTP_GZIP) return 16 + MAX_WBITS;
    return has_head(packed) ? MAX_WBITS : -MAX_WBITS;
}

/* One step of inflate, whose output is added. What zlib says, or GALE_TOO_LARGE. */
static int step(z_stream *stream, size_t most, http_buffer *to) {
    unsigned char room[PIECE];
    stream->next_out = room;
    stream->avail_out = PIECE;
    int rc = inflate(stream, Z_NO_FLUSH);
    size_t size = PIECE - stream->avail_out;
    if (size > most - to->size) return GALE_TOO_LARGE;
    http_buffer_add(to, room, size);
    return to->failed ? Z_MEM_ERROR : rc;
}

/* Members follow each other in gzip; of deflate there is one. */
static int inflate_all(z_stream *stream, http_coding coding, size_t most, http_buffer *to) {
    for (;;) {
        int rc = step(stream, most, to);
        bool again = rc == Z_STREAM_END && stream->avail_in && coding == HTTP_GZIP;
        if (again && inflateReset(stream) == Z_OK) continue;
        if (rc == Z_STREAM_END) return stream->avail_in ? GALE_DAMAGED : 0;
        if (rc == GALE_TOO_LARGE) return rc;
        if (rc == Z_MEM_ERROR) return GALE_NO_MEMORY;
        if (rc != Z_OK) return GALE_DAMAGED; /* Z_BUF_ERROR, too: it is cut off */
    }
}

static int unpack_one(http_coding coding, gale_str packed, size_t most, http_buffer *to) {
    z_stream stream = { .next_in = (unsigned char *)(uintptr_t)packed.data, .avail_in = (uInt)packed.size };
    if (packed.size > UINT32_MAX) return GALE_TOO_LARGE;
    if (inflateInit2(&stream, window_bits(coding, packed)) != Z_OK) return GALE_NO_MEMORY;
    int rc = inflate_all(&stream, coding, most, to);
    (void)inflateEnd(&stream);
    return rc;
}

/* --- All of them ---------------------------------------------------------------------------------------------------- */

int http_unpack(const http_codings *codings, gale_str packed, size_t most, http_buffer *to) {
    int rc = 0;
    for (size_t i = codings->count; i > 0 && packed.size && rc == 0; i--) {
        http_buffer before = *to;
        *to = (http_buffer){ .data = NULL };
        rc = unpack_one(codings->list[i - 1], packed, most, to);
        packed = (gale_str){ to->data, to->size };
        http_buffer_fini(&before);
    }
    if (rc < 0) http_buffer_fini(to);
    return rc;
}

int http_unpack_body(const http_codings *codings, size_t most, http_buffer *body) {
    http_buffer plain = { .data = NULL };
    if (!codings->count || !body->size) return 0;
    int rc = http_unpack(codings, (gale_str){ body->data, body->size }, most, &plain);
    if (rc < 0) return rc;
    http_buffer_fini(body);
    *body = plain;
    return 0;
}
