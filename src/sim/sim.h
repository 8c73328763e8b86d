/* A simulator, and the run that it is in: what its parts share (sim/simulator.h is the whole).
 * Threads: one. Owner: sim/simulator.c. */
#ifndef GX_SIM_SIM_H
#define GX_SIM_SIM_H

#include "runtime/runtime.h"
#include "sim/book.h"
#include "sim/crowd.h"
#include "sim/delay.h"
#include "sim/faults.h"
#include "sim/letters.h"
#include "sim/oracle.h"
#include "sim/watcher.h"

/* Tuples that did not come to a task. */
typedef struct gx_sim_dropped {
    uint64_t by_limit; /* or by a deadline */
    uint64_t by_policy;
} gx_sim_dropped;

/* Everything of a simulator, and of the run that it is in. */
typedef struct gx_sim {
    gx_heap heap; /* the simulator's own */
    gx_oracle oracle;
    gx_book book;
    gx_sim_crowd crowd;
    gx_sim_disk own_disk; /* empty at the begin of each run */
    gx_sim_disk *disk;    /* that one, or the caller's */
    gx_sim_letters letters;
    bool crowded;            /* remotes may be opened: their threads are the crowd's */
    gale_collector_ops seen; /* the collector of all tasks, which sees what remotes command */
    gx_coverage coverage;
    bool generate;                 /* spouts are replaced by generators */
    bool capture;                  /* sinks are replaced */
    bool by_class;                 /* places of faults are classes of components, not their names */
    const gx_sim_watcher *watcher; /* or NULL */

    gale_topology *wrapped;
    struct gx_sim_component *components;
    size_t component_capacity;

    gx_random random; /* of the run: faults, delays, order */
    gx_sim_rarities rarities;
    gx_faults faults;
    gale_manual_clock *clock;
    gx_sim_memory memory;
    gx_delays delays;
    gale_runtime *runtime;
    struct gx_sim_task **tasks; /* [0 .. tasks] */
    size_t task_capacity;
    gx_sim_dropped *before; /* by task: what its queue had dropped before an emit */
    size_t before_capacity;
    uint64_t roots;   /* that each spout task may emit */
    uint64_t emitted; /* tracked, by all of them */
    uint64_t captured;
    bool limited;  /* queues have a limit that they may reach */
    int in_call;   /* functions of components that run now: 0 or 1 */
    int32_t phase; /* that the last step has seen */
    bool resumed;  /* a spout said so */
    bool drained;  /* the runtime closed because all had finished */
    bool broken;   /* a component could not be opened, or asked for the end */
} gx_sim;

#endif
