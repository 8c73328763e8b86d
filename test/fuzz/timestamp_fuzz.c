/* Bytes: a base (a year, a zone), then a format up to the first end of a line, then a text. What is read lies within the years 0 to 9999,
 * and what is written of it in a format that says everything is read as the same. */
#include "fuzz.h"

#include "kit/moment.h"

#include <stdio.h>

static void check(const gx_moment *moment) {
    char text[80], piece[GX_MOMENT_TEXT];
    gx_moment again;
    size_t size = 0;
    expect(moment->second >= GX_MOMENT_FIRST && moment->second <= GX_MOMENT_LAST);
    expect(moment->nano >= 0 && moment->nano < 1000000000);
    for (const char *at = "F T"; *at; at++) {
        size_t written = *at == ' ' ? 1 : gx_moment_write(moment, *at, piece);
        memcpy(text + size, *at == ' ' ? "T" : piece, written);
        size += written;
    }
    size += (size_t)snprintf(text + size, sizeof text - size, ".%09dZ", (int)moment->nano);
    expect(gx_moment_read((gale_str){ text, size }, &gx_moment_1970, &again));
    expect(again.second == moment->second && again.nano == moment->nano);
    size = (size_t)snprintf(text, sizeof text, "%lld", (long long)moment->second);
    expect(gx_moment_of_digits((gale_str){ text, size }, 1, &again) && again.second == moment->second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    gx_moment_base base = { .year = (int64_t)(fuzz_byte(&in) * 40), .ahead = (fuzz_byte(&in) - 128) * 600 };
    gx_moment moment;
    double number;
    uint64_t word = fuzz_word(&in);
    const char *begin = (const char *)in.data, *end = in.size ? memchr(begin, '\n', in.size) : NULL;
    gale_str format = { begin, end ? (size_t)(end - begin) : in.size };
    gale_str text = end ? (gale_str){ end + 1, in.size - format.size - 1 } : (gale_str){ begin, in.size };
    memcpy(&number, &word, sizeof number);
    for (int32_t parts = 1; parts <= 1000; parts += 999) {
        if (gx_moment_of_float(number, parts, &moment)) check(&moment);
        if (gx_moment_of_whole((int64_t)word, parts, &moment)) check(&moment);
        if (gx_moment_of_digits(text, parts, &moment)) check(&moment);
    }
    if (gx_moment_read(text, &base, &moment)) check(&moment);
    if (gx_moment_flaw(format) == 0 && gx_moment_parse(text, format, &base, &moment)) check(&moment);
    return 0;
}
