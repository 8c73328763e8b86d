/* What a tap's tuples look like: the names of its component, of the streams that are looked at, and of their fields; copies, which
 * outlive the topology.
 *
 * Threads: any; it does not change. Owner: whoever made it.
 */
#ifndef GX_SERVE_TAP_SHAPE_H
#define GX_SERVE_TAP_SHAPE_H

#include "serve/parts.h"

typedef struct gx_tap_stream {
    char *name;
    char **fields;
    gale_str *field_names; /* the same, as expressions take them */
    uint32_t field_count;
} gx_tap_stream;

typedef struct gx_tap_shape {
    char *component;
    gx_tap_stream *streams;
    uint32_t stream_count;
} gx_tap_shape;

/* `stream` NULL: all that the component has. NULL when memory is out. */
gx_tap_shape *gx_tap_shape_new(const gx_part *part, const char *stream);
void gx_tap_shape_free(gx_tap_shape *shape); /* NULL is allowed */

/* The place of a stream among them, or their count. */
uint32_t gx_tap_shape_find(const gx_tap_shape *shape, const char *stream);

#endif
