/* gale_bench_count TEXT COUNTS: what examples/word-count does, by hand and on one thread: the text is mapped, its words
 * are counted in a hash map, and a line "word<TAB>count" is written for each.
 *
 * As one would write it for this one task: words are cut as gale.bolt.Split cuts them, found eight bytes at a time, and
 * stay where they are in the text. No engine, no types, no lines, no answers, no copies. */
#include "base/bits.h"
#include "base/hash.h"
#include "kit/character_class.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { FIRST_CAPACITY = 1 << 15 };

typedef struct entry {
    const char *word; /* in the text; NULL: the place is free */
    size_t size;
    uint64_t hash;
    uint64_t count;
} entry;

/* Open addressing with a bitmask; grows when it is half full. */
typedef struct table {
    entry *at;
    size_t capacity, used;
} table;

_Noreturn static void give_up(const char *what) {
    fprintf(stderr, "gale_bench_count: %s: %s\n", what, strerror(errno));
    exit(1);
}

static entry *room(size_t capacity) {
    entry *at = calloc(capacity, sizeof *at);
    if (!at) give_up("memory");
    return at;
}

/* --- Counting --- */

static void grow(table *words) {
    table wider = { room(words->capacity * 2), words->capacity * 2, words->used };
    for (size_t i = 0; i < words->capacity; i++) {
        if (!words->at[i].word) continue;
        size_t place = words->at[i].hash & (wider.capacity - 1);
        while (wider.at[place].word) place = (place + 1) & (wider.capacity - 1);
        wider.at[place] = words->at[i];
    }
    free(words->at);
    *words = wider;
}

static void count(table *words, const char *word, size_t size, uint64_t hash) {
    size_t mask = words->capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        entry *place = &words->at[i];
        if (GX_LIKELY(place->hash == hash && place->size == size && memcmp(place->word, word, size) == 0)) {
            place->count++;
            return;
        }
        if (place->word) continue;
        *place = (entry){ word, size, hash, 1 };
        break;
    }
    if (++words->used * 2 > words->capacity) grow(words);
}

/* The first byte that may be white space (it is not above a blank), or `end`: eight at a time. */
static const char *maybe_space(const char *at, const char *end) {
    const uint64_t low = UINT64_C(0x0101010101010101), high = low << 7;
    for (; end - at >= 8; at += 8) {
        uint64_t eight = gx_load64(at), found = (eight - low * (' ' + 1)) & ~eight & high;
        if (found) return at + __builtin_ctzll(found) / 8; /* the lowest is never a borrow's */
    }
    while (at < end && (unsigned char)*at > ' ') at++;
    return at;
}

static const char *word_end(const char *at, const char *end) {
    at = maybe_space(at, end);
    while (GX_UNLIKELY(at < end && !gx_character_class_is_space((unsigned char)*at))) at = maybe_space(at + 1, end);
    return at;
}

static void count_all(table *words, const char *at, const char *end) {
    for (;;) {
        while (at < end && gx_character_class_is_space((unsigned char)*at)) at++;
        if (at == end) return;
        const char *word = at;
        at = word_end(at, end);
        size_t size = (size_t)(at - word);
        count(words, word, size, gx_hash_bytes(word, size, 0));
    }
}

/* --- Files --- */

static const char *map(const char *path, size_t *ret_size) {
    struct stat stat;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stat) != 0) give_up(path);
    *ret_size = (size_t)stat.st_size;
    if (!*ret_size) return ""; /* nothing cannot be mapped */
    void *text = mmap(NULL, *ret_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED) give_up(path);
    return text;
}

/* TSV has two backslashes for one; no word holds what else is escaped. */
static void write_word(const entry *place, FILE *out) {
    if (!memchr(place->word, '\\', place->size)) {
        fwrite(place->word, 1, place->size, out);
        return;
    }
    for (size_t i = 0; i < place->size; i++) {
        if (place->word[i] == '\\') fputc('\\', out);
        fputc(place->word[i], out);
    }
}

static void write_all(const table *words, const char *path) {
    FILE *out = fopen(path, "w");
    if (!out) give_up(path);
    for (size_t i = 0; i < words->capacity; i++) {
        const entry *place = &words->at[i];
        if (!place->word) continue;
        write_word(place, out);
        fprintf(out, "\t%" PRIu64 "\n", place->count);
    }
    if (ferror(out) || fclose(out) != 0) give_up(path);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: gale_bench_count TEXT COUNTS\n");
        return 2;
    }
    size_t size;
    const char *text = map(argv[1], &size);
    table words = { room(FIRST_CAPACITY), FIRST_CAPACITY, 0 };
    count_all(&words, text, text + size);
    write_all(&words, argv[2]);
    return 0;
}
