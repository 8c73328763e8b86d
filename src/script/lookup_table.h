/* A table in a file, read piece by piece, so that nothing waits for it: CSV with a line of names, JSON (an array of objects, or an object
 * of objects by their key), or an object a line.
 *
 *     gx_lookup_load_begin   opens the file
 *     gx_lookup_load_step    a piece: GX_LOOKUP_PIECE bytes, or GX_LOOKUP_ROWS rows; a document of JSON is read in one
 *     gx_lookup_load_end     gives all back but rows that were taken
 *
 * Threads: the shape is frozen; a load belongs to its task. Owner: the shape borrows its texts. */
#ifndef GX_SCRIPT_LOOKUP_TABLE_H
#define GX_SCRIPT_LOOKUP_TABLE_H

#include "base/os/file.h"
#include "kit/csv.h"
#include "kit/fields.h"
#include "script/lookup_rows.h"
#include "tuple/json_read.h"

#include <gale/json.h>

enum {
    GX_LOOKUP_PIECE = 256 << 10,
    GX_LOOKUP_ROWS = 1000,
    GX_LOOKUP_CELLS = 512,
    GX_LOOKUP_COLUMNS = GX_FIELDS_MAX,
    GX_LOOKUP_NODES = 2 * GX_FIELDS_TEXT + 2
};

typedef enum gx_lookup_format { GX_LOOKUP_CSV, GX_LOOKUP_JSON, GX_LOOKUP_JSONL } gx_lookup_format;

typedef struct gx_lookup_column {
    gale_str from;
    int32_t type; /* gx_scalar_type */
    bool typed;
} gx_lookup_column;

typedef struct gx_lookup_shape {
    const char *path;
    gx_lookup_format format;
    gx_csv_format csv;
    uint32_t by_count, add_count;
    gx_lookup_column by[GX_LOOKUP_COLUMNS], add[GX_LOOKUP_COLUMNS];
    uint64_t max_rows, max_bytes;
    gx_json_paths paths; /* of JSON: `by` are the columns from 0 on, `add` those from GX_LOOKUP_COLUMNS on */
    gx_json_node nodes[GX_LOOKUP_NODES];
} gx_lookup_shape;

typedef struct gx_lookup_load {
    const gx_lookup_shape *shape;
    gx_heap *heap;
    gx_file_about about; /* when it was opened */
    gx_lookup_rows rows; /* whole when a step returned 1 */
    int fd;
    char *text;
    size_t room, size; /* of the text: allocated, read */
    bool is_read, has_names;
    gale_str rest;
    uint64_t line; /* or row, from 1 */
    gx_buf scratch, key;
    gx_json_reader reader;
    gale_json_item member;                                        /* of a document: the one before the next */
    bool is_open;                                                 /* the document was checked */
    uint32_t cell_count, columns;                                 /* of a record, and of the names */
    uint16_t by_at[GX_LOOKUP_COLUMNS], add_at[GX_LOOKUP_COLUMNS]; /* columns of CSV */
    gale_str cells[GX_LOOKUP_CELLS];
} gx_lookup_load;

/* GALE_IO, GALE_TOO_LARGE, GALE_NO_MEMORY. Whatever it returns, gx_lookup_load_end must follow. */
int gx_lookup_load_begin(gx_lookup_load *load, const gx_lookup_shape *shape, gx_heap *heap, uint64_t seed,
                         gale_error *error);

/* 1: the rows are whole; 0: there is more; GALE_SYNTAX with "file:line:column"; GALE_TOO_LARGE; GALE_AGAIN: the file changed while it was
 * read; GALE_IO, GALE_NO_MEMORY. */
int gx_lookup_load_step(gx_lookup_load *load, gale_error *error);

void gx_lookup_load_end(gx_lookup_load *load);

#endif
