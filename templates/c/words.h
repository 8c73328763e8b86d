/* A bolt of our own: one tuple a word, in small letters. */
#ifndef WORDS_H
#define WORDS_H

#include <gale/component.h>

gale_bolt words_bolt(void);

#endif
