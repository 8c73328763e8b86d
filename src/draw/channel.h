/* The lines between two layers of a picture in characters: which leaves a box where, and in which row it goes sideways.
 *
 * What:    one of the two layers has the components. What leaves a component in one direction is one net, drawn as a line that
 *          forks; what closes a cycle is one of its own. A net goes straight, or sideways in a row that no other net needs there,
 *          and such that no two lie over each other, as far as that can be had.
 * Threads: one at a time. Owner: the pieces that it was made with. Errors: false when memory is out.
 */
#ifndef GX_DRAW_CHANNEL_H
#define GX_DRAW_CHANNEL_H

#include "draw/layering.h"

typedef struct gx_channel_net {
    uint32_t stop; /* on the layer of the components */
    bool back;
    uint32_t port;  /* its column there */
    uint32_t *ends; /* its columns on the other layer */
    uint32_t end_count;
    uint32_t first, last; /* column */
    uint32_t row;         /* from 1, beginning at the components' layer; 0: straight */
} gx_channel_net;

typedef struct gx_channel {
    gx_channel_net *nets;
    uint32_t net_count;
    uint32_t rows;
} gx_channel;

/* Between layer `above` and the next, of a layering whose places are columns. */
bool gx_channel_make(const gx_layering *layering, uint32_t above, gx_pieces *memory, gx_channel *ret_channel);

#endif
