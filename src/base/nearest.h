/* "Did you mean": the nearest known word, by Damerau-Levenshtein distance (optimal string alignment), for error
 * messages. */
#ifndef GX_BASE_NEAREST_H
#define GX_BASE_NEAREST_H

#include "base/port.h"

#include <gale/base.h>

typedef struct gx_nearest {
    gale_str wanted;
    gale_str best;   /* borrowed from the candidate */
    size_t distance; /* of `best` */
} gx_nearest;

gx_nearest gx_nearest_to(gale_str wanted);

/* Offers a candidate, which must live as long as `nearest` is asked. */
void gx_nearest_offer(gx_nearest *nearest, gale_str candidate);

/* The best candidate if it is near enough to be meant (at most a third of the longer word, at least 1 and at most 4
 * edits; equal but for case counts as near), else an empty string. */
gale_str gx_nearest_word(const gx_nearest *nearest);

/* Writes "; did you mean 'x'?" or "" to `out` (ended by NUL) and returns `out`, for use in printf. */
const char *gx_nearest_hint(const gx_nearest *nearest, char *out, size_t size);

#endif
