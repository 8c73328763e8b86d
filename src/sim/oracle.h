/* What a run must be like, kept beside the engine: every tuple and every tree, with nothing taken from the engine's own
 * books. The simulator tells it what components did and what spouts heard; it says at once what cannot be.
 *
 * What:    an emission is one emit with its number; its deliveries wait in a FIFO for each pair of tasks, so that
 *          order, loss and invention show when a delivery arrives. A tree counts its deliveries that are not
 *          acked, and those that a component keeps (held or forgotten).
 *          - a tree is acked only when every delivery in it was, and nothing of it failed;
 *          - it fails only for what happened to it; for a timeout it is old enough, and was not complete long since;
 *          - each is answered once;
 *          - a tree whose tuple is emitted again is a new one each time, an attempt of the first, which is answered:
 *            not more often than is configured, not when it was rejected, and not too soon; what is given up is a dead
 *            letter once, where somebody takes those;
 *          - deliveries between two tasks arrive in the order of their emits; what is missing was counted as shed or
 *            overflowed;
 *          - fields grouping sends a key to one task, ever; the others to the tasks that they promise;
 *          - when nothing moves, every open tree waits for what a component keeps, and nothing else is under way.
 * Threads: one. Owner: memory is the simulator's, never the runtime's.
 * Limits:  GX_ORACLE_TASKS_MAX tasks; 2^32 - 1 emissions and trees a run.
 */
#ifndef GX_SIM_ORACLE_H
#define GX_SIM_ORACLE_H

#include "base/buf.h"
#include "ds/bytes_map.h"
#include "topology/plan.h"

#include <gale/component.h>

enum { GX_ORACLE_TASKS_MAX = 1000, GX_ORACLE_TEXT = 400, GX_ORACLE_PATIENCE = 8, GX_ORACLE_PATIENCE_LATE = 56 };

/* One emit. */
typedef struct gx_sim_emission {
    uint32_t first_tree; /* in `tree_list` */
    uint32_t tree_count;
    uint16_t task;
    uint16_t stream;
    uint32_t number; /* that its tuples carry: its own, or that of the first attempt */
    uint64_t root;   /* of a spout's that may be emitted again: which attempt it is; else 0 */
} gx_sim_emission;

typedef struct gx_sim_tree {
    uint64_t message_id; /* the component's own */
    int64_t begun;       /* ns of the emit, as the executor told the time */
    uint64_t done_round; /* when its last delivery was acked, plus 1; 0: not yet */
    uint32_t open;       /* deliveries that are not acked */
    uint32_t loose;      /* those of them on their way by a subscription that may drop them, which acks them */
    uint32_t kept;       /* those of them that are held or forgotten */
    uint32_t failures;   /* deliveries of it that failed */
    uint32_t at;         /* its place among the open trees */
    uint32_t first;      /* the tree of its first attempt, which may be itself */
    uint32_t latest;     /* of a first one: the tree of the last attempt */
    uint32_t attempt;    /* from 1 */
    uint32_t letter;     /* the emission of its dead letter, plus 1 */
    int64_t waits_until; /* it waits to be emitted again, as its ledger says; 0: not */
    uint16_t task;       /* the spout's */
    uint16_t failed_at;  /* the task of the last failure */
    uint16_t causes;     /* bit a gale_reason; the application's own are all GALE_REASON_COUNT */
    bool answered;
    bool is_letter; /* the engine's own: no spout hears of it */
    bool unclear;   /* some delivery may have been dropped as it was emitted again */
} gx_sim_tree;

/* One task's part in an emission. */
typedef struct gx_sim_delivery {
    uint32_t emission;
    bool tracked; /* it belongs to some tree */
    bool failed;  /* an emit anchored to it failed: its ack is a fail */
} gx_sim_delivery;

/* Numbers of emissions on their way from one task to another. */
typedef struct gx_sim_pair {
    uint32_t *emissions;
    size_t capacity;
    uint32_t head, count;
} gx_sim_pair;

typedef struct gx_sim_counts {
    uint64_t delivered; /* to it */
    uint64_t received;
    uint64_t dropped; /* at the limit, as its feeders emitted */
    uint64_t unclear; /* more of that, at the most */
    uint64_t sent;    /* deliveries from it */
    uint64_t acked, failed, rejected, forgotten;
} gx_sim_counts;

