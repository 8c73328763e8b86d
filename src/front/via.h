/* A stream that goes through a topic: {from: a, to: b, grouping: {type: FIELDS, args: [k]}, via: {kafka: {brokers: ..., topic: t}}}.
 *
 * What:    such a stream is replaced, as the file is read, by four components and four streams, which may be seen and set like any:
 *
 *              a -> a-b-pack -> a-b-sink ~ topic ~ a-b-spout -> a-b-unpack -> b
 *
 *          The stream's `id` stands for a-b where it has one. What `a` emits is only known later: gx_via_shape then says what
 *          comes out of the unpacking bolt. All nodes have their places in the file.
 * Threads: one at a time. Owner: all belongs to the document.
 */
#ifndef GX_FRONT_VIA_H
#define GX_FRONT_VIA_H

#include "front/yaml.h"

typedef struct gx_via {
    const gx_yaml *stream;              /* as it stands in the file */
    const gx_yaml *from, *to;           /* ids */
    const gx_yaml *stream_id;           /* NULL: the default one */
    const gx_yaml *args;                /* what it is grouped by */
    gale_str pack, sink, spout, unpack; /* ids */
    struct gx_via *next;
} gx_via;

/* Replaces all of them. What is wrong with them, with its place; GALE_NO_MEMORY. */
int gx_via_expand(gx_yaml_doc *doc, gx_via **ret_list, gale_error *error);

/* `fields` ("word, count") go in, and come out again: all that it is grouped by is among them. GALE_NOT_FOUND with the place. */
int gx_via_shape(const gx_yaml_doc *doc, const gx_via *via, const char *fields, gale_error *error);

/* The one of which this is a component; NULL: of none. */
const gx_via *gx_via_of(const gx_via *list, gale_str id);

#endif
