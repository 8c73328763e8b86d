/* What flows and limits read: the same words, sentences and keys for both, the same in every run.
 *
 * Sentences: ten words each, drawn uniformly of "word0" to "word9999", as in the texts of bench/peers. Keys: drawn by Zipf's law (key i from 0
 * with weight 1 / (i + 1)). */
#ifndef BENCH_HARNESS_TEXT_H
#define BENCH_HARNESS_TEXT_H

#include <stdint.h>

#include <gale/base.h>

enum { BENCH_WORDS = 10000, BENCH_LINES = 16384, BENCH_LINE_WORDS = 10, BENCH_KEYS_DRAWN = 1 << 20 };

/* BENCH_LINES sentences, made at the first call; not to be freed; 16 bytes more may be read
 * behind each. Ends the program when memory is out. */
const gale_str *bench_text_lines(void);

/* BENCH_LINES * BENCH_LINE_WORDS words, by Zipf's law. The same holds. */
const gale_str *bench_text_words(void);

/* BENCH_KEYS_DRAWN keys below `keys`. To be freed by the caller. */
uint32_t *bench_text_keys(uint32_t keys);

/* The path of a file of about so many bytes of such sentences, beside the program `argv0`; made if it is not there. */
const char *bench_text_file(const char *argv0, uint64_t bytes);

#endif
