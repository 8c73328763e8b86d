/* JSON to values in one pass, without a document between: the members that somebody wants go where he wants them.
 *
 * What:    paths ("user.name", "tags.0") form a tree. One pass over the text follows the tree, makes values of what
 *          it finds there, and checks and skips all else. A name that comes twice counts as its last one. A list or
 *          an object that is wanted as a whole becomes a value.
 *
 *              gx_json_paths_add(&paths, gx_str("user.name"), 0, GX_JSON_NEAREST)
 *              gx_json_read(&reader, text, &paths, columns)
 *
 * Threads: paths are frozen once they are made; a reader belongs to its task.
 * Owner:   values borrow from the text and from the reader, until it reads again or ends.
 * Limits:  GX_JSON_DEPTH in the text, the reader's depth in a value, GX_JSON_STEPS in a path. */
#ifndef GX_TUPLE_JSON_READ_H
#define GX_TUPLE_JSON_READ_H

#include "base/json_scan.h"
#include "base/str.h"
#include "tuple/arena.h"

#include <gale/error.h>

enum { GX_JSON_STEPS = 16, GX_JSON_NONE = UINT16_MAX };

/* What becomes of a number. A whole number within 64 bits is an i64, and one with a point or an exponent an f64;
 * but: */
typedef enum gx_json_numbers {
    GX_JSON_NEAREST, /* a whole number beyond 64 bits is the nearest f64 */
    GX_JSON_DIGITS,  /* a whole number beyond 64 bits keeps its digits: a string */
    GX_JSON_TEXT     /* every number is a string, as it stands there */
} gx_json_numbers;

typedef struct gx_json_node {
    gale_str name;
    size_t index;         /* that the name is in a list; SIZE_MAX: none */
    uint16_t child, next; /* the first one below it, and the next one beside it; GX_JSON_NONE */
    uint16_t twin;        /* the next one of the same place, which is no child; GX_JSON_NONE */
    uint16_t column;      /* GX_JSON_NONE: it only leads on */
    uint8_t numbers;
} gx_json_node;

/* The tree; its first node is the document. */
typedef struct gx_json_paths {
    gx_json_node *nodes; /* the maker's memory: gx_json_paths_room of them */
    uint32_t count;
    uint32_t columns; /* the highest one, and one */
} gx_json_paths;

/* How many nodes paths in this list take at most: "a.b, c". */
size_t gx_json_paths_room(gale_str list);

/* An empty tree, in memory for as many nodes as its paths take. */
void gx_json_paths_init(gx_json_paths *paths, gx_json_node *nodes);

/* Adds a path, whose text stays; "" is the document. False: an empty name, or more than GX_JSON_STEPS of them. */
bool gx_json_paths_add(gx_json_paths *paths, gale_str path, uint32_t column, gx_json_numbers numbers);

/* Adds a member of the document by its name, which stays; points in it are part of the name. */
void gx_json_paths_add_name(gx_json_paths *paths, gale_str name, uint32_t column, gx_json_numbers numbers);

typedef struct gx_json_reader {
    gx_arena arena;
    gale_value *items; /* of lists and maps that are not at their end yet */
    size_t item_count, item_room;
    uint32_t depth;    /* lists and objects inside each other in a value: GALE_VALUE_DEPTH, until it is set */
    bool unique;       /* a value with a map that has a name twice is wrong; else the last one counts */
    const char *wrong; /* what was, as the end of a sentence */
    size_t line, column;
} gx_json_reader;

void gx_json_reader_init(gx_json_reader *reader, gx_heap *heap);
void gx_json_reader_fini(gx_json_reader *reader);

/* The whole text as one value, whose lists and maps are in the arena. As gx_json_read. */
int gx_json_read_document(gx_json_reader *reader, gale_str text, gale_value *ret_value);

/* Sets `columns` to what stands at each path, or null. The text is UTF-8. GALE_INVALID, with what is wrong and
 * where; GALE_NO_MEMORY. */
int gx_json_read(gx_json_reader *reader, gale_str text, const gx_json_paths *paths, gale_value *columns);

#endif
