/* A sheet of characters: lines that meet in the right corners, and text beside them.
 *
 * What:    lines are put down piece by piece and belong to a net; where those of one net meet they are joined, where those of two
 *          cross, the one that goes along the sheet passes over the other. Printed with box-drawing characters, or ASCII.
 * Threads: one at a time. Owner: whoever made it. Errors: what lies beside the sheet is not drawn.
 * Limits:  GX_CANVAS_CELLS.
 */
#ifndef GX_DRAW_CANVAS_H
#define GX_DRAW_CANVAS_H

#include "base/buf.h"

enum { GX_CANVAS_CELLS = 1 << 21 };

typedef enum gx_canvas_style { GX_LINE_PLAIN, GX_LINE_DOUBLE, GX_LINE_DASHED } gx_canvas_style;

typedef struct gx_canvas_cell {
    uint32_t net;
    uint8_t sides; /* to which a line goes */
    uint8_t style; /* gx_canvas_style */
    uint8_t size;  /* of the text; 0: a line, or nothing */
    bool covered;  /* by the character before it, which takes two columns */
    char text[8];
} gx_canvas_cell;

typedef struct gx_canvas {
    gx_canvas_cell *cells;
    uint32_t width, height;
    bool ascii;
    gx_heap *heap;
} gx_canvas;

/* How a line is drawn, and which one it is. */
typedef struct gx_pen {
    uint32_t net;
    gx_canvas_style style;
} gx_pen;

/* False when memory is out. At most GX_CANVAS_CELLS. */
bool gx_canvas_init(gx_canvas *canvas, gx_heap *heap, uint32_t width, uint32_t height, bool ascii);
void gx_canvas_fini(gx_canvas *canvas);

/* Through all cells from row `from` to row `to`; nothing when that is above. */
void gx_canvas_through(gx_canvas *canvas, gx_pen pen, uint32_t x, int64_t from, int64_t to);

/* From the middle of one cell to that of another. */
void gx_canvas_along(gx_canvas *canvas, gx_pen pen, uint32_t y, uint32_t from, uint32_t to);

/* From the middle of a cell up or down out of it. */
void gx_canvas_end(gx_canvas *canvas, gx_pen pen, uint32_t x, uint32_t y, bool up);

/* The sides of a box, corners included. */
void gx_canvas_box(gx_canvas *canvas, gx_pen pen, uint32_t x, uint32_t y, uint32_t width, uint32_t height);

/* Text that may be shown (base/visible.h), over what is there. */
void gx_canvas_text(gx_canvas *canvas, uint32_t x, uint32_t y, gale_str text);

/* Lines without blanks at their ends. */
void gx_canvas_print(const gx_canvas *canvas, gx_buf *out);

#endif
