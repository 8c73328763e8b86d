#include "base/clock.h"

#include "base/object.h"
#include "base/options.h"
#include "base/os/time.h"

#include <stdlib.h>

static int64_t monotonic_now(void *user) {
    (void)user;
    return gx_os_monotonic();
}

static int64_t wall_now(void *user) {
    (void)user;
    return gx_os_wall();
}

gale_clock gale_clock_monotonic(void) {
    return (gale_clock){ sizeof(gale_clock), monotonic_now, NULL };
}

gale_clock gale_clock_wall(void) {
    return (gale_clock){ sizeof(gale_clock), wall_now, NULL };
}

int gx_clock_take(gale_clock *to, const gale_clock *given, const char *what, gale_error *error) {
    gale_clock taken = gale_clock_monotonic();
    int rc = given ? gx_options_take(&taken, sizeof taken, given, what, error) : GALE_OK;
    if (rc < 0) return rc;
    if (!taken.now) return gale_error_set(error, GALE_INVALID, "%s has no function", what);
    *to = taken;
    return GALE_OK;
}

struct gale_manual_clock {
    gx_mark mark;
    gx_atomic64 now;
};

static bool is_clock(const gale_manual_clock *clock) {
    return gx_mark_is(clock, GX_KIND_MANUAL_CLOCK);
}

gale_manual_clock *gale_manual_clock_new(int64_t start) {
    gale_manual_clock *clock = malloc(sizeof *clock);
    if (!clock) return NULL;
    atomic_init(&clock->now, (uint64_t)start);
    gx_mark_begin(&clock->mark, GX_KIND_MANUAL_CLOCK);
    return clock;
}

void gale_manual_clock_free(gale_manual_clock *clock) {
    if (!is_clock(clock)) return;
    gx_mark_end(&clock->mark);
    free(clock);
}

/* Time neither goes back nor wraps: it stands still at the end of its range. */
static int64_t later(int64_t now, int64_t nanoseconds) {
    if (nanoseconds <= 0) return now;
    return now > INT64_MAX - nanoseconds ? INT64_MAX : now + nanoseconds;
}

int64_t gale_manual_clock_advance(gale_manual_clock *clock, int64_t nanoseconds) {
    if (!is_clock(clock)) return 0;
    uint64_t before = gx_load_relaxed(&clock->now);
    int64_t now;
    do now = later((int64_t)before, nanoseconds);
    /* R1: who reads the new time also sees what the mover wrote before. */
    while (!gx_cas_release(&clock->now, &before, (uint64_t)now));
    return now;
}

static int64_t manual_now(void *user) {
    gale_manual_clock *clock = user;
    return (int64_t)gx_load_acquire(&clock->now); /* A1 */
}

gale_clock gale_manual_clock_handle(gale_manual_clock *clock) {
    return (gale_clock){ sizeof(gale_clock), is_clock(clock) ? manual_now : NULL, clock };
}
