/* The time that a tuple carries: a field of i64 or f64 seconds since 1970, in nanoseconds here. Fractions count: what
 * is late, and what is first, is decided by them.
 * Threads: the task's. Owner: all borrowed. Limits: GX_OWN_TIME_SECONDS on both sides of 1970 (years 1824 to 2115), so
 *          that no sum of a time, a lateness and the length of a window overflows. */
#ifndef GX_KIT_OWN_TIME_H
#define GX_KIT_OWN_TIME_H

#include "kit/fields.h"

#include <gale/clock.h>

#define GX_OWN_TIME_SECONDS INT64_C(4600000000)
#define GX_OWN_TIME_MAX (GX_OWN_TIME_SECONDS * GALE_SECOND)

/* GALE_TYPE: not a number; GALE_INVALID: NaN, or beyond the limits. Then `*ret_ns` is untouched. */
int gx_own_time_of(const gale_value *seconds, int64_t *ret_ns);

/* Takes it from the tuple, whose field `field` names. As gx_own_time_of, with a report; GALE_FIELDS where there is no
 * such field. */
int gx_own_time_take(const gx_fields *field, gx_field_places *places, const char *who, const gale_tuple *tuple,
                     gale_collector *out, int64_t *ret_ns);

/* The whole seconds that it has, rounded down. */
GX_INLINE int64_t gx_own_time_seconds(int64_t ns) {
    return ns / GALE_SECOND - (ns % GALE_SECOND < 0);
}

/* Seconds as a value: i64 where they are whole, else f64. */
GX_INLINE gale_value gx_own_time_value(int64_t ns) {
    return ns % GALE_SECOND == 0 ? gale_i64(ns / GALE_SECOND) : gale_f64((double)ns / 1e9);
}

#endif
