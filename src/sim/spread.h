/* What the components of random topologies and their threads have in common (sim/component_models.h): tuples, and how a
 * tuple's energy is spent on others. A tuple has four fields: key, energy, hops, load; or, on a stream of one field, a
 * token that says the first three. A bolt spends its input's energy on what it emits, so that a tree is about as large
 * as its root's energy says, whatever the topology, and cycles end.
 * Threads: a component's own. Owner: values. */
#ifndef GX_SIM_SPREAD_H
#define GX_SIM_SPREAD_H

#include "sim/faults.h"
#include "topology/plan.h"

#include <gale/component.h>

enum {
    GX_SIM_KEYS = 23,
    GX_SIM_HOPS_MAX = 12,
    GX_SIM_WAITING_MAX = 96,
    GX_SIM_STREAMS_MAX = 3,
    GX_SIM_VALUES_MAX = 4,
    GX_SIM_LOAD_MAX = 5200
};

/* A component's streams, as one that emits must know them. */
typedef struct gx_sim_shape {
    uint32_t streams;
    uint32_t fan[GX_SIM_STREAMS_MAX]; /* how many tasks a tuple goes to, at the most; 1 when to none */
    bool folded[GX_SIM_STREAMS_MAX];  /* its only field is a token */
} gx_sim_shape;

/* What a component of the topology is; shared by its tasks. */
typedef struct gx_sim_nature {
    int model;                  /* of a bolt */
    uint32_t most;              /* a source: energy of a root; a bolt: how many it emits */
    uint32_t direct;            /* bit a stream that direct groupings take */
    struct gx_sim_crowd *crowd; /* whose threads work for it, or NULL */
    gx_sim_rarities rarities;   /* of its run */
} gx_sim_nature;

/* A task of it. */
typedef struct gx_sim_instance {
    const gx_sim_nature *nature;
    const gale_context *context;
    gale_collector *out;
    const gx_plan_component *plan; /* who receives what */
    gx_sim_shape shape;
    uint64_t emitted;
    gale_handle waiting[GX_SIM_WAITING_MAX]; /* tuples that it holds */
    uint32_t waiting_count;
    int64_t energy;            /* of those that wait */
    uint32_t parts, parts_all; /* of the emission in hand: those that are left, and all */
    uint32_t loose;            /* times that it emitted where nothing was in execution */
    struct gx_sim_seat *seat;
} gx_sim_instance;

typedef struct gx_sim_charge {
    int64_t key, energy, hops;
} gx_sim_charge;

/* How a new tuple is bound: to the tuple in execution, to nothing, to what waits, or as a root. */
typedef enum gx_sim_binding { GX_SIM_BOUND, GX_SIM_UNBOUND, GX_SIM_JOINED, GX_SIM_ROOT } gx_sim_binding;

/* From malloc; NULL: memory is out. */
gx_sim_nature *gx_sim_nature_new(int model, uint32_t most, uint32_t direct);
gx_sim_instance *gx_sim_instance_new(const gx_sim_nature *nature, const gale_context *context, gale_collector *out);

/* A number below `n`, from the task's own generator. */
uint32_t gx_sim_below(const gx_sim_instance *self, uint32_t n);

gx_sim_charge gx_sim_read(const gale_tuple *tuple);

/* A tuple for a stream of this shape, with a load by `random`; its energy is shared by those that get it. `text` is what
 * the values point to. Returns how many there are. */
typedef struct gx_sim_text {
    char bytes[GX_SIM_LOAD_MAX];
} gx_sim_text;
size_t gx_sim_values(const gx_sim_shape *shape, uint32_t stream, gx_sim_charge t, uint64_t random,
                     gale_value values[GX_SIM_VALUES_MAX], gx_sim_text *text);

/* Emits one. Returns what the collector says; 0 when nobody takes a direct stream. */
int gx_sim_emit(gx_sim_instance *self, uint32_t stream, gx_sim_charge t, gx_sim_binding how);

/* The same for some in one call, one for each of `charges`, `GX_SIM_AT_ONCE_MAX` at the most; `how`: GX_SIM_ROOT or
 * GX_SIM_BOUND. */
enum { GX_SIM_AT_ONCE_MAX = 6 };
int gx_sim_emit_many(gx_sim_instance *self, uint32_t stream, const gx_sim_charge *charges, uint32_t count,
                     gx_sim_binding how);

/* Emits what must be refused, to one of its streams or to none. */
void gx_sim_emit_wrongly(gx_sim_instance *self);

/* Spends `t.energy` on some more, to any streams; `loose`: some of them unbound. The first error, or 0. */
int gx_sim_spread(gx_sim_instance *self, gx_sim_charge t, gx_sim_binding how, bool loose);

#endif
