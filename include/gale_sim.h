/* gale_sim.h: a topology on virtual time, in an order that is drawn from a seed, with faults, while everything that must be
 * true of a run is checked. In libgale-sim, which needs libgale alone.
 *
 * What:    what `gale simulate` does, for the tests of an application: docs/simulator.md says what is checked. The same seed
 *          does the same again, to the byte; a run that does not hold is repeated by its seed.
 * Threads: one. Components must use their context's clock and random numbers; what reads or writes files does so.
 * Owner:   the topology stays the caller's, and can be simulated again.
 * Version: a topology is opaque, so libgale must be of the very version that libgale-sim is (GALE_UNSUPPORTED).
 */
#ifndef GALE_SIM_H
#define GALE_SIM_H

#include <gale/log.h>
#include <gale/topology.h>

GALE_BEGIN

typedef struct gale_simulate_options {
    size_t size;
    gale_topology *topology;
    uint64_t seed;      /* of the first run; each next run's is one more */
    uint64_t runs;      /* 0: 100 */
    const char *faults; /* "slow=0.01,fail=0.1", odds from 0 to 1; "none"; NULL: drawn for each run. `disk` strikes only
                           what the simulator itself writes */
    bool keep_spouts;   /* they read what they read; else generators stand in for them */
    bool keep_sinks;    /* bolts without outputs run as they are; else something stands in that only takes */
    uint32_t executors; /* 0: drawn for each run, 1 to 8 */
    uint64_t roots;     /* tracked tuples a run; 0: drawn, 100 to 260 */
    const gale_logger *logger; /* what the runs log; NULL: nothing */
} gale_simulate_options;

#define GALE_SIMULATE_OPTIONS_INIT                                                                                     \
    { sizeof(gale_simulate_options), 0, 1, 0, 0, false, false, 0, 0, 0 }

enum { GALE_SIMULATE_TEXT = 400 };

/* What the runs did, together. `size` is the caller's to set. */
typedef struct gale_simulate_result {
    size_t size;
    bool holds;                    /* everything that must be true was, in every run */
    uint64_t seed;                 /* of the first run that did not hold, with which it ended; else of the last */
    char text[GALE_SIMULATE_TEXT]; /* what was wrong with it, or "" */
    uint64_t runs, roots, acked, failed, timed_out, rejected, stopped, deliveries;
    uint64_t trace; /* a hash of everything that happened in the run of `seed`, in order */
} gale_simulate_result;

#define GALE_SIMULATE_RESULT_INIT                                                                                      \
    { sizeof(gale_simulate_result), false, 0, { 0 }, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Runs it, up to the first run that does not hold: that is no error, see `holds`. GALE_INVALID, GALE_NOT_FOUND (a fault, with the
 * nearest name), GALE_NO_MEMORY, or what is wrong with the topology. */
GALE_API GALE_MUST_USE int gale_simulate(const gale_simulate_options *options, gale_simulate_result *ret_result,
                                         gale_error *error);

GALE_END

#endif
