/* The hash behind fields grouping: gale_value_hash, and of several values in order. Version 1; golden values in
 * test/tuple/hash_test.c. */
#ifndef GX_TUPLE_HASH_H
#define GX_TUPLE_HASH_H

#include "base/hash.h"

#include <gale/value.h>

/* Strings and bytes by content and type, numbers by their canonical 8 bytes and type, lists and maps item by item. */
uint64_t gx_value_hash(const gale_value *value);

/* values[indices[0]], values[indices[1]], ... in that order. */
uint64_t gx_values_hash(const gale_value *values, const uint16_t *indices, size_t count);

#endif
