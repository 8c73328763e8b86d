/* Dead letters as a table for people, made while they are read.
 *
 * What:    rows gather until there are GX_LETTER_TABLE_ROWS, and are taken out together: each column is as wide as its
 *          widest cell until then. At the end stands how many there were, by reason.
 * Threads: one at a time.
 * Limits:  the memory of so many rows, of cells of 60 bytes. Of reasons, the first 32 are told apart. */
#ifndef GX_CLI_LETTER_TABLE_H
#define GX_CLI_LETTER_TABLE_H

#include "base/buf.h"
#include "front/letter.h"

enum { GX_LETTER_TABLE_COLUMNS = 8, GX_LETTER_TABLE_ROWS = 1000, GX_LETTER_TABLE_REASONS = 32 };

typedef struct gx_letter_table {
    int widths[GX_LETTER_TABLE_COLUMNS];
    gx_buf cells; /* of the rows that wait, each with a NUL behind it */
    size_t rows;
    uint64_t count;                          /* of all rows so far */
    gx_buf reasons[GX_LETTER_TABLE_REASONS]; /* in the order of appearing; the last is of all others */
    uint64_t counts[GX_LETTER_TABLE_REASONS];
} gx_letter_table;

void gx_letter_table_init(gx_letter_table *table);
void gx_letter_table_fini(gx_letter_table *table);

/* True when it is time to take the rows. */
bool gx_letter_table_add(gx_letter_table *table, const gx_letter *letter);

/* Appends the rows that wait, below the head of the table where they are the first. */
void gx_letter_table_take(gx_letter_table *table, gx_buf *out);

/* The same, and the last line: "3 dead letters: 2 failed, 1 rejected". */
void gx_letter_table_end(gx_letter_table *table, gx_buf *out);

#endif
