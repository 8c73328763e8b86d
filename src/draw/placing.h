/* Where each stop of a layer is, across the flow: long edges straight, components in the middle of their neighbours.
 *
 * What:    after Brandes and Koepf (2001). Stops are joined with a median neighbour above or below into blocks that are
 *          straight, from the left and from the right; each of the four ways is made as narrow as the room that stops take
 *          allows; the mean of the two in the middle is a stop's place. The four keep their order and distances, so that does.
 * Threads: one at a time. Errors: false when memory is out.
 */
#ifndef GX_DRAW_PLACING_H
#define GX_DRAW_PLACING_H

#include "draw/layering.h"

/* When gx_ordering_do was done. Places begin at 0 on the left. */
bool gx_placing_do(gx_layering *layering);

#endif
