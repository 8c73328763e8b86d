/* A bolt of our own: one tuple a word, in small letters. */
#ifndef EXAMPLE_EMBED_WORDS_H
#define EXAMPLE_EMBED_WORDS_H

#include <gale/component.h>

gale_bolt words_bolt(void);

#endif
