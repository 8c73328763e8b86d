/* Wanted rows beside the rows that were found, and what differs, as lines for people:
 *
 *         expected      found
 *         ["the",2]     ["the",2]
 *       ~ ["cow",1]     ["cow",2]     count is 2, not 1
 *       - ["moon",1]                  missing
 *       +               ["star",1]    not expected
 *
 * What:    as many rows as can be are paired with one that fits; of the others, those that are most alike are shown in one line.
 *          Rows that are too wide for that stand below each other. Long stretches of what is right are left out.
 * Threads: any. Owner: everything is borrowed. Errors: for want of memory `out` fails, and nothing is said to differ.
 * Limits:  GX_DIFFERENCE_PAIRS comparisons; of more rows only those are compared that stand at the same place.
 */
#ifndef GX_SIM_DIFFERENCE_H
#define GX_SIM_DIFFERENCE_H

#include "sim/wanted.h"

enum { GX_DIFFERENCE_PAIRS = 4000000 };

typedef struct gx_comparison {
    const gx_wanted_row *wanted;
    size_t wanted_count;
    const gx_found_row *found;
    size_t found_count;
    const char *const *names; /* of the fields */
    size_t name_count;
    int32_t order; /* gale_test_order */
} gx_comparison;

/* True when they differ: then `out` got the lines. `ret_pairs` (may be NULL; an entry a wanted row): which found row each has,
 * SIZE_MAX: none. */
bool gx_difference(const gx_comparison *comparison, size_t *ret_pairs, gx_buf *out);

#endif
