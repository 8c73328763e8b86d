/* A topology's parts and snapshots of it, made by hand: lines (task 1), count (tasks 2 to 4). */
#ifndef TEST_SERVE_SNAPSHOTS_H
#define TEST_SERVE_SNAPSHOTS_H

#include "serve/snapshot.h"

#include <gale/clock.h>
#include <stdlib.h>

static gx_part made_parts[] = {
    { .name = "lines", .spout = true, .first_task = 1, .task_count = 1, .stream_count = 1 },
    { .name = "count", .first_task = 2, .task_count = 3, .first_stream = 1, .stream_count = 1 },
};

static const gx_parts parts = { .parts = made_parts, .count = 2, .task_count = 4, .stream_count = 2 };

enum { LINES = 0, COUNT = 1 }; /* the first task's place */

/* All figures are zero. */
static inline gx_snapshot *snapshot_at(double seconds) {
    gx_snapshot *made = gx_snapshot_zero(&parts, (int64_t)(seconds * GALE_SECOND));
    made->wall = made->time;
    made->run.phase = GALE_PHASE_RUNNING;
    for (uint32_t i = 0; i < parts.task_count; i++)
        made->tasks[i] = (gale_task_stats){ .task = i + 1, .component = parts.parts[i > 0].name, .spout = i == 0 };
    return made;
}

#endif
