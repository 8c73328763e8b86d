/* A stream with a disk buffer: {from: a, to: b, grouping: ..., buffer: {disk: 10 GB, path: folder}}.
 *
 * What:    such a stream is replaced, as the file is read, by two components and two streams, which may be seen and set like any:
 *
 *              a -> a-b-buffer ~ folder ~ a-b-drain -> b
 *
 *          The stream's `id` stands for a-b where it has one. Its own grouping leads to b; to the buffer's tasks, where there are
 *          several, a grouping by fields does, too, and an even one otherwise. What `a` emits, and so what the spout does, is only known later. All
 *          nodes have their places in the file.
 * Threads: one at a time. Owner: all belongs to the document.
 */
#ifndef GX_FRONT_BUFFER_H
#define GX_FRONT_BUFFER_H

#include "front/yaml.h"

typedef struct gx_buffer {
    const gx_yaml *stream;    /* as it stands in the file */
    const gx_yaml *from, *to; /* ids */
    const gx_yaml *stream_id; /* NULL: the default one */
    gale_str bolt, spout;     /* ids */
    struct gx_buffer *next;
} gx_buffer;

/* Replaces all of them. What is wrong with them, with its place; GALE_NO_MEMORY. */
int gx_buffer_expand(gx_yaml_doc *doc, gx_buffer **ret_list, gale_error *error);

/* The one whose spout this is; NULL: of none. */
const gx_buffer *gx_buffer_of_spout(const gx_buffer *list, gale_str id);

#endif
