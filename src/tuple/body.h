/* Building the body of a tuple: measured first, then encoded into exactly that many bytes. The layout stands in
 * gale/tuple.h. Encoding is canonical (equal values, equal bytes), so that an encoded value can serve as a key. */
#ifndef GX_TUPLE_BODY_H
#define GX_TUPLE_BODY_H

#include "base/port.h"
#include "base/str.h"

#include <gale/error.h>
#include <gale/tuple.h>

#define GX_BODY_MAX ((size_t)1 << 30)

/* How many bytes a body of these values takes: a multiple of 8, or GALE_TOO_LARGE, GALE_INVALID (depth, a bad type, a
 * map's key that is no string or comes twice). */
int64_t gx_body_measure(const gale_value *values, size_t count);

/* Writes it to `at` (8-aligned), which holds what gx_body_measure said. Cannot fail. */
void gx_body_encode(const gale_value *values, size_t count, void *at);

/* How many bytes a body takes: its end follows from its contents. */
size_t gx_body_size(const gale_body *body);

/* The tag bytes, slots and variable part of a body fill exactly `size` bytes and are canonical (as gx_body_encode
 * writes them, strings UTF-8, no deeper than GALE_VALUE_DEPTH): for bodies that come from elsewhere (files,
 * sockets). */
bool gx_body_valid(const void *bytes, size_t size);

/* The same, but a string may be any bytes, as a component may have emitted it: for what the engine saved itself. */
bool gx_body_fits(const void *bytes, size_t size);

#endif
