/* What a format is to the bolts: a schema that is opened from a file, names in it, bytes to a value and back.
 *
 * Threads: a schema is frozen when it is open. Owner: what is read borrows from the bytes, the schema and the memory.
 * Limits:  a value is GALE_VALUE_DEPTH deep, as every value. */
#ifndef GALE_CONNECT_FORMATS_FORMAT_H
#define GALE_CONNECT_FORMATS_FORMAT_H

#include "connect/formats/bytes.h"
#include "connect/formats/memory.h"

#include <gale/plugin.h>

enum { FMT_PROBLEM = 240, FMT_SCHEMA_MAX = 64 << 20 };

/* What is wrong with a message, UTF-8. */
typedef struct fmt_problem {
    char text[FMT_PROBLEM];
} fmt_problem;

/* Says it, and returns GALE_DAMAGED. */
int fmt_wrong(fmt_problem *problem, const char *format, ...) GALE_PRINTF(2, 3);

/* What a value in a message may be called: its fields, one after the other. */
typedef struct fmt_format {
    const char *who;  /* "protobuf bolt" */
    const char *what; /* "protobuf message" */
    int (*open)(const gale_args *args, void **ret_schema, gale_error *error);
    void (*close)(void *schema);

    /* Field `index` of a node (NULL: the message itself), and the node that is below it; `*ret_below` is NULL where no names are
     * known. False: it has no more. */
    bool (*field)(const void *schema, const void *node, size_t index, gale_str *ret_name, const void **ret_below);

    /* A map of all fields, in their order. GALE_DAMAGED with a problem, GALE_NO_MEMORY, GALE_TOO_LARGE. */
    int (*read)(const void *schema, gale_str bytes, fmt_memory *memory, gale_value *ret_value, fmt_problem *problem);

    /* A map. GALE_DAMAGED with a problem. */
    int (*write)(const void *schema, const gale_value *value, fmt_bytes *to, fmt_problem *problem);
} fmt_format;

/* A whole file, ended by a NUL. It is the parameter `schema`'s. */
int fmt_schema_load(const char *path, fmt_memory *memory, gale_str *ret_text, gale_error *error);

/* Sorts a map's pairs by their keys; of those that have the same the last stays. GALE_NO_MEMORY, GALE_TOO_LARGE. */
int fmt_map_settle(gale_value *map, fmt_memory *memory);

GALE_INLINE bool fmt_same(gale_str a, gale_str b) {
    return a.size == b.size && (!a.size || __builtin_memcmp(a.data, b.data, a.size) == 0);
}

#define FMT_STR(text) (int)(text).size, (text).data

#endif
