#include "kit/vocabulary.h"

#include <gale/error.h>

/* Weights are shares of 2^40; a weight times the number of words stays below 2^61. */
#define WHOLE (UINT64_C(1) << 40)

/* Syllables as digits: number 0 is "ba", 1 "be", 100 "baba". */
static void spell(gx_vocabulary_word *word, uint32_t number) {
    static const char consonants[] = "bcdfghjklmnprstvwxyz", vowels[] = "aeiou";
    word->size = 0;
    for (uint64_t rest = (uint64_t)number + 1; rest; rest /= 100) {
        rest--;
        word->text[word->size++] = consonants[rest % 100 / 5];
        word->text[word->size++] = vowels[rest % 5];
    }
}

/* Each place of the table has room for `total`; a word that needs less shares its place with one that needs more.
 * `order` holds the small ones from its begin, the large ones from its end. */
static void share(gx_vocabulary *vocabulary, uint64_t *needs, uint32_t *order, uint64_t total) {
    uint32_t count = vocabulary->count, small = 0, large = count;
    for (uint32_t i = 0; i < count; i++) {
        vocabulary->words[i].threshold = UINT32_MAX;
        vocabulary->words[i].other = i;
        order[needs[i] < total ? small++ : --large] = i;
    }
    while (small > 0 && large < count) {
        uint32_t poor = order[--small], rich = order[large];
        vocabulary->words[poor].threshold = (uint32_t)(((unsigned __int128)needs[poor] << 32) / total);
        vocabulary->words[poor].other = rich;
        needs[rich] -= total - needs[poor];
        if (needs[rich] >= total) continue;
        large++;
        order[small++] = rich;
    }
}

int gx_vocabulary_init(gx_vocabulary *vocabulary, gx_heap *heap, uint32_t count) {
    gx_vocabulary_word *words = gx_alloc_array(heap, GX_TAG_OTHER, count, sizeof *words);
    uint64_t *needs = gx_alloc_array(heap, GX_TAG_OTHER, count, sizeof *needs);
    uint32_t *order = gx_alloc_array(heap, GX_TAG_OTHER, count, sizeof *order);
    bool made = words && needs && order;
    if (made) {
        uint64_t total = 0;
        for (uint32_t i = 0; i < count; i++) {
            spell(&words[i], i);
            total += WHOLE / (i + 1);
            needs[i] = WHOLE / (i + 1) * count;
        }
        *vocabulary = (gx_vocabulary){ heap, words, count };
        share(vocabulary, needs, order, total);
    } else {
        gx_free(heap, GX_TAG_OTHER, words, count * sizeof *words);
    }
    gx_free(heap, GX_TAG_OTHER, needs, count * sizeof *needs);
    gx_free(heap, GX_TAG_OTHER, order, count * sizeof *order);
    return made ? 0 : GALE_NO_MEMORY;
}

void gx_vocabulary_fini(gx_vocabulary *vocabulary) {
    if (!vocabulary->words) return;
    gx_free(vocabulary->heap, GX_TAG_OTHER, vocabulary->words, vocabulary->count * sizeof *vocabulary->words);
    vocabulary->words = NULL;
}
