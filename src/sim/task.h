/* A wrapped task: the component's instance, the collector that it is given, and the tuples that it or a fault keeps.
 * Threads: one. */
#ifndef GX_SIM_TASK_H
#define GX_SIM_TASK_H

#include "sim/number.h"
#include "sim/sim.h"
#include "sim/stage.h"

/* Fields of a dead letter: whose tuple it was, which tree, and the tuple. */
enum { GX_SIM_LETTER_STREAM = 1, GX_SIM_LETTER_ID = 2, GX_SIM_LETTER_TUPLE = 3 };

enum { GX_SIM_PART_ODDS = 8 }; /* one row in so many ends a part */

/* A component of the topology, and what stands in for it. */
typedef struct gx_sim_component {
    gx_sim *sim;
    const gx_component *built;
    bool generated;  /* a spout that is replaced by a generator */
    bool captured;   /* a sink that takes everything */
    uint64_t folded; /* bit a stream whose tuples have their number in their only value */
} gx_sim_component;

GX_INLINE bool gx_sim_folds(const gx_sim_component *component, uint32_t stream) {
    return stream < 64 && component->folded >> stream & 1;
}

typedef struct gx_sim_grouping {
    gx_sim *sim;
    const gx_subscription *built;
    bool folded;
} gx_sim_grouping;

/* A tuple as the component sees it: without the number, which in a dead letter is in the tuple that it is about. */
typedef struct gx_sim_tuple {
    gale_tuple tuple;
    unsigned char *body;
    size_t capacity;
} gx_sim_tuple;

/* What its hook was told of, where there is one (sim/listener.h). */
typedef struct gx_sim_heard {
    uint64_t emitted, executed, acked, failed;
} gx_sim_heard;

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
    uint32_t id;
    void *self;
    gx_sim_stage stage;

    /* The tuple in execution. */
    gx_sim_state state;
    int fate; /* gx_fault, or GX_FAULT_COUNT: none */
    gx_sim_delivery delivery;
    gx_sim_tuple input;
    gale_handle handle;
    gx_sim_kept *current; /* state KEPT: where it went */
    bool unasked;         /* its call did not take any of many: the engine does */
    bool more;            /* its call returned GALE_MORE: it must be the next to come */

    gx_sim_kept **kept;
    size_t kept_capacity;
    uint32_t kept_count;
    int64_t due;           /* the earliest of theirs, or earlier */
    gx_sim_delivery *owed; /* executed by a simple component, and answered by its next flush */
    size_t owed_count, owed_capacity;
    gale_value *values; /* of the emit in progress, with its number */
    size_t value_capacity, value_count;
    gx_buf text; /* of a value with a number in it */
    gx_sim_delivery **anchors;
    size_t anchor_capacity;
    struct gale_inputs inputs; /* the context's, without the number's fields */
    gx_schema_stream *input_streams;
    bool sending;     /* the emit in progress is the component's */
    uint64_t emitted; /* calls that succeeded */
    uint64_t roots;   /* tracked ones */
    uint64_t *told;   /* message ids of trees that are acked at once */
    size_t told_capacity;
    gx_sim_heard heard;
    struct gx_sim_watch *watches; /* all that it made; sim/watch.h */
} gx_sim_task;

/* Is it the stream of a spout's dead letters? */
bool gx_sim_is_letter(const char *stream);

/* Is the number of a tuple in its only value? And that of the tuple that a dead letter is about? */
bool gx_sim_tuple_folds(const gx_sim *sim, const gale_tuple *tuple);
bool gx_sim_letter_folds(const gx_sim *sim, const gale_tuple *letter);

/* The engine's task, and the collector that it has now: not the one that sees what remotes command
 * (sim/remote.h). */
gx_task *gx_sim_engine_task(const gx_sim_task *task);
const gale_collector_ops *gx_sim_engine_ops(const gx_sim_task *task);

/* Does its executor close? Nobody executes or answers any more. */
GX_INLINE bool gx_sim_is_over(const gx_sim_task *task) {
    return task->sim->phase >= GALE_PHASE_CLOSING;
}

/* A new wrapped task, or NULL. It is known to `sim` until it is freed: when the run is over, so that a call after its
 * close is seen. */
gx_sim_task *gx_sim_task_new(const gx_sim_component *component, const gale_context *context, gale_collector *out);
void gx_sim_task_free(gx_sim_task *task);

/* Frees what its watches were wrapped in. */
void gx_sim_watches_end(gx_sim_task *task);

/* The run is over: looks whether all were closed. */
void gx_sim_tasks_check(gx_sim *sim);
void gx_sim_tasks_free(gx_sim *sim);

/* Counts the fault at the task's place. */
void gx_sim_struck(gx_sim_task *task, int fault);

/* Draws whether it strikes, and counts it. */
bool gx_sim_strikes(gx_sim_task *task, int fault);

/* Whether the task may be opened: GALE_OK, GALE_AGAIN for a while, or GALE_COMPONENT. */
int gx_sim_opens(gx_sim_task *task);

/* A function of the component begins, which is none of those that are checked (sim/stage.h), or is; and ends. */
void gx_sim_enter(gx_sim_task *task);
void gx_sim_enter_for(gx_sim_task *task, gx_sim_call call);
void gx_sim_leave(gx_sim_task *task);

/* Before the component's own work: it takes long, or it stops the run. */
void gx_sim_disturb(gx_sim_task *task);

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

/* Answers the tuple in execution, or a held one, as the oracle sees it and to the engine. */
int gx_sim_answer(gx_sim_task *task, gx_sim_kept *kept, bool ack, int32_t reason, const char *text);

/* The fate of a tuple in execution, in place of an ack. True when it was met: no ack is to follow. */
bool gx_sim_meet_fate(gx_sim_task *task);

/* A held tuple that the handle names, or NULL. */
gx_sim_kept *gx_sim_find_kept(gx_sim_task *task, gale_handle handle);

/* The delivery that the handle names, if it can still be an anchor. */
gx_sim_delivery *gx_sim_find_delivery(gx_sim_task *task, gale_handle handle);

/* Writes the tuple without the number to `view`. GALE_NO_MEMORY. */
int gx_sim_strip(gx_sim_task *task, const gale_tuple *tuple, gx_sim_tuple *view);

#endif
