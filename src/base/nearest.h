/* "Did you mean": the nearest known word, by Damerau-Levenshtein distance (optimal string alignment), for error
 * messages.
 *
 * Near is what is at most a third of the longer word away (at least 1 and at most 4 edits, and something is the same), is equal
 * but for case, or begins with at least 3 letters that are wanted; the latter comes behind. Parts that two dotted names have in
 * common count for nothing: of gale.bolt.Splt it is Splt that is compared. */
#ifndef GX_BASE_NEAREST_H
#define GX_BASE_NEAREST_H

#include "base/port.h"

#include <gale/base.h>

typedef struct gx_nearest {
    gale_str wanted;
    gale_str best;   /* that is near, borrowed from the candidate; else empty */
    size_t distance; /* of `best`, to compare it by */
} gx_nearest;

gx_nearest gx_nearest_to(gale_str wanted);

/* Offers a candidate, which must live as long as `nearest` is asked. */
void gx_nearest_offer(gx_nearest *nearest, gale_str candidate);

/* The best candidate that is near, else an empty string. */
gale_str gx_nearest_word(const gx_nearest *nearest);

/* Writes "; did you mean 'x'?" or "" to `out` (ended by NUL) and returns `out`, for use in printf. */
const char *gx_nearest_hint(const gx_nearest *nearest, char *out, size_t size);

#endif
