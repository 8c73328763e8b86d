/* What tests of whole topologies share: a spout that numbers its tuples and remembers every answer, bolts made of one
 * function, and a runtime that is stepped on a hand-moved clock or run on threads. */
#ifndef TEST_ENGINE_RIG_H
#define TEST_ENGINE_RIG_H

#include "harness/cm.h"

#include <gale/runtime.h>

enum { RIG_TUPLES_MAX = 4096, RIG_LOG_MAX = 256 };

/* Everything that a spout (one task) was told. Tuple i carries the number i; its message id is i. */
typedef struct rig_spout {
    uint64_t to_emit; /* UINT64_MAX: without end */
    uint64_t emitted; /* first attempts */
    bool again;       /* emit what failed once more */
    bool untracked;
    bool at_once;      /* hears of acks by ack_batch */
    uint64_t batches;  /* of acks */
    size_t batch_most; /* acks in one */
    uint32_t keys;     /* the second value is number % keys, if keys */
    uint64_t pending_max;
    uint64_t acks, fails, finals;                          /* of the failures, those that were final */
    uint8_t acked[RIG_TUPLES_MAX], failed[RIG_TUPLES_MAX]; /* times, by id modulo RIG_TUPLES_MAX */
    gale_failure last_failure;
    char last_text[256];
    char last_component[64];
    int64_t answered_at[RIG_TUPLES_MAX]; /* the clock at the last answer */
    int64_t emitted_at[RIG_TUPLES_MAX];
    uint64_t queue[RIG_TUPLES_MAX]; /* to be emitted again */
    uint64_t queued, requeued;
    char log[RIG_LOG_MAX]; /* o(pen) a(ctivate) d(eactivate) c(lose) */
    int open_returns;
    int next_fails;   /* this many times */
    uint64_t lose_at; /* once it has emitted so many, its source is lost; 0: never */
    gale_is_lost_fn *is_lost;
    int64_t lost; /* what it was told then */
    const gale_context *context;
} rig_spout;

gale_spout rig_spout_of(rig_spout *spout);

/* A bolt whose execute is `on`, with `user`. Tasks share `user`: on several executors it must cope. */
typedef struct rig_bolt {
    int (*on)(struct rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out);
    int (*on_batch)(struct rig_bolt *bolt, gale_batch *tuples, gale_collector *out); /* the same; in place of `on` */
    int (*on_finish)(struct rig_bolt *bolt, gale_collector *out);
    int (*on_drain)(struct rig_bolt *bolt, gale_collector *out);
    int (*on_flush)(struct rig_bolt *bolt, gale_collector *out); /* set before rig_simple or rig_manual; NULL: none */
    void *user;
    uint64_t seen; /* single-task use */
    uint64_t ticks;
    char *log; /* where p(repare) f(inish) c(leanup) and `name` go; may be NULL */
    char name;
    int prepare_returns;
    gale_handle held[RIG_TUPLES_MAX];
    size_t held_count;
} rig_bolt;

gale_bolt rig_simple(rig_bolt *bolt);
gale_bolt rig_manual(rig_bolt *bolt);

/* on-functions */
int rig_pass(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out); /* emits the values again, anchored */
int rig_take(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out); /* counts them */
int rig_twice(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out);
int rig_refuse(rig_bolt *bolt, const gale_tuple *tuple, gale_collector *out); /* reports "no, thanks" and fails */

typedef struct rig {
    gale_topology *topology;
    gale_runtime *runtime;
    gale_manual_clock *clock;
    gale_run_stats stats;
} rig;

/* `r.topology` is empty and ready to be built. */
void rig_init(rig *r);

/* What keeps the trees of topologies made from now on: so many acker tasks; 0: the spouts' ledgers. */
void rig_use_ackers(uint32_t count);

/* Runs a group of tests on the spouts' ledgers, and once more on three acker tasks. */
#define rig_run_on_both_ledgers(tests) rig_run_on_both(tests, sizeof(tests) / sizeof(tests)[0])
int rig_run_on_both(const struct CMUnitTest *tests, size_t count);

/* Makes the runtime on the hand-moved clock; fails the test when that fails. */
void rig_make(rig *r, uint32_t executors);
void rig_make_with(rig *r, gale_runtime_options options);

/* The number of executors that a test is given as its state. */
static inline uint32_t rig_executors(void **state) {
    return *(uint32_t *)*state;
}

/* Steps until nothing is to be done. */
void rig_settle(rig *r);

/* Moves the clock by `nanoseconds` in steps of `grain` and settles after each. */
void rig_advance(rig *r, int64_t nanoseconds, int64_t grain);

/* Drains, steps to the end. */
void rig_drain(rig *r);
const gale_run_stats *rig_stats(rig *r);

/* The figures, and the number, of task `index` of a component. */
gale_task_stats rig_task(const rig *r, const char *component, uint32_t index);
uint32_t rig_task_number(const rig *r, const char *component, uint32_t index);
void rig_fini(rig *r);

#endif