typedef struct gx_oracle {
    gx_heap *heap;
    const gx_plan *plan;
    uint32_t tasks;

    gx_sim_emission *emissions;
    size_t emission_capacity;
    uint32_t emission_count;
    uint32_t *tree_list;
    size_t tree_list_capacity;
    uint32_t tree_list_count;
    gx_sim_tree *trees;
    size_t tree_capacity;
    uint32_t tree_count;
    uint32_t *open_trees;
    size_t open_capacity;
    uint32_t open_count;

    gx_sim_pair *pairs; /* [source * (tasks + 1) + target] */
    size_t pair_capacity;
    gx_sim_counts *counts; /* [0 .. tasks] */
    size_t count_capacity;
    gx_bytes_map *keys; /* of fields grouping: the task of each key */
    gx_buf key;

    bool scarce;    /* allocations may fail */
    bool late;      /* what executors say to each other may come late */
    bool lossy;     /* queues may be at their limit, or tuples too late */
    bool ending;    /* the runtime is closing */
    bool dead;      /* its process is: what comes is not looked at */
    uint64_t round; /* how often every executor has made a step */
    uint64_t jam;   /* the last round in which acks found no room in a ring, plus 1 */
    uint64_t lost;  /* updates that found no memory, as the engine counts them */
    uint64_t acked, failed, timed_out, rejected, stopped;
    uint64_t deliveries, executed;
    uint64_t messages, letters, repeats; /* trees by kind */
    uint64_t trace;                      /* a hash of everything that happened, in order */
    char problem[GX_ORACLE_TEXT];
} gx_oracle;

/* GALE_NO_MEMORY. */
int gx_oracle_init(gx_oracle *oracle, gx_heap *heap);
void gx_oracle_fini(gx_oracle *oracle);

/* Begins a run of `plan`. GALE_NO_MEMORY, GALE_TOO_LARGE. */
int gx_oracle_begin(gx_oracle *oracle, const gx_plan *plan);

/* Notes the first thing that must not be. */
void gx_oracle_violated(gx_oracle *oracle, const char *format, ...) GALE_PRINTF(2, 3);

/* Notes that something happened. */
void gx_oracle_trace(gx_oracle *oracle, uint64_t what);

GX_INLINE bool gx_oracle_holds(const gx_oracle *oracle) {
    return oracle->problem[0] == 0;
}

/* --- Emitting. Each emit is announced, and then either done or cancelled; nothing happens in between. --- */

/* A spout's tracked tuple begins a tree. GALE_NO_MEMORY. */
int gx_oracle_open(gx_oracle *oracle, uint16_t task, uint64_t message_id, int64_t now, uint32_t *ret_tree);

/* An emission of `tree`, or anchored to deliveries (none: untracked). `tree` UINT32_MAX: none. */
int gx_oracle_announce(gx_oracle *oracle, uint16_t task, uint16_t stream, uint32_t tree,
                       gx_sim_delivery *const *anchors, size_t anchor_count, uint32_t *ret_emission);

/* The engine emits a spout's tuple again that had the number `emission` the first time, in attempt `attempt` under
 * `root`. False when it may not (and the problem is noted). `*ret_emission`: as from gx_oracle_announce. */
bool gx_oracle_repeated(gx_oracle *oracle, uint64_t emission, uint32_t attempt, uint64_t root, int64_t now,
                        uint32_t *ret_emission);

/* The same for the first emit of the dead letter of `tree`. */
bool gx_oracle_buried(gx_oracle *oracle, uint16_t task, uint16_t stream, uint64_t tree, uint64_t root, int64_t now,
                      uint32_t *ret_emission);

/* The number that the dead letter of a tree has in place of one in its tuples; UINT64_MAX: there is none. */
uint64_t gx_oracle_letter_number(const gx_oracle *oracle, uint64_t tree);

/* It went to these tasks; `direct`: the one that was named, or 0. `dropped`: to how many others it would have gone, had
 * their queues not been at the limit; below 0: that is not known. GALE_NO_MEMORY. */
int gx_oracle_emitted(gx_oracle *oracle, uint32_t emission, const gale_value *values, const uint16_t *targets,
                      uint32_t count, uint32_t direct, int dropped);

/* It failed, and the tree that was opened for it is none. */
void gx_oracle_cancel(gx_oracle *oracle, uint32_t emission, uint32_t tree);

/* --- Executing --- */

/* A tuple with this number and first root (0: none) has come to `target`. False when it cannot be (and the problem
 * is noted). */
bool gx_oracle_received(gx_oracle *oracle, uint16_t source, uint16_t target, uint16_t stream, uint64_t number,
                        uint64_t root, gx_sim_delivery *ret_delivery);

void gx_oracle_acked(gx_oracle *oracle, uint16_t task, const gx_sim_delivery *delivery);
void gx_oracle_failed(gx_oracle *oracle, uint16_t task, const gx_sim_delivery *delivery, int32_t reason);

/* Held, or forgotten; or answered after all, just before gx_oracle_acked or _failed. */
void gx_oracle_kept(gx_oracle *oracle, const gx_sim_delivery *delivery, bool kept);
void gx_oracle_forgotten(gx_oracle *oracle, uint16_t task, const gx_sim_delivery *delivery);

/* The source of a tree is lost, says its spout. */
void gx_oracle_lost(gx_oracle *oracle, uint64_t tree);

/* --- Answers --- */

/* A spout task heard of a tree: acked (`failure` NULL), or failed. Returns the tree, or NULL (the problem is noted). */
const gx_sim_tree *gx_oracle_answered(gx_oracle *oracle, uint16_t task, uint64_t tree, const gale_failure *failure,
                                      int64_t now);

/* Nothing moves: what is open waits for what is kept. */
void gx_oracle_rest(gx_oracle *oracle, int64_t now);

#endif
