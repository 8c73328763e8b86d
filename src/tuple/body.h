/* Building the body of a record: measured first, then encoded into exactly that many bytes. The layout stands in
 * gale/tuple.h. Encoding is canonical (equal values, equal bytes), so that an encoded value can serve as a key. */
#ifndef GX_TUPLE_BODY_H
#define GX_TUPLE_BODY_H

#include "base/port.h"
#include "base/str.h"

#include <gale/error.h>
#include <gale/tuple.h>

#define GX_BODY_MAX ((size_t)1 << 30)

/* How many bytes a body of these values takes: a multiple of 8, or GALE_TOO_LARGE, GALE_INVALID (depth, a bad type, a map's
 * key that is no string or comes twice). */
int64_t gx_body_measure(const gale_value *values, size_t count);

/* Writes it to `at` (8-aligned), which holds what gx_body_measure said. Cannot fail. */
void gx_body_encode(const gale_value *values, size_t count, void *at);

/* The tag bytes, slots and variable part of a body are all inside `size` bytes and valid: for bodies that come from
 * elsewhere (files, sockets). */
bool gx_body_valid(const void *bytes, size_t size);

#endif
