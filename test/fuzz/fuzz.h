/* What the fuzz targets share: a wrong result ends the run, and the input is taken to pieces from its front. */
#ifndef TEST_FUZZ_FUZZ_H
#define TEST_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void expect(bool what) {
    if (!what) abort();
}

typedef struct fuzz_input {
    const uint8_t *data;
    size_t size;
} fuzz_input;

/* The next byte; 0 when there is none. */
static inline uint8_t fuzz_byte(fuzz_input *in) {
    if (!in->size) return 0;
    in->size--;
    return *in->data++;
}

/* The next eight bytes, as far as there are so many. */
static inline uint64_t fuzz_word(fuzz_input *in) {
    uint64_t word = 0;
    size_t size = in->size < sizeof word ? in->size : sizeof word;
    if (size) memcpy(&word, in->data, size);
    in->data += size;
    in->size -= size;
    return word;
}

/* A copy of the rest with a NUL behind it; the caller frees it. */
static inline char *fuzz_text(const fuzz_input *in) {
    char *text = malloc(in->size + 1);
    expect(text != NULL);
    if (in->size) memcpy(text, in->data, in->size);
    text[in->size] = 0;
    return text;
}

#endif
