/* Who looks at the tuples of a running topology: their taps, and the thread that shows them what comes.
 *
 * What:    a tap has a ring, into which executors put (serve/tap_ring), perhaps an expression (serve/tap_where), and an answer
 *          (serve/outflow). Every GX_TAPPERS_PERIOD a thread of its own empties all rings: it judges, and writes a line of JSON a tuple. So no
 *          executor does more than copy a tuple, and no door waits for an expression.
 *          With an expression every tuple is looked at for which the ring has room, some 100 000 a second, and so many of those that it takes
 *          are shown as were asked for. Without one the engine takes no more than that, which costs it nothing between. A tuple that it fails with is passed over; the first is told, as a line with an error.
 *          Where nothing comes an empty line does, every GX_TAPPERS_SILENCE, so that a reader who has gone is noticed.
 * Threads: gx_tappers_begin and gx_tappers_end_all any, with the served runtime's guard held, as `served` says; the thread begins with the
 *          first tap.
 * Owner:   the server.
 * Limits:  GX_TAPPERS_MAX at a time. A reader who does not read has GX_TAPPERS_WAITING bytes (and a line) that wait; then its ring fills, and
 *          what does not fit is dropped, and counted in the next line.
 */
#ifndef GX_SERVE_TAPPERS_H
#define GX_SERVE_TAPPERS_H

#include "serve/outflow.h"
#include "serve/parts.h"

#include <gale/clock.h>

enum { GX_TAPPERS_MAX = 16, GX_TAPPERS_RATE = 10, GX_TAPPERS_RATE_MAX = 10000, GX_TAPPERS_WAITING = 256 << 10 };
#define GX_TAPPERS_PERIOD (20 * GALE_MILLISECOND)
#define GX_TAPPERS_SILENCE GALE_SECOND
#define GX_TAPPERS_RETURN (200 * GALE_MILLISECOND) /* for an expression that is being evaluated then */

struct gx_served;
typedef struct gx_tappers gx_tappers;

/* NULL when memory is out. */
gx_tappers *gx_tappers_new(struct gx_served *served);

/* Taps end, and their readers have until `until` (monotonic) for what was put. False: an expression does not come
 * back, so that the thread, and all that it uses, is left behind. NULL is allowed. */
bool gx_tappers_free(gx_tappers *tappers, int64_t until);

typedef struct gx_tapper_options {
    const gx_part *part;
    const char *stream; /* NULL: all */
    gale_str where;     /* empty: all tuples */
    uint32_t rate;      /* a second, 1 to GX_TAPPERS_RATE_MAX */
} gx_tapper_options;

/* What is to be sent goes to `ret_flow`. GALE_AGAIN: there are too many, or all ends; errors of gx_tap_where_new and gale_runtime_tap. */
GALE_MUST_USE int gx_tappers_begin(gx_tappers *tappers, const gx_tapper_options *options, gx_outflow **ret_flow,
                                   gale_error *error);

/* How many are open. */
uint32_t gx_tappers_count(gx_tappers *tappers);

/* The runtime is to go: what was put is still shown, and then each answer ends. */
void gx_tappers_end_all(gx_tappers *tappers);

#endif
