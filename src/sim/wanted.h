/* What a test wants in the place of a value, and rows of that.
 *
 * What:    anything, a value, a number within a distance, a text that a function takes, or a list of such. Numbers are the same
 *          by their value, whole or not; bytes are the same as a text of the same bytes.
 * Threads: any. Owner: everything is borrowed. */
#ifndef GX_SIM_WANTED_H
#define GX_SIM_WANTED_H

#include "base/buf.h"

#include <gale/value.h>

typedef enum gx_wanted_kind { GX_WANTED_ANY, GX_WANTED_VALUE, GX_WANTED_TEXT, GX_WANTED_LIST } gx_wanted_kind;

typedef struct gx_wanted {
    int32_t kind;
    gale_value value;                         /* VALUE */
    double within;                            /* VALUE: how far numbers in it may be off */
    bool (*takes)(void *user, gale_str text); /* TEXT: a string that it takes */
    void *user;
    const char *shown;             /* TEXT: "match x" */
    const struct gx_wanted *items; /* LIST */
    uint32_t count;
} gx_wanted;

/* A wanted tuple. */
typedef struct gx_wanted_row {
    const gx_wanted *fields;
    uint32_t count;
} gx_wanted_row;

/* A tuple that was found. */
typedef struct gx_found_row {
    const gale_value *values;
    uint32_t count;
} gx_found_row;

bool gx_wanted_fits(const gx_wanted *wanted, const gale_value *found);

/* How many fields of the row fit; all of them: true in `*ret_whole`. */
uint32_t gx_wanted_row_fits(const gx_wanted_row *wanted, const gx_found_row *found, bool *ret_whole);

/* As JSON, but for what is no value. */
void gx_wanted_show(const gx_wanted *wanted, gx_buf *out);
void gx_wanted_row_show(const gx_wanted_row *row, gx_buf *out);
void gx_found_show(const gale_value *value, gx_buf *out);
void gx_found_row_show(const gx_found_row *row, gx_buf *out);

#endif
