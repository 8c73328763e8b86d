/* What a topology is made of, for the plan. Built by gale_topology_*, checked by gale_topology_check, then frozen. */
#ifndef GX_TOPOLOGY_BUILDER_H
#define GX_TOPOLOGY_BUILDER_H

#include "base/object.h"

#include <gale/state.h>
#include <gale/topology.h>

/* The stream that every spout has behind its own, and its fields. */
#define GX_DEAD_LETTER_STREAM "__dead_letter"
#define GX_DEAD_LETTER_STREAM_FIELDS "component, stream, message_id, tuple, reason, text, place, task, attempts"

typedef struct gx_output {
    char *name;
    char **fields;
    uint32_t field_count;
} gx_output;

/* Where ticks come from, whoever subscribes to them. */
#define GX_SYSTEM_COMPONENT "__system"

/* A subscription of a bolt. `fields` are names; the plan finds their indices. */
typedef struct gx_subscription {
    char *source;
    char *stream;
    int32_t grouping; /* gale_grouping_kind */
    char **fields;
    uint32_t field_count;
    gale_custom_ops custom; /* a copy, missing functions NULL */
    void *user;
    void (*free_user)(void *user);
    int32_t drop; /* gale_drop */
} gx_subscription;

typedef struct gx_component {
    char *name;
    char *class_name; /* how a file called what it is made of; NULL: it was made by a program */
    bool is_spout;
    gale_spout_ops spout; /* copies of the tables, missing functions NULL */
    gale_bolt_ops bolt;
    gale_durable_ops durable; /* that their table points to, if it does */
    void *user;
    void (*free_user)(void *user);
    gx_output *outputs; /* one more than output_count; of a spout it is its dead letters' */
    uint32_t output_count;
    gx_subscription *inputs; /* bolts */
    uint32_t input_count;
    gx_subscription *ticks; /* a subscription to the system's, or NULL; every task of the bolt gets them, in any case */
    gale_config *config;    /* the component's own keys */
    uint32_t parallelism;
} gx_component;

/* A hook, and the component that it is for (NULL: all). */
typedef struct gx_hook {
    gale_hook hook;
    char *component;
} gx_hook;

/* A subscription of a bolt that is added later. */
typedef struct gx_promise {
    char *bolt;
    gx_subscription subscription;
} gx_promise;

/* Where a file names a component for which the topology lacks something. */
typedef struct gx_gap {
    char *component;
    char *place; /* "FILE:LINE:COLUMN" */
} gx_gap;

struct gale_topology {
    gx_mark mark;
    gx_atomic32 refs; /* who built it, until gale_topology_free, and each runtime */
    char *name;
    gale_config *config;
    gx_component **components; /* in the order in which they were added */
    uint32_t component_count;
    gx_hook *hooks;
    uint32_t hook_count;
    bool open; /* more is added by who has it: a bolt may subscribe before it is there */
    gx_promise *promises;
    uint32_t promise_count;
    gx_gap *gaps;
    uint32_t gap_count;
    gale_error error; /* the first one, sticky */
};

/* A runtime is made of it: it does not change until the last of them has gone, and lives as long. */
void gx_topology_ref(gale_topology *topology);
void gx_topology_unref(gale_topology *topology);

/* How many tasks a component gets: `topology.tasks` of its own configuration, else its parallelism, at most
 * `topology.max.task.parallelism`. */
uint32_t gx_component_tasks(const gale_topology *topology, const gx_component *component);

/* NULL when there is none. */
gx_component *gx_topology_find(const gale_topology *topology, const char *name);

/* Notes where a file names component `name`, for gale_topology_check to say if something of it is still missing then. GALE_NO_MEMORY. */
int gx_topology_note_gap(gale_topology *topology, const char *name, const char *place);

/* Says what component `name`, which exists, is made of. GALE_NO_MEMORY. */
int gx_topology_set_class(gale_topology *topology, const char *name, const char *class_name);

/* The component "__system", with its one stream "__tick". Static storage; no topology has it. */
const gx_component *gx_topology_system(void);

/* The index of stream `name` (NULL: "default") in a component's outputs, or -1; a spout's dead letters are behind them.
 * The index of a field in it, or -1. */
int gx_component_stream(const gx_component *component, const char *name);
int gx_output_field(const gx_output *output, const char *name);

#endif
