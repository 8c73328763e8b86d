#include "base/encoding.h"

typedef struct signature {
    const char *name;
    uint8_t size;
    char bytes[GX_ENCODING_HEAD];
} signature;

/* Longer ones first where one begins with another. Each has a byte that no text begins with, or is too long for
 * chance. */
static const signature signatures[] = {
    { "gzip data", 2, "\x1f\x8b" },
    { "zstd data", 4, "\x28\xb5\x2f\xfd" },
    { "xz data", 6,
      "\xfd"
      "7zXZ\0" },
    { "lz4 data", 4, "\x04\x22\x4d\x18" },
    { "snappy data", 10, "\xff\x06\0\0sNaPpY" },
    { "a zip archive", 4, "PK\x03\x04" },
    { "a zip archive", 4, "PK\x05\x06" },
    { "UTF-32 text", 4, "\xff\xfe\0\0" },
    { "UTF-32 text", 4, "\0\0\xfe\xff" },
    { "UTF-16 text", 2, "\xff\xfe" },
    { "UTF-16 text", 2, "\xfe\xff" },
};

/* "BZh9" may begin a text; with the sign of a block, or of the end, behind it, it does not. */
static bool is_bzip2(gale_str bytes) {
    if (bytes.size < 10 || memcmp(bytes.data, "BZh", 3) != 0 || bytes.data[3] < '1' || bytes.data[3] > '9')
        return false;
    return memcmp(bytes.data + 4, "1AY&SY", 6) == 0 || memcmp(bytes.data + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0;
}

const char *gx_encoding_look(gale_str bytes) {
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const signature *one = &signatures[i];
        if (bytes.size >= one->size && memcmp(bytes.data, one->bytes, one->size) == 0) return one->name;
    }
    return is_bzip2(bytes) ? "bzip2 data" : NULL;
}

const char *gx_encoding_advice(const char *foreign) {
    return strncmp(foreign, "UTF-", 4) == 0 ? "convert it to UTF-8 first" : "unpack it first";
}

int gx_encoding_read(const char *name, gale_str *bytes, gale_error *error) {
    const char *foreign = gx_encoding_foreign(*bytes);
    if (foreign)
        return gale_error_set(error, GALE_SYNTAX, "%s: this is %s: %s", name, foreign, gx_encoding_advice(foreign));
    *bytes = gx_encoding_text(*bytes);
    return GALE_OK;
}
