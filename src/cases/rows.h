/* Rows of a file of cases: tuples to feed, tuples that are wanted.
 *
 * What:    a row is a list (values in order), a map (by names of fields; what is not named is anything) or, where there is one
 *          field, that value. In a wanted row a map in the place of a value says what else than a value is wanted:
 *
 *              {any}   {match: '^a'}   {contains: text}   {near: 1.5, within: 0.1}   {value: {a: map}}
 *
 * Threads: one at a time. Owner: values and rows belong to the document, patterns to gx_takers.
 */
#ifndef GX_CASES_ROWS_H
#define GX_CASES_ROWS_H

#include "front/shape.h"
#include "sim/wanted.h"

/* The fields that a row may have. */
typedef struct gx_row_fields {
    const char *const *names;
    uint32_t count;
    const char *what; /* how messages call it: "'count'" */
} gx_row_fields;

typedef struct gx_rows {
    gale_value *values; /* of rows to feed: count * width */
    gx_wanted_row *wanted;
    size_t count;
    uint32_t width;
} gx_rows;

/* What takes texts, until it is freed. */
typedef struct gx_taker gx_taker;
typedef struct gx_takers {
    gx_taker *first;
} gx_takers;

void gx_takers_fini(gx_takers *takers);

/* How far numbers may be off: above 0, and so that it can fail. GALE_INVALID with `what`, the node's key. */
int gx_within_read(const gx_yaml_doc *doc, const gx_yaml *node, const char *what, double *ret_within,
                   gale_error *error);

/* One value of the node, in the document's memory; a number in it may be off by `within`. */
int gx_wanted_read(gx_yaml_doc *doc, gx_takers *takers, const gx_yaml *node, double within, gx_wanted *ret_wanted,
                   gale_error *error);

/* One row of the node. `ret_row->fields` NULL where an error was kept. */
int gx_wanted_row_read(gx_yaml_doc *doc, gx_takers *takers, const gx_yaml *node, const gx_row_fields *fields,
                       double within, gx_wanted_row *ret_row, gale_error *error);

/* The rows of a list, to be fed, and to be wanted. Errors of rows are kept where several are wanted. */
int gx_rows_to_feed(gx_yaml_doc *doc, const gx_yaml *list, const gx_row_fields *fields, gx_rows *ret_rows,
                    gale_error *error);
int gx_rows_wanted(gx_yaml_doc *doc, gx_takers *takers, const gx_yaml *list, const gx_row_fields *fields, double within,
                   gx_rows *ret_rows, gale_error *error);

/* The lines of a text (the last may lack its end), or of a list of texts, as a list of texts. */
int gx_lines_read(gx_yaml_doc *doc, const gx_yaml *node, const gx_yaml **ret_list, gale_error *error);

#endif
