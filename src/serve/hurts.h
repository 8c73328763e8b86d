/* Problems of a running topology, a sentence each, the worst first. A pure function of two snapshots.
 *
 * What:    "spout lines is held 71 % by count[3]: 2.1 ms a tuple, queue 256 KiB". All are of the time between the snapshots, about ten seconds.
 *          Of one level, a cause stands before its effects: trees that failed at a bolt before what their spout logged about them. Tasks of a
 *          component that are unhealthy for one reason are one problem; numbers in the reason make no difference.
 * Threads: any. Owner: names are the topology's.
 * Limits:  GX_HURTS_MAX sentences; what is less bad is left out.
 */
#ifndef GX_SERVE_HURTS_H
#define GX_SERVE_HURTS_H

#include "serve/snapshot.h"

enum { GX_HURTS_MAX = 20, GX_HURT_SIZE = 240 };

/* ns in one call, from which on it is told. */
#define GX_HURTS_CALL (2 * GALE_SECOND)

typedef enum gx_hurt_level { GX_HURT_NOTE, GX_HURT_WARN, GX_HURT_BAD } gx_hurt_level;

typedef struct gx_hurt {
    gx_hurt_level level;
    uint8_t rank;  /* among those of a level: causes (0) before effects */
    double weight; /* among those of a rank */
    const char *component;
    uint32_t task; /* 0: all of the component's, or none */
    int64_t since; /* ns ago; -1: not known, or in the text */
    char text[GX_HURT_SIZE];
} gx_hurt;

typedef struct gx_hurts {
    gx_hurt list[GX_HURTS_MAX];
    uint32_t count;
} gx_hurts;

/* `before` NULL: nothing is known of what was, and nothing said of rates. */
void gx_hurts_find(const gx_parts *parts, const gx_snapshot *before, const gx_snapshot *now, gx_hurts *ret_hurts);

/* "bad", "warn" or "note". */
const char *gx_hurt_level_name(gx_hurt_level level);

/* A bolt's time in execute, as a share of the time between two readings of its task; a spout's is 0. By the latency that
 * is sampled. */
double gx_hurts_busy(const gale_task_stats *before, const gale_task_stats *now, int64_t nanoseconds);

/* Storm's capacity of a component: that of its busiest task. 0 when nothing is known of what was. */
double gx_hurts_capacity(const gx_part *part, const gx_snapshot *before, const gx_snapshot *now);

/* Who holds a task in the end: the task that holds it now, or mostly did, may be held itself by one behind it. 0: nobody. */
uint32_t gx_hurts_holder(const gx_parts *parts, const gx_snapshot *now, const gale_task_stats *held);

#endif
