/* The rows of a table that is looked things up in: some values for each key. Keys are compared as text: 7, "7" and the bytes of "7" are
 * one.
 * Threads: the task's. Owner: memory comes from the heap; what is found borrows from the rows. */
#ifndef GX_SCRIPT_LOOKUP_ROWS_H
#define GX_SCRIPT_LOOKUP_ROWS_H

#include "base/buf.h"
#include "ds/bytes_map.h"

#include <gale/value.h>

typedef struct gx_lookup_rows {
    gx_bytes_map *keys; /* to where the values are, and the row's number */
    gx_buf values;
} gx_lookup_rows;

/* False when memory is out. */
bool gx_lookup_rows_init(gx_lookup_rows *rows, gx_heap *heap, uint64_t seed);
void gx_lookup_rows_fini(gx_lookup_rows *rows); /* may be zeroed */

/* Makes a key of values in `key`, whose old contents go. GALE_TYPE: one is neither text, a whole number nor a truth value, and
 * leads nowhere; GALE_NO_MEMORY. */
int gx_lookup_key(const gale_value *values, uint32_t count, gx_buf *key);

/* Adds a row. GALE_EXISTS: there is one with this key, of number `*ret_number`; GALE_INVALID, GALE_TOO_LARGE, GALE_NO_MEMORY. */
int gx_lookup_rows_add(gx_lookup_rows *rows, gale_str key, const gale_value *values, uint32_t count, uint64_t number,
                       uint64_t *ret_number);

/* The values of a key, as a list; false: it has none. */
bool gx_lookup_rows_find(const gx_lookup_rows *rows, gale_str key, gale_value *ret_list);

size_t gx_lookup_rows_count(const gx_lookup_rows *rows);

#endif
