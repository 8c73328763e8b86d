/* A run: its plan, its truth, the runtime, and what components and the application's threads share. */
#ifndef TEST_RANDOM_THREADS_RUN_H
#define TEST_RANDOM_THREADS_RUN_H

#include "base/random.h"
#include "system/random_threads/clock.h"
#include "system/random_threads/memory.h"
#include "system/random_threads/truth.h"

#include <gale/remote.h>
#include <gale/runtime.h>
#include <pthread.h>

enum { RT_HANDED_MAX = 4096, RT_THREADS_MAX = 10, RT_FEEDS_MAX = 16, RT_KEPT_MAX = 600, RT_TEXT_MAX = 3000 };

/* What a component counts of one task: the oracle of the runtime's figures. Written by the task's thread (and through
 * remotes by others: those of `remote`), read after the end. */
typedef struct rt_counts {
    uint64_t executed, ticks, letters;
    uint64_t emits, deliveries;                           /* that succeeded */
    uint64_t acks, fails, timeouts, rejects, never_trees; /* a spout's, heard */
    uint64_t trees;                                       /* a spout's own emits that were accepted */
    uint64_t by_reason[GALE_REASON_COUNT + 1];
    uint64_t opened, closed, finished;
    atomic_uint remote; /* commands that were accepted */
} rt_counts;

/* What hooks count of one task. */
typedef struct rt_seen {
    uint64_t prepared, cleaned, emits, deliveries, executed, acks, fails;
} rt_seen;

/* A task's collector, for the application's threads. Open until the run's memory is freed. */
typedef struct rt_remote {
    gale_remote *face;
    uint32_t part, task;
    const atomic_llong *told;       /* what the clock last told the task's thread */
    uint32_t lanes[RT_THREADS_MAX]; /* one a thread, made at its first use */
} rt_remote;

/* A tuple that a task holds, and one of those threads is to answer. */
typedef struct rt_handed {
    rt_remote *remote;
    gale_handle handle;
    rt_word word;
} rt_handed;

typedef struct rt_feed {
    int fd; /* to be written to; -1: closed */
    uint32_t left;
} rt_feed;

typedef struct rt_part_run {
    struct rt_run *run;
    const rt_part *part;
    uint32_t number;
    atomic_uint first_task; /* 0: none is open yet */
    atomic_uint finished;   /* tasks */
    atomic_uint calls;      /* next or execute */
} rt_part_run;

typedef struct rt_run {
    rt_plan plan;
    rt_truth truth;
    rt_memory memory;
    gale_allocator allocator;
    rt_clock told; /* the runtime's clock, as its threads have read it */
    gale_clock runtime_clock, clock;
    gale_topology *topology;
    gale_runtime *runtime;
    rt_part_run parts[RT_PARTS_MAX];
    rt_counts counts[RT_TASKS_MAX];
    rt_seen seen[RT_TASKS_MAX];
    uint32_t part_of[RT_TASKS_MAX]; /* plus 1; 0: an acker task, or none */
    char letters_path[64];

    pthread_mutex_t lock; /* for what follows */
    rt_remote *remotes[RT_TASKS_MAX];
    uint32_t remote_count;
    rt_handed handed[RT_HANDED_MAX];
    uint32_t handed_count;
    rt_feed feeds[RT_FEEDS_MAX];
    uint32_t feed_count;

    atomic_uint over;         /* the runtime has ended: nothing more will be accepted or handed */
    atomic_uint unwatch;      /* it is about to be freed: only remotes may be used */
    atomic_uint stopped_by;   /* a component's gale_stop was called */
    atomic_uint finish_error; /* an error was returned from finish */
    atomic_uint open_error;   /* from open or prepare */
    atomic_uint finishes;     /* begun */
    atomic_int choosers;      /* instances of custom groupings */
    uint64_t lost_letters;    /* as the runtime says */
    bool drained;             /* it ended by itself, everything done */
} rt_run;

/* A delivery that a bolt has to answer. */
typedef struct rt_copy {
    gale_handle handle;
    rt_word word;
    bool marked; /* an emit that was anchored to it failed: its ack counts as a fail */
} rt_copy;

