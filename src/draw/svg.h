/* A drawing as SVG: one file that needs no other, light and dark as who looks at it prefers; each component and edge is a group
 * with its name or number (data-component, data-edge), its words in full as a title. Threads: any. */
#ifndef GX_DRAW_SVG_H
#define GX_DRAW_SVG_H

#include "draw/drawing.h"

#include "base/buf.h"

void gx_svg_write(const gx_drawing *drawing, gx_buf *out);

#endif
