#include "base/utf8.h"

#include <string.h>

#include "base/bits.h"

/* What may follow a lead byte: how many bytes, and the range of the first of them. The range is where overlong forms,
 * surrogates and numbers above U+10FFFF are refused (Unicode 15, table 3-7). */
typedef struct form {
    unsigned char more, low, high;
} form;

static form form_of(unsigned char lead) {
    if (lead < 0xc2) return (form){ 0, 0, 0 };
    if (lead < 0xe0) return (form){ 1, 0x80, 0xbf };
    if (lead == 0xe0) return (form){ 2, 0xa0, 0xbf };
    if (lead == 0xed) return (form){ 2, 0x80, 0x9f };
    if (lead < 0xf0) return (form){ 2, 0x80, 0xbf };
    if (lead == 0xf0) return (form){ 3, 0x90, 0xbf };
    if (lead < 0xf4) return (form){ 3, 0x80, 0xbf };
    if (lead == 0xf4) return (form){ 3, 0x80, 0x8f };
    return (form){ 0, 0, 0 };
}

/* The size of the character that begins with a byte above 0x7f, or 0 when it is malformed. */
static size_t character_size(const unsigned char *at, size_t left) {
    form f = form_of(at[0]);
    if (f.more == 0 || left <= f.more || at[1] < f.low || at[1] > f.high) return 0;
    for (size_t i = 2; i <= f.more; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    return (size_t)f.more + 1;
}

size_t gx_utf8_put(char to[4], uint32_t code) {
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, code >>= 6) to[i] = (char)(0x80 | (code & 63));
    to[0] = (char)((0xf00u >> size & 0xf0) | code);
    return size;
}

size_t gx_utf8_step(const char *text, size_t size) {
    const unsigned char *at = (const unsigned char *)text;
    if (size == 0) return 0;
    return at[0] < 0x80 ? 1 : character_size(at, size);
}

#define HIGH_BITS UINT64_C(0x8080808080808080)

/* Where ASCII ends, or up to 31 bytes before it. */
static size_t skip_ascii(const unsigned char *bytes, size_t at, size_t size) {
    for (; size - at >= 32; at += 32) {
        uint64_t first = gx_load64(bytes + at) | gx_load64(bytes + at + 8);
        uint64_t second = gx_load64(bytes + at + 16) | gx_load64(bytes + at + 24);
        if ((first | second) & HIGH_BITS) break;
    }
    for (; size - at >= 8 && !(gx_load64(bytes + at) & HIGH_BITS);) at += 8;
    return at;
}

size_t gx_utf8_prefix(const char *text, size_t size) {
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t at = 0; at < size;) {
        if (bytes[at] < 0x80) {
            size_t ahead = skip_ascii(bytes, at, size);
            at = ahead > at ? ahead : at + 1;
            continue;
        }
        size_t step = character_size(bytes + at, size - at);
        if (step == 0) return at;
        at += step;
    }
    return size;
}

bool gx_utf8_valid(const char *text, size_t size) {
    return text ? gx_utf8_prefix(text, size) == size : size == 0;
}

void gx_utf8_copy(char *to, size_t room, const char *text) {
    size_t size = text ? strlen(text) : 0;
    if (size >= room) {
        size = room - 1;
        while (size && ((unsigned char)text[size] & 0xc0) == 0x80) size--;
    }
    if (size) memcpy(to, text, size);
    to[size] = 0;
}
