/* Is a running topology well? In words.
 *
 * What:    live: it moves; when it is not, starting it anew may help (a component's call that does not come back, a checkpoint
 *          that is late). Ready: all is open and well, and it takes work. Well: nothing is wrong; not ready
 *          because somebody wants it to pause is not wrong. A problem is told with how long it has been one.
 * Threads: any. Owner: texts lie in the structure.
 * Limits:  GX_HEALTHY_PROBLEMS; more are counted.
 */
#ifndef GX_SERVE_HEALTHY_H
#define GX_SERVE_HEALTHY_H

#include "serve/snapshot.h"

enum { GX_HEALTHY_PROBLEMS = 20, GX_HEALTHY_TEXT = 400 };

typedef struct gx_problem {
    char text[GX_HEALTHY_TEXT];
    int64_t since;         /* ns ago; -1: not known */
    const char *component; /* NULL: the whole run's. That of a component is among what hurts (serve/hurts.h), too */
} gx_problem;

typedef struct gx_healthy {
    bool live, ready, well;
    uint32_t count; /* of problems; more than GX_HEALTHY_PROBLEMS are not kept */
    gx_problem problems[GX_HEALTHY_PROBLEMS];
} gx_healthy;

/* A component that says that it blocks (gale.blocking) may take its time in a call; any other that is in one for so long is stuck. */
enum { GX_HEALTHY_STUCK = 30 }; /* seconds */

bool gx_healthy_may_block(const gx_part *part);

/* The task that is stuck in its executor's call, and for how long (ns); 0: none. */
uint32_t gx_healthy_stuck(const gx_parts *parts, const gx_snapshot *now, uint32_t executor, int64_t *ret_since);

/* `interval`: of checkpoints, ns. `paused`: spouts were told to. */
void gx_healthy_look(const gx_parts *parts, const gx_snapshot *now, int64_t interval, bool paused,
                     gx_healthy *ret_healthy);

#endif
