/* The life of a runtime, moved on by whoever can see that it is time.
 *
 *     new ----------> opening     gale_runtime_start, or the first step
 *     opening ------> running     control: every executor has opened its tasks
 *     running ------> draining    gale_runtime_drain, also one that came while it opened; control: until_drained and
 *                                 nothing moves
 *     draining -----> finishing   control: nothing moves
 *     finishing ----> finishing   control: rank by rank, when nothing moves; after the last one, inboxes close
 *     finishing ----> closing     control: when they have, nothing moves, and the end's checkpoint lasts
 *     any of these -> closing     gale_runtime_stop, gale_stop, an error from open or prepare
 *     closing ------> closed      control: every executor has closed its tasks
 *
 * Nothing moves: every executor says that it is quiet in this very phase (nothing queued or open, nothing held but for
 *                `finish`, its spouts done or inactive), and all that was sent has been received: read twice, with no
 *                work in between (Mattern's four counters), and of each executor what is true at one moment, the end
 *                of a step: figure by figure, one that is held up as it shows them looks quiet with work at hand. An
 *                executor that is quiet becomes busy only by receiving or by a timer, and both count as work. What it
 *                shows of an earlier phase says nothing of this one: only in a step of this one does it close what
 *                this phase closes (test/proof/phases.pml).
 * Threads: executor 0's calls gx_control_step after each of its steps. */
#ifndef GX_RUNTIME_CONTROL_H
#define GX_RUNTIME_CONTROL_H

#include "runtime/checkpoint.h"
#include "runtime/drain_turn.h"
#include "runtime/shown.h"

typedef struct gx_control {
    gx_shown_before seen;      /* that nothing moves */
    gx_drain_turn turn;        /* of those who hold what keeps it from ending */
    gx_checkpoint *checkpoint; /* NULL: the run is not durable */
} gx_control;

/* Returns how much was done: 1 when the phase moved. */
size_t gx_control_step(gx_control *control, gx_shared *shared);

/* Does the phase end by what executors show? */
bool gx_control_waits(gx_shared *shared);

/* For how long executor 0 may sleep before the control looks again; -1: until its bell is rung. In a run until drained the
 * bell is: by an executor that shows that it is quiet when it was not, or had other work; by a spout that says that
 * it is done. */
int64_t gx_control_pause(const gx_control *control, gx_shared *shared);

#endif
