#include "base/base64.h"

/* Three bytes (or what is left of them) as four characters. */
static void encode_group(const unsigned char *bytes, size_t left, char *to) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t group = (uint32_t)bytes[0] << 16;
    if (left > 1) group |= (uint32_t)bytes[1] << 8;
    if (left > 2) group |= bytes[2];
    to[0] = digits[group >> 18];
    to[1] = digits[group >> 12 & 63];
    to[2] = left > 1 ? digits[group >> 6 & 63] : '=';
    to[3] = left > 2 ? digits[group & 63] : '=';
}

size_t gx_base64_encode(const void *bytes, size_t size, char *to) {
    for (size_t at = 0; at < size; at += 3, to += 4) encode_group((const unsigned char *)bytes + at, size - at, to);
    return gx_base64_size(size);
}

static int sextet_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int64_t gx_base64_decode(gale_str text, unsigned char *to) {
    int64_t size = 0;
    if (text.size % 4) return -1;
    for (size_t at = 0; at < text.size; at += 4) {
        const char *group = text.data + at;
        int padding = at + 4 < text.size ? 0 : (group[3] == '=') + (group[3] == '=' && group[2] == '=');
        uint32_t bits = 0;
        for (int i = 0; i < 4; i++) {
            int sextet = i >= 4 - padding ? 0 : sextet_of(group[i]);
            if (sextet < 0) return -1;
            bits = bits << 6 | (uint32_t)sextet;
        }
        for (int i = 0; i < 3 - padding; i++) to[size++] = (unsigned char)(bits >> (16 - 8 * i));
    }
    return size;
}
