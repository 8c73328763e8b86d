/* A topology in the languages of other programs that draw: Graphviz' dot, and Mermaid. They lay it out themselves. Threads: any. */
#ifndef GX_DRAW_LANGUAGES_H
#define GX_DRAW_LANGUAGES_H

#include "draw/graph.h"

#include "base/buf.h"

void gx_dot_write(const gx_graph *graph, bool down, gx_buf *out);
void gx_mermaid_write(const gx_graph *graph, bool down, gx_buf *out);

#endif
