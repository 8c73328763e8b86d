/* A wrapped task: the component's instance, the collector that it is given, and the tuples that it or a fault keeps.
 * Threads: one. */
#ifndef GX_ENGINE_SIM_TASK_H
#define GX_ENGINE_SIM_TASK_H

#include "engine/sim.h"

/* A component of the topology, and what stands in for it. */
typedef struct gx_sim_component {
    gx_sim *sim;
    const gx_component *built;
    bool generated; /* a spout that is replaced by a generator */
    bool captured;  /* a sink that takes everything */
} gx_sim_component;

typedef struct gx_sim_grouping {
    gx_sim *sim;
    const gx_subscription *built;
} gx_sim_grouping;

/* A tuple as the component sees it: without the number, which in a dead letter is in the tuple that it is about. */
typedef struct gx_sim_tuple {
    gale_tuple tuple;
    unsigned char *body;
    size_t capacity;
} gx_sim_tuple;

/* One that is held. */
typedef struct gx_sim_kept {
    gx_sim_delivery delivery;
    gx_sim_tuple tuple;
    gale_handle handle;
    int64_t due; /* when the simulator answers it; INT64_MAX: the component does */
    bool fails;
} gx_sim_kept;

typedef enum gx_sim_state { GX_SIM_NONE, GX_SIM_OPEN, GX_SIM_ANSWERED, GX_SIM_KEPT } gx_sim_state;

typedef struct gx_sim_task {
    gale_collector out; /* first: what the component is given */
    gale_collector *engine;
    gx_sim *sim;
    const gx_sim_component *component;
    const gale_context *context;
    void *self;

    /* The tuple in execution. */
    gx_sim_state state;
    int fate; /* gx_fault, or GX_FAULT_COUNT: none */
    gx_sim_delivery delivery;
    gx_sim_tuple input;
    gale_handle handle;
    gx_sim_kept *current; /* state KEPT: where it went */

    gx_sim_kept **kept;
    size_t kept_capacity;
    uint32_t kept_count;
    int64_t due;           /* the earliest of theirs, or earlier */
    gx_sim_delivery *owed; /* executed by a simple component, and answered by its next flush */
    size_t owed_count, owed_capacity;
    gale_value *values;
    size_t value_capacity;
    gx_sim_delivery **anchors;
    size_t anchor_capacity;
    bool sending;     /* the emit in progress is the component's */
    uint64_t emitted; /* calls that succeeded */
    uint64_t roots;   /* tracked ones */
} gx_sim_task;

/* What the wrapped topology runs. */
gale_spout gx_sim_spout(gx_sim_component *component);
gale_bolt gx_sim_bolt(gx_sim_component *component);

/* Is it the stream of a spout's dead letters? */
bool gx_sim_is_letter(const char *stream);

/* Sees what the engine emits on a spout's behalf: tuples again, and dead letters. */
gale_hook gx_sim_spout_hook(gx_sim_component *component);

/* A new wrapped task, or NULL. It is known to `sim` until it is freed. */
gx_sim_task *gx_sim_task_new(const gx_sim_component *component, const gale_context *context, gale_collector *out);
void gx_sim_task_free(gx_sim_task *task);

/* Counts the fault at the task's place. */
void gx_sim_struck(gx_sim_task *task, int fault);

/* Draws whether it strikes, and counts it. */
bool gx_sim_strikes(gx_sim_task *task, int fault);

/* Gives the answers that are due to tuples which faults have held, on the tasks of one executor: as it would from a
 * component's call, and between steps. */
size_t gx_sim_release(gx_sim *sim, gx_executor *ex);

/* When the next of those is due; INT64_MAX: never. */
int64_t gx_sim_release_due(const gx_sim *sim);

/* Moves the clock by a drawn time, mostly below `mean`, sometimes much more. */
void gx_sim_pass_time(gx_sim *sim, int64_t mean);

/* What was sent to a task of the engine and not executed: shed, overflowed, or over its deadline. */
uint64_t gx_sim_drops(const gx_task *task);

/* --- The collector (sim_collector.c) --- */

const gale_collector_ops *gx_sim_collector_ops(void);

/* Answers the tuple in execution, or a held one, as the truth sees it and to the engine. */
int gx_sim_answer(gx_sim_task *task, gx_sim_kept *kept, bool ack, int32_t reason, const char *text);

/* The fate of a tuple in execution, in place of an ack. True when it was met: no ack is to follow. */
bool gx_sim_meet_fate(gx_sim_task *task);

/* A held tuple that the handle names, or NULL. */
gx_sim_kept *gx_sim_find_kept(gx_sim_task *task, gale_handle handle);

/* Writes the tuple without the number to `view`. GALE_NO_MEMORY. */
int gx_sim_strip(gx_sim_task *task, const gale_tuple *tuple, gx_sim_tuple *view);

#endif
