/* Made-up words with Zipf frequencies: word i (from 0) comes with weight 1 / (i + 1). Drawing one costs the same for
 * any number of words (alias method: Walker 1977, built as by Vose 1991), in whole numbers, so that every machine draws
 * alike. Threads: frozen after it is made. Limits: GX_VOCABULARY_MAX words. */
#ifndef GX_KIT_VOCABULARY_H
#define GX_KIT_VOCABULARY_H

#include "base/alloc.h"
#include "base/random.h"

#include <gale/base.h>

enum { GX_VOCABULARY_MAX = 1 << 20, GX_VOCABULARY_LETTERS = 8 };

typedef struct gx_vocabulary_word {
    uint32_t threshold; /* below it, this word; else the other one */
    uint32_t other;
    uint32_t size;
    char text[GX_VOCABULARY_LETTERS];
} gx_vocabulary_word;

typedef struct gx_vocabulary {
    gx_heap *heap;
    gx_vocabulary_word *words;
    uint32_t count;
} gx_vocabulary;

/* 1 <= count <= GX_VOCABULARY_MAX. GALE_NO_MEMORY. */
int gx_vocabulary_init(gx_vocabulary *vocabulary, gx_heap *heap, uint32_t count);
void gx_vocabulary_fini(gx_vocabulary *vocabulary);

GX_INLINE gale_str gx_vocabulary_draw(const gx_vocabulary *vocabulary, gx_random *random) {
    uint64_t bits = gx_random_next(random);
    const gx_vocabulary_word *word = &vocabulary->words[((bits >> 32) * vocabulary->count) >> 32];
    if ((uint32_t)bits >= word->threshold) word = &vocabulary->words[word->other];
    return (gale_str){ word->text, word->size };
}

#endif
