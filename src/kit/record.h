/* Records that components save (gale/state.h), read with the shape that they must have: what is restored was checked by
 * the store, but may be of another component or version, and is never trusted.
 * Threads: one at a time. Owner: values are borrowed until the next record is taken. */
#ifndef GX_KIT_RECORD_H
#define GX_KIT_RECORD_H

#include "base/port.h"

#include <gale/error.h>
#include <gale/state.h>

/* Has a record that was taken with gale_saved_next this shape (gx_record_take)? */
bool gx_record_has(const gale_value *values, size_t count, const char *shape);

/* Takes the next record. `shape` has one letter a value: i (i64), n (i64, not negative), f (f64), o (bool), s (string), y (bytes), l (list),
 * m (map), and ? for whatever. 1; 0 when there are no more; GALE_DAMAGED for a record of another shape; GALE_NO_MEMORY. */
int gx_record_take(gale_saved *from, const char *shape, const gale_value **ret_values);

/* The same where there must be one: 0, or an error. */
int gx_record_need(gale_saved *from, const char *shape, const gale_value **ret_values);

#endif
