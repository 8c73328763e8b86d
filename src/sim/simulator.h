/* The simulator: any topology, or random ones, run on virtual time in an order drawn from a seed, with faults, while
 * everything that must be true of a run is checked (sim/oracle.h).
 *
 * What:    gx_simulator_run makes a runtime with small rings and queues and an allocator that may fail, steps its
 *          executors one at a time until it has closed, and frees it. Everything is drawn from the seed: the same seed
 *          does the same again, to the byte.
 *          A run may also be led (gx_simulator_begin): time and input are the caller's then, and the run stands still
 *          whenever nothing moves. Queues have no small limit, and nothing is ordered but by the caller.
 * Threads: one. Components must use their context's clock and random numbers; what reads or writes files does so.
 * Owner:   the topology must outlive the simulator. Limits: those of sim/oracle.h. */
#ifndef GX_SIM_SIMULATOR_H
#define GX_SIM_SIMULATOR_H

#include "sim/disk.h"
#include "sim/faults.h"

#include <gale/runtime.h>

typedef struct gx_simulator gx_simulator;

typedef struct gx_simulator_options {
    gale_topology *topology; /* NULL: a random one for each run */
    bool keep_spouts;        /* they read what they read; else generators stand in for them */
    bool keep_sinks;         /* bolts without outputs run as they are; else they only take */
    bool draw_faults;        /* some of the faults at drawn odds, in place of `faults` */
    gx_faults faults;
    uint32_t executors;        /* 0: drawn, 1 to 8 */
    uint64_t roots;            /* tracked tuples a run; 0: drawn, 100 to 260 */
    uint64_t fail_at;          /* the allocation to fail, from 1; 0: none but those that are drawn */
    gx_sim_disk *disk;         /* what lies below GX_SIM_DISK, and stays from run to run; NULL: nothing, in each run */
    uint64_t dies_at;          /* the call of the disk in which the run dies, from 1; 0: it does not */
    const gale_logger *logger; /* may be NULL */
    bool led;                  /* runs are the caller's to lead */
    const struct gx_sim_watcher *watcher; /* sim/watcher.h; may be NULL */
} gx_simulator_options;

typedef struct gx_simulator_result {
    bool holds;     /* everything that must be true was */
    bool refused;   /* the runtime could not be made, for want of memory */
    bool cut;       /* it was drained or stopped by order, or ended by an error: there may be few roots */
    bool died;      /* as `dies_at` says: it was not looked at to its end */
    char text[400]; /* what was wrong, or "" */
    uint32_t executors, tasks;
    uint64_t roots, acked, failed, timed_out, rejected, stopped;
    uint64_t repeats, letters; /* emitted again; dead letters */
    uint64_t shed, overflowed; /* deliveries that found a queue at its limit */
    uint64_t deliveries, captured, steps, allocations, failed_allocations;
    int64_t elapsed; /* virtual ns */
    uint64_t trace;  /* a hash of everything that happened, in order */
} gx_simulator_result;

/* GALE_NO_MEMORY, or what is wrong with the topology. */
int gx_simulator_new(const gx_simulator_options *options, gx_simulator **ret_simulator, gale_error *error);
void gx_simulator_free(gx_simulator *simulator);

/* One run. GALE_NO_MEMORY (the simulator's own), or an error of the topology in this run (GALE_CONFIG: a placement that
 * the drawn number of executors does not have): nothing was run. A violation is no error: see `holds`. */
int gx_simulator_run(gx_simulator *simulator, uint64_t seed, gx_simulator_result *ret_result, gale_error *error);

/* --- Runs that are led -------------------------------------------------------------------------------------------- */

/* Begins one; nothing is open yet. What gx_simulator_run says. */
int gx_simulator_begin(gx_simulator *simulator, uint64_t seed, gale_error *error);

/* The runtime and the world of the run, whose (sim/world.h) gx_world_settle, _due and _move_to lead it. */
gale_runtime *gx_simulator_runtime(gx_simulator *simulator);
struct gx_world *gx_simulator_world(gx_simulator *simulator);

/* Lets it go on by itself until it has closed: the clock moves to what is due. */
void gx_simulator_let_go(gx_simulator *simulator);

/* Ends it, in whatever state it is. */
void gx_simulator_end(gx_simulator *simulator, gx_simulator_result *ret_result);

/* Of all runs so far. */
const gx_coverage *gx_simulator_coverage(const gx_simulator *simulator);

#endif
