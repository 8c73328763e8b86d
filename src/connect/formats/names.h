/* Names that a file gives to bolts: fields of the input, paths into a message, and what goes out.
 * Threads: frozen when they are made. Owner: the memory that they are made in. */
#ifndef GALE_CONNECT_FORMATS_NAMES_H
#define GALE_CONNECT_FORMATS_NAMES_H

#include "connect/formats/format.h"

enum { FMT_KEEP_MAX = 64, FMT_FIELDS_MAX = 256, FMT_STEPS_MAX = 16 };

/* Names that a tuple's fields are found by. */
typedef struct fmt_keep {
    const char *names[FMT_KEEP_MAX];
    size_t count;
} fmt_keep;

/* "user.name": names, one below the other; a number is a place in a list, too. */
typedef struct fmt_path {
    gale_str steps[FMT_STEPS_MAX];
    size_t count;
} fmt_path;

typedef struct fmt_names {
    fmt_memory memory;
    const char *field; /* of the input; NULL: the first */
    fmt_keep keep;
    fmt_path *paths;
    size_t count;
    char *outputs; /* "offset, id, name" */
    size_t outputs_size;
} fmt_names;

/* Reads `field`, `keep`, `fields`; without fields they are all of the message. An error begins with the parameter. */
int fmt_names_read(fmt_names *names, const gale_args *args, const fmt_format *format, const void *schema,
                   gale_error *error);

/* Of "a as b" the two; both are the whole where there is no "as". */
void fmt_names_cut(gale_str text, gale_str *ret_from, gale_str *ret_name);

/* Reads `keep`. */
int fmt_names_read_keep(fmt_names *names, const gale_args *args, gale_error *error);

/* Appends a name to those that go out, of which each is there once. */
int fmt_names_add(fmt_names *names, const char *parameter, gale_str name, gale_error *error);

/* The values of a tuple's fields that are kept; null of one that it has not. */
void fmt_keep_values(const fmt_keep *keep, const gale_tuple *tuple, gale_value *values);

/* What stands at the path; null where there is nothing. */
gale_value fmt_path_find(const fmt_path *path, const gale_value *root);

#endif
