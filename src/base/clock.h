/* The clock handle, used from inside. */
#ifndef GX_BASE_CLOCK_H
#define GX_BASE_CLOCK_H

#include "base/port.h"

#include <gale/clock.h>
#include <gale/error.h>

/* A handle that an application gave (NULL: the machine's monotonic clock), as gx_options_take takes it. GALE_INVALID when
 * it has no function. `what` is how a report calls it. */
int gx_clock_take(gale_clock *to, const gale_clock *given, const char *what, gale_error *error);

GX_INLINE int64_t gx_now(const gale_clock *clock) {
    return clock->now(clock->user);
}

#endif
