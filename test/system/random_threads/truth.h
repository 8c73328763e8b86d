/* What is true of a run, kept apart from the engine: every tree that was asked for and what became of it, who emitted
 * how much, what arrived where and in which order.
 *
 * Threads: trees are written by every thread (atomics, relaxed: the engine's own order is what is under test, and must
 * carry them); a row of `order` and of `copies` belongs to the target task's thread.
 * A property that does not hold ends the process at once: rt_violated says which, and how to repeat the run. */
#ifndef TEST_RANDOM_THREADS_TRUTH_H
#define TEST_RANDOM_THREADS_TRUTH_H

#include "system/random_threads/drawn.h"
#include "system/random_threads/word.h"

#include <stdatomic.h>

enum { RT_TREES_MAX = 20000 };

typedef enum rt_state { RT_ASKED, RT_ACCEPTED, RT_REFUSED } rt_state;

/* Reasons as bits of a set; all of the application's own are one. */
static inline uint32_t rt_reason_bit(int32_t reason) {
    return UINT32_C(1) << (reason >= GALE_REASON_USER ? GALE_REASON_COUNT : reason);
}

typedef struct rt_tree {
    atomic_uint state; /* rt_state */
    atomic_uint answers;
    atomic_uint acked;
    atomic_uint sent;     /* deliveries of tuples of this tree */
    atomic_uint executed; /* of those */
    atomic_uint done;     /* of those, acked */
    atomic_uint causes;   /* set of reasons for which it may fail */
    atomic_uint must_fail;
    atomic_uint loose;  /* its deliveries cannot all be counted from outside */
    atomic_uint joined; /* tuples belong to it whose words speak of another */
    atomic_uint letters;
    uint32_t task; /* the spout's */
    bool remote;
    int64_t born; /* ns: what its executor was last told before the emit */
} rt_tree;

typedef struct rt_truth {
    const rt_plan *plan;
    rt_tree *trees; /* RT_TREES_MAX */
    atomic_uint tree_count;
    uint8_t (*copies)[RT_TREES_MAX]; /* by target task and tree: first hops executed, where the engine emits again */
    uint32_t (*order)[RT_LANES];     /* by target task and lane: the last that came, plus 1 */
    atomic_uint lanes;
    atomic_uint lane_task[RT_LANES];                             /* who emits on it */
    atomic_uint owners[RT_PARTS_MAX][RT_INPUTS_MAX][RT_KEYS][2]; /* the tasks that a key came to, plus 1 */
    atomic_uint causes;                                          /* reasons for which any tree may fail, as of now */
    atomic_uint stopping;                                        /* somebody has asked for a stop */
    atomic_uint accepted;                                        /* trees */
    atomic_ulong executed;                                       /* tuples, ticks and dead letters apart */
    atomic_ulong answered;
} rt_truth;

/* Memory for all runs; false when there is none. */
bool rt_truth_init(rt_truth *truth);
void rt_truth_fini(rt_truth *truth);

/* A new run. */
void rt_truth_begin(rt_truth *truth, const rt_plan *plan);

/* The run is about to be stopped: trees may fail for that from now on. */
static inline void rt_truth_stops(rt_truth *truth) {
    atomic_store(&truth->stopping, 1);
    atomic_fetch_or(&truth->causes, rt_reason_bit(GALE_REASON_STOPPED));
}

/* Says what does not hold, the run, and how to repeat it; then the process ends. */
_Noreturn void rt_violated(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The run that rt_violated speaks of; `program`: how this one is called. */
void rt_truth_speaks_of(const rt_plan *plan, const char *program);
void rt_truth_say_again(void);

/* --- Trees --- */

/* A tree that is about to be asked for; its number is the message id. RT_ROOT_NONE: no more of them. */
uint32_t rt_tree_new(rt_truth *truth, uint32_t task, bool remote, int64_t born);

/* What the emit returned. */
void rt_tree_asked(rt_truth *truth, uint32_t tree, int rc);

/* Something of the tree was emitted to so many tasks. */
static inline void rt_tree_sent(rt_truth *truth, uint32_t tree, uint32_t deliveries) {
    if (tree != RT_ROOT_NONE) atomic_fetch_add_explicit(&truth->trees[tree].sent, deliveries, memory_order_relaxed);
}

static inline void rt_tree_done(rt_truth *truth, uint32_t tree) {
    if (tree != RT_ROOT_NONE) atomic_fetch_add_explicit(&truth->trees[tree].done, 1, memory_order_relaxed);
}

/* It may fail for this reason from now on. */
static inline void rt_tree_may_fail(rt_truth *truth, uint32_t tree, int32_t reason) {
    if (tree != RT_ROOT_NONE)
        atomic_fetch_or_explicit(&truth->trees[tree].causes, rt_reason_bit(reason), memory_order_relaxed);
}

/* It must, unless it fails for another reason first. */
static inline void rt_tree_must_fail(rt_truth *truth, uint32_t tree) {
    if (tree != RT_ROOT_NONE) atomic_store_explicit(&truth->trees[tree].must_fail, 1, memory_order_relaxed);
}

static inline void rt_tree_loosen(rt_truth *truth, uint32_t tree) {
    if (tree != RT_ROOT_NONE) atomic_store_explicit(&truth->trees[tree].loose, 1, memory_order_relaxed);
}

static inline void rt_tree_join(rt_truth *truth, uint32_t tree) {
    rt_tree_loosen(truth, tree);
    if (tree != RT_ROOT_NONE) atomic_store_explicit(&truth->trees[tree].joined, 1, memory_order_relaxed);
}

/* The spout task has heard of it; `failure` NULL: acked. */
void rt_tree_answered(rt_truth *truth, uint32_t tree, uint32_t task, const gale_failure *failure, int64_t now);

/* A dead letter of it was executed. */
void rt_tree_buried(rt_truth *truth, uint32_t tree, const char *reason);

/* How many that were accepted are not answered; says the first. */
uint32_t rt_trees_unanswered(const rt_truth *truth, uint32_t task, uint32_t *ret_first);

/* At the end of the run: all is answered as it must be. */
void rt_trees_check(const rt_truth *truth);

/* --- Deliveries --- */

/* A lane for `task`, of a thread of the application's; 0: there are no more. */
uint32_t rt_lane_new(rt_truth *truth, uint32_t task);

/* Tuple `w`, of `source`, is being executed by `task`, which is number `index` of `part`; by its `input`. */
void rt_received(rt_truth *truth, rt_word w, uint32_t source, uint32_t task, uint32_t index, uint32_t part,
                 uint32_t input);

#endif
