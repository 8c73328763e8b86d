/* Dead letters, read back from the file that a run has written (engine/dead_letter.h): a line of JSON each.
 *
 * What:    nothing of the file is trusted. A line must be one object with exactly the fields of the stream
 *          `__dead_letter`; blank lines are passed over. {"base64": "..."} in a tuple becomes bytes.
 * Threads: a set is constant once it is read. Owner: the caller; all text is borrowed from the set.
 * Errors:  "file:line:column: what", with the nearest right word for a field that does not exist.
 * Limits:  GX_LETTERS_BYTES of text; map keys that hold a NUL are refused. */
#ifndef GX_FRONT_LETTERS_H
#define GX_FRONT_LETTERS_H

#include "base/port.h"

#include <gale/error.h>
#include <gale/value.h>

enum { GX_LETTERS_BYTES = 1 << 30 };

typedef struct gx_letter {
    gale_str line; /* as it stands in the file, without its end */
    uint32_t number;
    gale_str component;
    gale_str stream;
    int64_t message_id;
    gale_value_owned *tuple; /* a list */
    gale_str reason;
    gale_str text;
    gale_str place; /* data NULL: not known */
    int64_t task;
    int64_t attempts;
    void *json; /* what the text is borrowed from */
} gx_letter;

typedef struct gx_letters {
    gx_letter *items;
    size_t count, capacity;
    char *name; /* of the file */
    char *bytes;
} gx_letters;

/* GALE_SYNTAX, GALE_TYPE, GALE_NOT_FOUND, GALE_NO_MEMORY; also GALE_IO and GALE_TOO_LARGE for a file. */
int gx_letters_parse(const char *name, gale_str text, gx_letters *ret_letters, gale_error *error);
int gx_letters_load(const char *path, gx_letters *ret_letters, gale_error *error);
void gx_letters_fini(gx_letters *letters);

#endif
