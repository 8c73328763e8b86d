/* The clock handle, used from inside. */
#ifndef GX_BASE_CLOCK_H
#define GX_BASE_CLOCK_H

#include "base/port.h"

#include <gale/clock.h>

GX_INLINE int64_t gx_now(const gale_clock *clock) {
    return clock->now(clock->user);
}

#endif
