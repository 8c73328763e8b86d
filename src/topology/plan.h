/* The plan: a checked topology with everything numbered. Tasks, streams, edges, who feeds whom, which executor.
 *
 * Numbers: components in byte order of their names, tasks from 1, contiguous per component, as in Storm. 0 is the
 *          system. Acker tasks, when they are asked for, are a component `__acker` among the others.
 * Placement: task i of a component's n goes to executor floor(i * executors / n), unless `gale.executor` of the
 *          component says which; so the first tasks of a pipeline stay together, and parallel tasks spread. Each spout
 *          begins a pipeline, at the next executor; a bolt that several spouts reach belongs to the first of them. A
 *          component that blocks (`gale.blocking`) gets an executor of its own for each task, behind those that were
 *          asked for.
 * Threads: made once, then frozen; any thread reads. Owner: whoever made it; the topology must outlive it.
 */
#ifndef GX_TOPOLOGY_PLAN_H
#define GX_TOPOLOGY_PLAN_H

#include "base/alloc.h"
#include "base/bits.h"
#include "base/hash.h"
#include "base/random.h"
#include "topology/builder.h"
#include "topology/component.h"
#include "tuple/schema.h"

/* One consumer of a stream. */
typedef struct gx_plan_edge {
    uint16_t component; /* the consumer's index */
    uint16_t first_task;
    uint16_t task_count;
    uint8_t grouping; /* gale_grouping_kind */
    bool back;        /* closes a cycle: never gated */
    uint8_t drop;     /* gale_drop; unless it is nothing, never gated */
    uint32_t field_count;
    const uint16_t *fields;              /* indices into the stream's values */
    const gx_subscription *subscription; /* custom: what chooses */
    const char *consumer;                /* its name */
} gx_plan_edge;

typedef struct gx_plan_stream {
    const gx_plan_edge *edges;
    uint32_t edge_count;
    uint32_t field_count;
} gx_plan_stream;

/* An input that drops tuples when a task's queue is full. */
typedef struct gx_plan_drop {
    uint16_t source; /* component */
    uint16_t stream;
    uint8_t policy;      /* gale_drop */
    uint16_t lane;       /* its place among those of the component, from 1 */
    uint32_t input;      /* its place among the component's inputs */
    uint32_t first_slot; /* of its counters, one a task of the component */
} gx_plan_drop;

/* Where an input's tuples come from, in numbers. */
typedef struct gx_plan_origin {
    uint16_t source; /* component */
    uint16_t stream;
    uint32_t input; /* its place among the component's inputs */
    bool mixed;     /* another input is of the same source */
} gx_plan_origin;

typedef struct gx_plan_component {
    const gx_component *built;
    gx_schema_component schema;
    gx_plan_stream *streams;
    gx_input *inputs;
    gx_plan_origin *origins; /* one an input, by source and stream */
    gx_plan_drop *drops;
    uint32_t drop_count;
    struct gale_inputs input_table;
    gale_config *config; /* the topology's keys overlaid by its own */
    uint32_t stream_count;
    uint16_t first_task;
    uint16_t task_count;
    uint32_t pipeline;    /* the first spout that reaches it; spouts are numbered from 0 */
    uint32_t rank;        /* position in topological order, back edges left out */
    int64_t tick_period;  /* ns; 0: none */
    bool *executors;      /* those that have a task of it */
    uint64_t max_pending; /* open trees a task; UINT64_MAX: no bound */
    bool debug;           /* topology.debug: what its tasks do is logged */
    uint32_t attempts;    /* of a spout's tuple, in all */
    bool retains;         /* a spout: its tuples are kept, to be emitted again or to be dead letters */
} gx_plan_component;

typedef struct gx_plan_task {
    uint16_t component;
    uint16_t index;
    uint16_t executor;
    uint32_t gate_count;
    const uint16_t *gates; /* tasks that, when congested, keep this one from running */
} gx_plan_task;

typedef struct gx_plan {
    gx_heap *heap;
    const gale_topology *topology;
    gx_plan_component *components;
    gx_plan_task *tasks; /* [1 .. task_count] */
    gale_schema schema;
    uint32_t component_count;
    uint32_t task_count;
    uint32_t executor_count; /* those that were asked for, then one a task that blocks */
    uint32_t drop_slots;     /* counters of what is dropped: one a task and input */
    uint32_t blocking_count; /* executors of their own */
    bool inline_blocking;    /* tasks that block are placed as others */
    bool acking;             /* topology.acker.executors is not 0 */
    uint16_t first_acker;    /* task; acker tasks there are when topology.acker.executors names a number */
    uint16_t acker_count;    /* 0: each spout's ledger tracks its trees */
    bool load_aware;         /* topology.disable.loadaware.messaging is not true */
    int64_t timeout;         /* ns; 0: never */
    int64_t ceiling;         /* ns; of a tree's age in progress mode */
    bool ceiling_given;      /* by configuration */
    bool progress;           /* topology.message.timeout.mode: an ack begins the timeout of its tree anew */
    int64_t deadline;        /* ns that a tree's tuples may wait, from the spout's emit; 0: none */
    bool *feeds;             /* [from * executor_count + to]: a task on one executor feeds one on the other */

    bool retains;               /* some spout does */
    int64_t replay_initial;     /* ns before the second attempt */
    int64_t replay_most;        /* ns before any */
    gale_str dead_letters_file; /* empty: none */
} gx_plan;

/* GALE_NO_MEMORY, GALE_CONFIG (a placement that does not exist). The topology must have passed gale_topology_check. */
int gx_plan_new(gx_heap *heap, const gale_topology *topology, uint32_t executors, bool inline_blocking,
                gx_plan **ret_plan, gale_error *error);
void gx_plan_free(gx_plan *plan);

/* Is every input of the component grouped by fields, but for those that all tasks are told, so that a key's tuples come to
 * one task? */
bool gx_plan_is_by_key(const gx_plan *plan, uint16_t component);

static inline bool gx_plan_is_acker(const gx_plan *plan, uint32_t task) {
    return gx_is_within(task, plan->first_acker, plan->acker_count);
}

/* The acker task of a tree. There are acker tasks. */
static inline uint16_t gx_plan_acker(const gx_plan *plan, uint64_t root) {
    return (uint16_t)(plan->first_acker + gx_hash_below(gx_random_mix(root), plan->acker_count));
}

/* Does a task on executor `from` feed one on executor `to`? */
static inline bool gx_plan_feeds(const gx_plan *plan, uint32_t from, uint32_t to) {
    return plan->feeds[(size_t)from * plan->executor_count + to];
}

#endif
