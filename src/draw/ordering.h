/* The order of stops within their layers, with few crossings.
 *
 * What:    sweeps down and up put each stop at the median of its neighbours (Gansner, Koutsofios, North and Vo 1993), then
 *          neighbours change places where that saves crossings; the best order that was seen stays. What has equal medians keeps
 *          its order, which was that of a walk from the first layer, names in order; so the same graph is always drawn the same.
 * Threads: one at a time. Errors: false when memory is out. Limits: GX_ORDERING_SWEEPS from each of GX_ORDERING_STARTS orders to begin
 *          with; of more than GX_ORDERING_MANY stops from one.
 */
#ifndef GX_DRAW_ORDERING_H
#define GX_DRAW_ORDERING_H

#include "draw/layering.h"

enum { GX_ORDERING_SWEEPS = 24, GX_ORDERING_STARTS = 4, GX_ORDERING_MANY = 8192 };

/* Afterwards each stop's neighbours are in their order, too, and `crossings` is known. */
bool gx_ordering_do(gx_layering *layering);

#endif
