/* A durable run that dies and goes on: what its lives have in common. A life is one runtime, from its start to its end or its
 * death; what outlives it is in here.
 * Threads: one. Owner: sim/lives.c. */
#ifndef GX_SIM_LIFE_H
#define GX_SIM_LIFE_H

#include "base/random.h"
#include "sim/deeds.h"
#include "sim/outside.h"
#include "sim/vault.h"

#include <gale/clock.h>
#include <gale/topology.h>

enum { GX_LIFE_NODES = 20, GX_LIFE_INPUTS = 3, GX_LIFE_HOPS = 6, GX_LIFE_KEYS = 13 };

typedef enum gx_life_kind {
    GX_LIFE_SPOUT,  /* saves its position, what is open, and what failed */
    GX_LIFE_GATE,   /* fails some, and does nothing then */
    GX_LIFE_PASS,   /* stateless */
    GX_LIFE_GATHER, /* stateless, answered by its flush */
    GX_LIFE_COUNT,  /* counts in a structure of its own, which it can divide */
    GX_LIFE_KEYED,  /* counts in keyed state */
    GX_LIFE_HOLD,   /* holds some, and emits anchored to all that it holds, or to one */
    GX_LIFE_HAND,   /* holds each, which a thread answers by a remote */
    GX_LIFE_PARTS,  /* a sink with pledges */
    GX_LIFE_LATE,   /* a sink whose pledges may be kept late */
    GX_LIFE_FILE,   /* a sink that is cut back */
    GX_LIFE_BURY,   /* counts dead letters */
} gx_life_kind;

typedef struct gx_life_input {
    uint32_t from;
    int32_t grouping; /* GALE_GROUPING_ */
} gx_life_input;

typedef struct gx_life_node {
    struct gx_life *life;
    char name[16];
    gx_life_kind kind;
    uint32_t index, tasks;
    uint32_t fan;  /* tuples that it makes of one, at the most */
    uint32_t most; /* that it holds */
    bool joins;    /* it lets all that it holds go together */
    bool loops;    /* it takes its own tuples, too */
    bool ticks;
    bool by_key;    /* all its inputs are grouped by the key */
    bool forgets;   /* it does not save what it holds */
    bool reordered; /* its tasks were divided otherwise: there is no order of what was on its way */
    gx_life_input inputs[GX_LIFE_INPUTS];
    uint32_t input_count;
    uint32_t first_message, message_count; /* a spout's, of all its tasks */
} gx_life_node;

typedef struct gx_life {
    gx_random random; /* of the order of steps, deaths and sizes */
    gx_deeds deeds;
    gx_death death;
    gx_vault vault;
    gx_outside outside;
    gale_manual_clock *clock;

    /* The topology. */
    gx_life_node nodes[GX_LIFE_NODES];
    uint32_t count;
    int64_t attempts; /* topology.replay.attempts */
    int64_t ackers;   /* -1: as the engine likes */
    int64_t pending;
    bool acking;
    bool fails;

    /* This life. */
    struct gx_life_instance *hands; /* tasks whose threads answer */
    uint32_t alive;                 /* tasks that are open */
    bool closing;                   /* what is not answered any more is not asked for */
    bool finished;                  /* the checkpoint that it goes on from is of the end */
    uint64_t told;                  /* the checkpoint that some task was last told of */
    uint64_t executed;              /* of all lives */
} gx_life;

/* The n-th child of a tuple that executes at the node. */
uint64_t gx_life_child(const gx_life_node *node, uint64_t path, uint32_t n);

/* How many it has. */
uint32_t gx_life_children(const gx_life_node *node, uint64_t path, uint32_t hops);

GX_INLINE int64_t gx_life_key(uint64_t path) {
    return (int64_t)(path >> 7) % GX_LIFE_KEYS;
}

GX_INLINE bool gx_life_is_sink(const gx_life_node *node) {
    return node->kind == GX_LIFE_PARTS || node->kind == GX_LIFE_LATE || node->kind == GX_LIFE_FILE;
}

/* Does what it executes count? */
GX_INLINE bool gx_life_counts(const gx_life_node *node) {
    return node->kind == GX_LIFE_COUNT || node->kind == GX_LIFE_KEYED || gx_life_is_sink(node);
}

/* Does it keep a number of its tuples, so that their order can be seen? */
GX_INLINE bool gx_life_numbers(const gx_life_node *node) {
    return node->kind == GX_LIFE_COUNT || node->kind == GX_LIFE_KEYED ||
           (node->kind == GX_LIFE_HOLD && !node->forgets) || node->kind == GX_LIFE_HAND;
}

/* Does it keep what came last of whom? */
GX_INLINE bool gx_life_remembers(const gx_life_node *node) {
    return gx_life_numbers(node) || gx_life_is_sink(node);
}

/* Draws a topology, and what is expected of it. GALE_NO_MEMORY. */
int gx_life_draw(gx_life *life);

/* Makes it, of as many tasks as it has now. NULL: no memory, or `error`. */
gale_topology *gx_life_build(gx_life *life, gale_error *error);

/* --- sim/life_models.c --- */

/* What stands for the node; outputs are the caller's to set. */
gale_spout gx_life_spout(gx_life_node *node);
gale_bolt gx_life_bolt(gx_life_node *node);

/* A thread that works for some task does something. */
void gx_life_hand_over(gx_life *life);

#endif
