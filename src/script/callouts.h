/* Where a pattern of PCRE2 needs a callout, so that no work between two of them is without a bound.
 *
 * What:    a search counts its work where it is called back (script/steps.h). Before each item, as PCRE2 does it by
 *          itself, that costs more than the search. It is enough at the begin of each alternative and of each group
 *          that is repeated, behind each repeat that may go another way, and in long runs of items that may not:
 *          between two such places there is a run over the text, whose length the next callout tells, and at most
 *          GX_CALLOUTS_RUN items.
 * Threads: any.
 * Limits:  the grammar that is known: characters, classes, escapes of kinds and of punctuation, groups with and
 *          without names, alternatives, repeats and anchors. A pattern with anything else (assertions, back
 *          references, options but i, m and s) is not touched. */
#ifndef GX_SCRIPT_CALLOUTS_H
#define GX_SCRIPT_CALLOUTS_H

#include "base/buf.h"

enum { GX_CALLOUTS_RUN = 16, GX_CALLOUTS_PATTERN = 2048, GX_CALLOUTS_SIZE = 4 };

/* The bytes that a pattern of `size` bytes has with its callouts, at most. */
GX_INLINE size_t gx_callouts_room(size_t size) {
    return size + (size + 1) * GX_CALLOUTS_SIZE;
}

/* Writes the pattern, which PCRE2 has compiled, with its callouts. False: it has something that is not known here;
 * `to` is untouched. */
bool gx_callouts_place(gale_str pattern, gx_buf *to);

#endif
