#include "draw/canvas.h"

#include "base/str.h"
#include "base/visible.h"

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

bool gx_canvas_init(gx_canvas *canvas, gx_heap *heap, uint32_t width, uint32_t height, bool ascii) {
    *canvas = (gx_canvas){ NULL, width, height, ascii, heap };
    canvas->cells = gx_alloc_array(heap, GX_TAG_OTHER, (size_t)width * height + 1, sizeof *canvas->cells);
    return canvas->cells;
}

void gx_canvas_fini(gx_canvas *canvas) {
    size_t count = (size_t)canvas->width * canvas->height + 1;
    gx_free(canvas->heap, GX_TAG_OTHER, canvas->cells, canvas->cells ? count * sizeof *canvas->cells : 0);
    canvas->cells = NULL;
}

static gx_canvas_cell *cell_at(const gx_canvas *canvas, uint32_t x, uint32_t y) {
    return x < canvas->width && y < canvas->height ? &canvas->cells[(size_t)y * canvas->width + x] : NULL;
}

/* What goes up or down passes over what another line does there; what goes along passes under it. */
static void add_sides(gx_canvas *canvas, gx_pen pen, uint32_t x, uint32_t y, uint8_t sides) {
    gx_canvas_cell *cell = cell_at(canvas, x, y);
    if (!cell) return;
    bool other = cell->sides && cell->net != pen.net;
    if (other && sides == (LEFT | RIGHT) && cell->sides == (UP | DOWN)) return;
    if (other && sides == (UP | DOWN) && cell->sides == (LEFT | RIGHT)) cell->sides = 0;
    if (!cell->sides) cell->style = (uint8_t)pen.style;
    cell->net = pen.net;
    cell->sides |= sides;
}

void gx_canvas_through(gx_canvas *canvas, gx_pen pen, uint32_t x, int64_t from, int64_t to) {
    for (int64_t y = from; y <= to; y++) add_sides(canvas, pen, x, (uint32_t)y, UP | DOWN);
}

void gx_canvas_along(gx_canvas *canvas, gx_pen pen, uint32_t y, uint32_t from, uint32_t to) {
    uint32_t left = from < to ? from : to, right = from < to ? to : from;
    for (uint32_t x = left; left < right && x <= right; x++)
        add_sides(canvas, pen, x, y, x == left ? RIGHT : x == right ? LEFT : LEFT | RIGHT);
}

void gx_canvas_end(gx_canvas *canvas, gx_pen pen, uint32_t x, uint32_t y, bool up) {
    add_sides(canvas, pen, x, y, up ? UP : DOWN);
}

void gx_canvas_box(gx_canvas *canvas, gx_pen pen, uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
    uint32_t columns[] = { x, x + width - 1 }, bottom = y + height - 1;
    gx_canvas_along(canvas, pen, y, x, x + width - 1);
    gx_canvas_along(canvas, pen, bottom, x, x + width - 1);
    for (int i = 0; i < 2; i++) {
        gx_canvas_end(canvas, pen, columns[i], y, false);
        gx_canvas_through(canvas, pen, columns[i], (int64_t)y + 1, (int64_t)bottom - 1);
        gx_canvas_end(canvas, pen, columns[i], bottom, true);
    }
}

static void put(gx_canvas_cell *cell, const char *text, size_t size) {
    if (size > sizeof cell->text) return;
    for (size_t i = 0; i < size; i++) cell->text[i] = text[i];
    cell->size = (uint8_t)size;
    cell->covered = false;
}

void gx_canvas_text(gx_canvas *canvas, uint32_t x, uint32_t y, gale_str text) {
    bool shows;
    for (size_t at = 0, step; at < text.size; at += step) {
        step = gx_visible_step(text.data + at, text.size - at, &shows);
        size_t columns = gx_visible_columns(text.data + at, text.size - at);
        gx_canvas_cell *cell = cell_at(canvas, x, y), *second = columns > 1 ? cell_at(canvas, x + 1, y) : NULL;
        if (cell) put(cell, text.data + at, step);
        if (second) *second = (gx_canvas_cell){ .covered = true };
        x += (uint32_t)columns;
    }
}

/* --- Printing ------------------------------------------------------------------------------------------------------ */

/* By the sides to which a line goes, as bits. */
static const char *const plain[16] = { " ",      "\u2502", "\u2502", "\u2502", "\u2500", "\u2518", "\u2510", "\u2524",
                                       "\u2500", "\u2514", "\u250c", "\u251c", "\u2500", "\u2534", "\u252c", "\u253c" };
/* A box of double lines; what ends at it is plain. */
static const char *const doubled[16] = {
    " ",      "\u2551", "\u2551", "\u2551", "\u2550", "\u255d", "\u2557", "\u2562",
    "\u2550", "\u255a", "\u2554", "\u255f", "\u2550", "\u2567", "\u2564", "\u256a"
};

static const char *in_ascii(const gx_canvas_cell *cell) {
    bool along = cell->sides & (LEFT | RIGHT), down = cell->sides & (UP | DOWN);
    if (along && down) return "+";
    if (along) return cell->style == GX_LINE_DOUBLE ? "=" : cell->style == GX_LINE_DASHED ? "." : "-";
    return !down ? " " : cell->style == GX_LINE_DASHED ? ":" : "|";
}

static const char *in_boxes(const gx_canvas_cell *cell) {
    bool dashed = cell->style == GX_LINE_DASHED;
    if (dashed && cell->sides == (UP | DOWN)) return "\u250a";
    if (dashed && cell->sides == (LEFT | RIGHT)) return "\u2504";
    return (cell->style == GX_LINE_DOUBLE ? doubled : plain)[cell->sides];
}

static bool is_blank(const gx_canvas_cell *cell) {
    return !cell->covered && !cell->sides && (!cell->size || (cell->size == 1 && cell->text[0] == ' '));
}

static void print_line(const gx_canvas *canvas, const gx_canvas_cell *line, gx_buf *out) {
    uint32_t end = canvas->width;
    while (end && is_blank(&line[end - 1])) end--;
    for (uint32_t x = 0; x < end; x++) {
        if (line[x].covered) continue;
        if (line[x].size)
            gx_buf_add(out, line[x].text, line[x].size);
        else
            gx_buf_add_text(out, canvas->ascii ? in_ascii(&line[x]) : in_boxes(&line[x]));
    }
    gx_buf_add_byte(out, '\n');
}

void gx_canvas_print(const gx_canvas *canvas, gx_buf *out) {
    for (uint32_t y = 0; y < canvas->height; y++) print_line(canvas, &canvas->cells[(size_t)y * canvas->width], out);
}
