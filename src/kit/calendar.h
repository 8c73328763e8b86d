/* What the clock of a run has to do with the calendar's.
 * Threads: any. */
#ifndef GX_KIT_CALENDAR_H
#define GX_KIT_CALENDAR_H

#include "base/port.h"

#include <gale/component.h>

/* Does the runtime's clock, which says `now`, go by the machine's? A durable run wraps it, and begins with its time;
 * what such a run has saved says so later. A clock that a test or a simulation moves is left alone, so that they stay
 * repeatable. */
GX_INLINE bool gx_calendar_is_machines(const gale_context *context, int64_t now) {
    gale_clock machine = gale_clock_monotonic();
    if (context->clock.now == machine.now) return true;
    int64_t apart = now - machine.now(machine.user);
    return context->durable && apart > -GALE_SECOND && apart < GALE_SECOND;
}

/* What makes nanoseconds since 1970 of a clock of the machine's that says `now`. */
GX_INLINE int64_t gx_calendar_phase(int64_t now) {
    gale_clock wall = gale_clock_wall();
    return wall.now(wall.user) - now;
}

/* Seconds since 1970 where the clock is the machine's, else what the clock says. */
GX_INLINE int64_t gx_calendar_now(const gale_context *context) {
    int64_t now = gale_context_now(context);
    if (gx_calendar_is_machines(context, now)) now += gx_calendar_phase(now);
    return now / GALE_SECOND;
}

#endif
