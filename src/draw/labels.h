/* The words of a picture, the same in each form of it.
 *
 * What:    of a component its name, and what it is and how often ("gale.bolt.Count x4"); of an edge its stream unless that is
 *          the default one, its grouping and what it drops ("words: fields(word)"). What could steer a terminal or turn text
 *          around is written out (base/visible.h).
 * Threads: any.
 */
#ifndef GX_DRAW_LABELS_H
#define GX_DRAW_LABELS_H

#include "draw/graph.h"

#include "base/buf.h"

/* In which form: what gale adds is ASCII alone, names stay as they are; of a class the last name, "Count x4". */
enum { GX_LABEL_ASCII = 1, GX_LABEL_BRIEF = 2 };

void gx_label_name(const gx_graph_node *node, gx_buf *out);
void gx_label_kind(const gx_graph_node *node, int form, gx_buf *out);
void gx_label_edge(const gx_graph_edge *edge, gx_buf *out);

/* Columns of a terminal that a text takes. */
uint32_t gx_label_columns(gale_str text);

/* Appends a text cut to `most` columns (3 and more), with an ellipsis for what was cut; where the picture is to be ASCII, a
 * question mark stands for each column of another character. */
void gx_label_cut(gale_str text, uint32_t most, bool ascii, gx_buf *out);

#endif