/* A task, while it is open. */
typedef struct rt_task {
    rt_run *run;
    const rt_part *part;
    uint32_t number; /* of the part */
    const gale_context *context;
    gale_collector *out;
    rt_counts *counts;
    rt_remote *remote;
    const atomic_llong *told;
    pthread_t thread;
    uint32_t id, index;
    uint32_t seq; /* of its lane */

    /* a spout's */
    uint32_t emitted; /* tracked */
    uint32_t again;   /* failed, to be emitted once more */
    uint32_t open;    /* trees */
    uint32_t fd;
    bool fd_open, ended, active, closing;

    /* a bolt's */
    rt_copy kept[RT_KEPT_MAX];
    uint32_t kept_count;
} rt_task;

static inline int64_t rt_now(const rt_run *run) {
    return run->clock.now(run->clock.user);
}

/* --- Components (task.c, spout.c, bolt.c) --- */

/* Marks that a function of the task runs, and checks that it may: on its own thread, not from inside another. */
void rt_enter(rt_task *task, const char *what);
void rt_leave(rt_task *task);

/* A new instance, known to the run. GALE_NO_MEMORY, or the error that is drawn. */
int rt_task_new(rt_part_run *part, const gale_context *context, gale_collector *out, rt_task **ret_task);
void rt_task_free(rt_task *task);

uint32_t rt_task_below(rt_task *task, uint32_t n);

/* A call of next or execute: takes its time, stops the run when that is drawn. */
void rt_task_call(rt_task *task);

/* Is this call one that returns an error? */
bool rt_task_errs(rt_task *task);

extern const gale_spout_ops rt_spout_ops;
extern const gale_bolt_ops rt_simple_ops, rt_manual_ops;

/* --- What bolts do (habits.c) --- */

/* What execute makes of a tuple. */
int rt_habit_treat(rt_task *task, rt_copy *copy);

/* What is held is answered at a tick, by those who do, and in finish. */
void rt_habit_tick(rt_task *task);
void rt_habit_finish(rt_task *task);

/* --- Emitting (send.c) --- */

/* What a new tuple belongs to. */
typedef enum rt_binding { RT_TRACKED, RT_UNTRACKED, RT_BOUND, RT_ANCHORED, RT_UNANCHORED } rt_binding;

typedef struct rt_send {
    rt_binding how;
    rt_word word;               /* root, hops, energy, key; the rest is filled in */
    const gale_handle *anchors; /* of RT_ANCHORED */
    size_t anchor_count;
    bool misused; /* an anchor is settled: GALE_SETTLED is what is wanted */
} rt_send;

/* Emits to `stream`; counts it, and checks what it returned. */
int rt_send_to(rt_task *task, uint32_t stream, rt_send what);

/* Emits a new tracked tuple to some stream. Returns what the emit did; GALE_AGAIN also when no more are counted. */
int rt_send_tree(rt_task *task);

/* Values of a tuple, and the memory that they point to. */
typedef struct rt_values {
    gale_value values[3];
    size_t count;
    char text[RT_TEXT_MAX];
    gale_value items[4];
} rt_values;

/* Once, before the rest. */
void rt_values_init(void);

void rt_values_make(rt_values *made, const rt_plan *plan, rt_shape shape, rt_word word, uint64_t random);

/* The word of a tuple of a stream of this shape; anything else that it carries is checked. */
rt_word rt_values_read(rt_shape shape, const gale_value *values, size_t count);

/* May an emit to this stream fail for no fault of anybody's? */
bool rt_stream_may_fail(const rt_run *run, uint32_t part, uint32_t stream);

/* --- The application's threads (hands.c, watch.c) --- */

typedef struct rt_thread {
    rt_run *run;
    uint32_t number;
    gx_random random;
    pthread_t id;
} rt_thread;

void *rt_emitter(void *thread);
void *rt_hand(void *thread);
void *rt_feeder(void *thread);
void *rt_watcher(void *thread);

/* --- The whole (build.c, run.c, figures.c) --- */

/* The topology of the plan, or NULL when memory is out. */
gale_topology *rt_build(rt_run *run);

/* What the runtime counted is what components counted. */
void rt_figures_check(rt_run *run);

/* Figures add up, at any moment. */
gale_run_stats rt_figures_read(const rt_run *run);

/* One run, from its drawing to its end. */
void rt_run_once(rt_run *run, uint64_t seed, const char *program, bool verbose);

/* What is being waited for, and for how long: longer ends the process, with all that can be said. watchdog.c */
void rt_watchdog_start(void);
void rt_watchdog_expect(rt_run *run, const char *what);

#endif
