/* What leads to a bolt: the streams of a file, and what goes through a topic or a folder, as far as it can be told before all are made.
 * Owner: gx_links_free. */
#ifndef GX_FRONT_LEADING_H
#define GX_FRONT_LEADING_H

#include "front/loading.h"

/* A stream between two vertices, as far as it can be told yet. */
typedef struct gx_link {
    gx_vertex *from, *to; /* `from` NULL: the system, or nobody */
    const char *source, *stream;
    const gx_via *via; /* what goes in at `from` comes out at `to`, by a topic: it is no stream; NULL: it is one */
    const gx_buffer *buffer; /* the same, by a folder */
} gx_link;

typedef struct gx_links {
    gx_link *list; /* by target */
    size_t count;
    gx_vertex **by_id;
} gx_links;

/* All that `root` has. What fails is to be freed too. */
int gx_links_find(const gx_loading *loading, const gx_yaml *root, gx_links *all);
void gx_links_free(gx_links *all);

/* The place in `list` of the first one that leads to the vertex, or where it would be. */
size_t gx_links_first(const gx_links *all, const gx_vertex *vertex);

/* "word, count": what goes along it; NULL: it is not known. Lives as long as the file, or who emits it. */
const char *gx_link_fields(const gx_loading *loading, const gx_link *link);

#endif
