/* A dead letter, read back from a line of the file that a run has written (engine/dead_letter.h).
 *
 * What:    nothing of the line is trusted. It must be one object of JSON with exactly the fields of the stream
 *          `__dead_letter`, and with the time, which older lines lack. {"base64": "..."} in the tuple becomes bytes.
 * Threads: a letter is constant. Owner: the caller; all text is borrowed from the letter, but for the line.
 * Errors:  "file:line:column: what", with the nearest right word for a field that does not exist.
 * Limits:  map keys that hold a NUL are refused. */
#ifndef GX_FRONT_LETTER_H
#define GX_FRONT_LETTER_H

#include "base/port.h"

#include <gale/error.h>
#include <gale/value.h>

typedef struct gx_letter {
    gale_str line;   /* as it stands in the file, without its end; borrowed */
    uint32_t number; /* of the line, from 1 */
    gale_str component;
    gale_str stream;
    int64_t message_id;
    gale_value_owned *tuple; /* a list */
    gale_str reason;
    gale_str text;
    gale_str place; /* data NULL: not known */
    int64_t task;
    int64_t attempts;
    double time; /* seconds since 1970; 0: not known */
    char *texts; /* what the text is borrowed from */
} gx_letter;

/* Line `number` of the file `name`. GALE_SYNTAX, GALE_TYPE, GALE_NOT_FOUND when it is no letter; GALE_NO_MEMORY. */
int gx_letter_parse(const char *name, uint32_t number, gale_str line, gx_letter *ret_letter, gale_error *error);
void gx_letter_fini(gx_letter *letter);

#endif
