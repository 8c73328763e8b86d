/* How many different values there are, by their hashes of 64 bits: exactly up to a limit, and above it about.
 *
 * What:    a pane holds the hashes (the odds that two of n are alike are n^2 / 2^65) until there are more than the limit, and
 *          then, coarse, one number a register of a HyperLogLog of 4096. A window counts for each hash the panes that have it,
 *          and when there are more than the limit, or a pane is coarse, for each register and each number; so a pane that
 *          leaves is taken back exactly. When what is left would fit again, its owner may begin it anew from its panes.
 * Error:   of a coarse one, 1.04 / sqrt(4096) = 1.6 % as a standard deviation, without a bias, at every size.
 *          Flajolet, Fusy, Gandouet, Meunier: HyperLogLog (AofA 2007); hashes of 64 bits as Heule, Nunkesser, Hall (EDBT
 *          2013) have them; the estimate is Ertl's (New cardinality estimation algorithms for HyperLogLog sketches,
 *          arXiv:1702.01284, 2017), which needs no tables and no borders between methods.
 * Threads: one at a time. Owner: memory comes from a gx_heap. Begin as zeros. */
#ifndef GX_DS_WINDOW_DISTINCT_H
#define GX_DS_WINDOW_DISTINCT_H

#include "ds/window_tally.h"

enum { GX_DISTINCT_REGISTERS = 4096 };

typedef struct gx_distinct {
    gx_tally tally;
    uint64_t entries;      /* of all panes that are in it */
    uint32_t coarse_panes; /* among them */
} gx_distinct;

/* Room for a value in a pane. False when memory is out. */
bool gx_distinct_reserve(gx_tally *pane, gx_heap *heap, uint64_t hash, uint32_t exact);

/* The value. There must be room. */
void gx_distinct_add(gx_tally *pane, uint64_t hash);

/* A pane, which is not changed as long as it is in. False when memory is out: nothing changed. */
bool gx_distinct_enter(gx_distinct *window, gx_heap *heap, const gx_tally *pane, uint32_t exact);
void gx_distinct_leave(gx_distinct *window, const gx_tally *pane);

/* Would what is in a coarse one be told exactly, if it began anew? */
bool gx_distinct_is_small(const gx_distinct *window, uint32_t exact);

uint64_t gx_distinct_count(const gx_distinct *window);

#endif
