/* Who makes a step when: the order of a simulated run, its clock, stalls, and what is looked at between steps.
 *
 * What:    one executor at a time makes a gx_step, in an order drawn from the seed; the control makes one now and then.
 *          The clock moves by drawn times, and to what is due next when nothing moves.
 *
 *              begin --steps--> spouts are done --drain by themselves--> closed
 *                        |            |
 *                        +--- stop ---+  by order (sim/orders.h); or when tuples are held for ever
 *
 *          A run that is led stands still whenever nothing moves, until its clock is moved or something is put in
 *          (sim/test.c).
 *
 * Threads: one. */
#ifndef GX_SIM_WORLD_H
#define GX_SIM_WORLD_H

#include "sim/orders.h"
#include "sim/task.h"

enum {
    GX_WORLD_STEPS_MAX = 4000000,
    GX_WORLD_STEPS_IN_VAIN = 200000, /* with ticks at most */
};

typedef struct gx_world {
    gx_sim *sim;
    uint32_t executors;
    int64_t stalled[GALE_EXECUTORS_MAX]; /* until then */
    int64_t looked[GALE_EXECUTORS_MAX];  /* when its last step began */
    bool idle[GALE_EXECUTORS_MAX];       /* nothing to do at its last step, and nothing happened since */
    bool stepped[GALE_EXECUTORS_MAX];    /* in this round */
    uint32_t stepped_count;
    uint32_t idle_count;
    uint64_t steps;
    gx_orders orders;
    uint32_t bustle;        /* the crowd acts once in so many turns */
    int64_t pace;           /* ns that pass between steps, about */
    uint64_t seen_trace;    /* what had happened, as all last rested */
    int64_t seen_changed;   /* when that was another */
    uint64_t checked_trace; /* what had happened, as all figures were last checked */
    uint64_t told_trace;    /* what had happened at the step `told_steps` */
    uint64_t told_steps;
    bool stopped; /* because tuples are held for ever */

    bool still;         /* the clock moves to what is due next, and by itself only for faults that take time */
    bool led;           /* and does not do that either: when nothing moves, the caller is asked (gx_world_settle) */
    bool rests;         /* nothing moves at this time */
    uint64_t rested_at; /* the step at which a led run was last let go */
} gx_world;

/* Begins a run of `sim->runtime`. */
void gx_world_begin(gx_world *world, gx_sim *sim);

/* Goes on until it has closed, or to the first violation. */
void gx_world_run(gx_world *world);

/* Of a run that is led: goes on until nothing moves any more at this time. False when it has closed, or does not hold. */
bool gx_world_settle(gx_world *world);

/* When something will be to do by the clock alone; INT64_MAX: never. And moves the clock there, or elsewhere. */
int64_t gx_world_due(const gx_world *world);
void gx_world_move_to(gx_world *world, int64_t when);

/* Looks at it as a whole, once it has closed. */
void gx_world_end(gx_world *world);

#endif
