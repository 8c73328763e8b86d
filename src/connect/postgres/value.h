/* A value as PostgreSQL writes it (its text format), as gale's.
 *
 *      boolean                       bool
 *      smallint, integer, bigint     i64; so are oid and xid
 *      real, double precision        f64
 *      bytea                         bytes
 *      all others                    text as it stands: numeric (which is exact), dates and times, json, arrays
 */
#ifndef GALE_CONNECT_POSTGRES_VALUE_H
#define GALE_CONNECT_POSTGRES_VALUE_H

#include <gale/value.h>
#include <stdint.h>

/* Of `size` bytes with a NUL behind them, which may be written over: bytes are decoded in place, and borrowed as texts are. What is not as the type says is its text, or
 * bytes where it is not UTF-8. */
gale_value pg_value_of(uint32_t type, char *text, size_t size);

#endif
