/* What a running topology says of itself, as people read it: a head, what hurts, and a row a component, with Storm's columns.
 *
 * What:    of one answer to /now the totals since the start; of two, what passed between them, a second. Columns that a window has no room for are
 *          left out, the least important first, and names are cut; all texts are made visible. With marks (cli/terminal.h), or without.
 * Threads: any. Owner: the caller.
 */
#ifndef GX_CLI_LOOK_H
#define GX_CLI_LOOK_H

#include "cli/heard.h"

typedef struct gx_look {
    const gale_value *now, *before; /* /now; `before` NULL: none */
    const gale_value *topology;     /* /topology */
    size_t columns;                 /* of the window; 0: no bound */
    size_t rows;                    /* 0: no bound */
    size_t skip;                    /* components that were scrolled away */
    bool marks;
} gx_look;

/* Two lines: which run it is, and what it does. */
void gx_look_head(const gx_look *look, gx_buf *out);

/* A line each, worst first, or none. Returns how many. */
size_t gx_look_hurts(const gx_look *look, size_t most, gx_buf *out);

/* The table, with its head. */
void gx_look_table(const gx_look *look, gx_buf *out);

/* All of it for a window: the table has what rows are left, and the last line says which keys there are. */
void gx_look_screen(const gx_look *look, gx_buf *out);

/* One line for where nothing can be drawn over. */
void gx_look_line(const gx_look *look, gx_buf *out);

/* "1 h 02 min", "45 s" */
const char *gx_look_duration(double seconds, char *to, size_t room);

#endif
