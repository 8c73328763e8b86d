/* A stream that is written as one, and is several components: what such an expansion is made of (front/via.h, front/buffer.h).
 *
 * What:    as a file is read, each stream that has a certain key is replaced by components and streams, whose nodes have the places of
 *          what they were made from: all that comes later, errors and warnings too, sees them as though the file had them.
 * Threads: one at a time. Owner: all belongs to the document. Errors: false, and NULL, when memory is out. */
#ifndef GX_FRONT_EXPANSION_H
#define GX_FRONT_EXPANSION_H

#include "front/yaml.h"

typedef struct gx_expansion {
    gx_yaml_doc *doc;
    gale_error *error;
    gale_str topology;                 /* its name */
    gx_yaml *spouts, *bolts, *streams; /* as they become */
    bool blind;                        /* there is no list to put components into, which is told later */
} gx_expansion;

/* Replaces a stream, or returns an error with its place; 0 where that is kept (gx_yaml_keep), and the stream goes straight on. */
typedef int gx_expansion_one_fn(const gx_expansion *e, const gx_yaml *stream, void *user);

/* Calls `one` for each stream that has the key. */
int gx_expansion_run(gx_yaml_doc *doc, const char *key, gx_expansion_one_fn *one, void *user, gale_error *error);

int gx_expansion_no_memory(const gx_expansion *e);
int gx_expansion_refuse(const gx_expansion *e, const gx_yaml *place, const char *what);

/* A text, a map or a list with the place of another node. */
gx_yaml gx_expansion_text(const gx_yaml *place, gale_str text);
gx_yaml *gx_expansion_open(const gx_expansion *e, const gx_yaml *place, int32_t type);

bool gx_expansion_put(const gx_expansion *e, gx_yaml *map, const char *name, const gx_yaml *value);
bool gx_expansion_put_text(const gx_expansion *e, gx_yaml *map, const char *name, const gx_yaml *place, gale_str text);

/* A map of one, a list of one text. */
gx_yaml *gx_expansion_map_of(const gx_expansion *e, const gx_yaml *place, const char *name, const gx_yaml *value);
gx_yaml *gx_expansion_list_of(const gx_expansion *e, const gx_yaml *place, const char *text);

/* "base-part", in the document; `data` is NULL when memory is out. */
gale_str gx_expansion_join(const gx_expansion *e, gale_str base, const char *between, gale_str part);

/* What a stream is called: its `id`, or "from-to". */
gale_str gx_expansion_base(const gx_expansion *e, const gx_yaml *stream, gale_str from, gale_str to);

typedef struct gx_expansion_part {
    const gx_yaml *place, *parallelism; /* which may be NULL */
    gale_str id;
    const char *class_;
} gx_expansion_part;

bool gx_expansion_add_part(const gx_expansion *e, gx_yaml *list, const gx_expansion_part *part,
                           const gx_yaml *properties);

/* A stream by fields, or evenly where `args` is NULL. */
bool gx_expansion_add_stream(const gx_expansion *e, const gx_yaml *place, const gx_yaml *from, const gx_yaml *to,
                             const gx_yaml *args, const gx_yaml *stream_id);

/* A stream with an error in it goes straight on, without the key, so that the rest of the file can be looked at. */
int gx_expansion_add_straight(const gx_expansion *e, const gx_yaml *stream, const char *key);

#endif
