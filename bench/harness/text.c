#include "harness/text.h"

#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD_MAX = 8 };

_Noreturn static void give_up(const char *what) {
    perror(what);
    exit(1);
}

static void *some(size_t bytes) {
    void *memory = malloc(bytes);
    if (!memory) give_up("memory");
    return memory;
}

/* Word `index`, in at least WORD_MAX bytes of room: "word" and the number, as in the texts of bench/peers. */
static size_t spell(uint32_t index, char *to) {
    char digits[WORD_MAX];
    size_t size = sizeof digits;
    do {
        digits[--size] = (char)('0' + index % 10);
        index /= 10;
    } while (index);
    memcpy(to, "word", 4);
    memcpy(to + 4, digits + size, sizeof digits - size);
    return 4 + sizeof digits - size;
}

static_assert(BENCH_WORDS <= 10000, "a word's number has four digits at the most");

static size_t sentence(gx_random *random, char *to) {
    size_t size = 0;
    for (int i = 0; i < BENCH_LINE_WORDS; i++) {
        if (i) to[size++] = ' ';
        size += spell(gx_random_below(random, BENCH_WORDS), to + size);
    }
    return size;
}

const gale_str *bench_text_lines(void) {
    enum { LINE_MAX_BYTES = BENCH_LINE_WORDS * (WORD_MAX + 1) };
    static gale_str lines[BENCH_LINES];
    if (lines[0].data) return lines;
    gx_random random = gx_random_new(1, 1);
    char *at = some((size_t)BENCH_LINES * LINE_MAX_BYTES + 16);
    for (int i = 0; i < BENCH_LINES; i++) {
        lines[i] = (gale_str){ at, sentence(&random, at) };
        at += lines[i].size;
    }
    return lines;
}

/* Key i of `count` gets the share ln(i + 2) - ln(i + 1) of ln(count + 1): Zipf's law but for the first few keys, which
 * get a little less; in constant time and without a table. */
static uint32_t zipf(gx_random *random, uint32_t count) {
    double u = (double)(gx_random_next(random) >> 11) * 0x1p-53;
    double key = exp(u * log((double)count + 1)) - 1;
    return key < count ? (uint32_t)key : count - 1;
}

const gale_str *bench_text_words(void) {
    static gale_str words[BENCH_LINES * BENCH_LINE_WORDS];
    if (words[0].data) return words;
    gx_random random = gx_random_new(2, 1);
    char *at = some(sizeof words / sizeof *words * (WORD_MAX + 1) + 16);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        words[i] = (gale_str){ at, spell(zipf(&random, BENCH_WORDS), at) };
        at += words[i].size;
    }
    return words;
}

uint32_t *bench_text_keys(uint32_t keys) {
    uint32_t *drawn = some(BENCH_KEYS_DRAWN * sizeof *drawn);
    gx_random random = gx_random_new(3, 1);
    for (int i = 0; i < BENCH_KEYS_DRAWN; i++) drawn[i] = zipf(&random, keys);
    return drawn;
}

static void write_text(const char *path, uint64_t bytes) {
    FILE *file = fopen(path, "w");
    if (!file) give_up(path);
    gx_random random = gx_random_new(4, 1);
    char line[BENCH_LINE_WORDS * (WORD_MAX + 1) + 1];
    for (uint64_t written = 0; written < bytes;) {
        size_t size = sentence(&random, line);
        line[size++] = '\n';
        if (fwrite(line, 1, size, file) != size) give_up(path);
        written += size;
    }
    if (fclose(file) != 0) give_up(path);
}

/* Under another name first, so that nobody reads half of it. */
const char *bench_text_file(const char *argv0, uint64_t bytes) {
    static char path[4096];
    char fresh[4200];
    const char *slash = strrchr(argv0, '/');
    snprintf(path, sizeof path, "%.*stext-%llu", slash ? (int)(slash + 1 - argv0) : 0, argv0,
             (unsigned long long)bytes);
    if (access(path, R_OK) == 0) return path;
    snprintf(fresh, sizeof fresh, "%s.%ld", path, (long)getpid());
    write_text(fresh, bytes);
    if (rename(fresh, path) != 0) give_up(path);
    return path;
}
