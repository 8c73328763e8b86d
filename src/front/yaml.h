/* A YAML file as a tree in which every node knows its line and column, so that whoever reads it can say where it is
 * wrong.
 *
 * What:    libyaml parses; this module builds the tree, types plain scalars as YAML 1.1 does (gx_config_scalar;
 *          what is quoted is a string; base 60 is not read: 12:30 is a string), resolves aliases, and refuses duplicate
 * keys. Threads: one at a time. Owner:   nodes and text belong to the document and live until gx_yaml_free. Limits:  16
 * MiB of text, 64 levels, a million nodes counted with aliases spelled out, 1000 anchors: beyond them a file is refused
 * with the place. One document a file; no merge keys, no tags but YAML's own.
 */
#ifndef GX_FRONT_YAML_H
#define GX_FRONT_YAML_H

#include "base/port.h"

#include <gale/alloc.h>
#include <gale/error.h>
#include <gale/value.h>

enum { GX_YAML_DEPTH = 64, GX_YAML_NODES = 1000000, GX_YAML_ANCHORS = 1000, GX_YAML_BYTES = 16 << 20 };

typedef struct gx_yaml {
    int32_t type;          /* gale_type; never GALE_TYPE_BYTES */
    uint32_t line, column; /* from 1 */
    uint32_t count;        /* list: items; map: entries */
    uint32_t expanded;     /* nodes below and including this one, aliases spelled out */
    uint32_t height;       /* levels, itself included, aliases spelled out */
    gale_str text;         /* scalar: as written, unquoted, ended by a NUL */
    union {
        bool boolean;
        int64_t i64;
        double f64;
        struct gx_yaml *first; /* list: the first item; map: key, value, key, value */
    } as;
    struct gx_yaml *next; /* in the list or map that this node is in */
} gx_yaml;

typedef struct gx_yaml_doc gx_yaml_doc;

/* Parses `text`; `name` is what errors call the file. `allocator` NULL: malloc. GALE_SYNTAX, GALE_TOO_LARGE or
 * GALE_NO_MEMORY, with "name:line:column: what" in `error`. */
int gx_yaml_parse(const char *name, gale_str text, const gale_allocator *allocator, gx_yaml_doc **ret_doc,
                  gale_error *error);

/* The same for a file; also GALE_IO. */
int gx_yaml_load(const char *path, gx_yaml_doc **ret_doc, gale_error *error);

void gx_yaml_free(gx_yaml_doc *doc); /* NULL is allowed */

/* NULL for a file that holds nothing. */
const gx_yaml *gx_yaml_root(const gx_yaml_doc *doc);
const char *gx_yaml_name(const gx_yaml_doc *doc);

/* The value under `key` in a map, or NULL (also for a node that is no map, or NULL). */
const gx_yaml *gx_yaml_get(const gx_yaml *map, const char *key);

/* "a list", "a whole number"... for messages. */
const char *gx_yaml_type_text(const gx_yaml *node);

static inline bool gx_yaml_is_scalar(const gx_yaml *node) {
    return node->type < GALE_TYPE_LIST;
}

/* Begins the report with "name:line:column: ..." and returns `code`. `node` NULL: "name: ...". */
int gx_yaml_error(const gx_yaml_doc *doc, const gx_yaml *node, gale_error *error, int code, const char *format, ...)
    GALE_PRINTF(5, 6);

/* The same with the report of another module as text; returns its code. */
int gx_yaml_error_at(const gx_yaml_doc *doc, const gx_yaml *node, gale_error *error, const gale_error *inner);

/* The node as a value, whose lists and maps live in the document. Map keys become strings. GALE_NO_MEMORY. */
int gx_yaml_value(gx_yaml_doc *doc, const gx_yaml *node, gale_value *ret_value, gale_error *error);

#endif
