/* A run as it is drawn from its seed: the topology, what its components do, what the application's threads do
 * meanwhile, and how it all ends. A description without pointers into the engine: drawing it twice gives the same. */
#ifndef TEST_RANDOM_THREADS_DRAWN_H
#define TEST_RANDOM_THREADS_DRAWN_H

#include <gale/topology.h>

#include <stdio.h>

enum {
    RT_SPOUTS_MAX = 3,
    RT_LAYERS_MAX = 4,
    RT_WIDTH_MAX = 3,
    RT_PARTS_MAX = RT_SPOUTS_MAX + RT_LAYERS_MAX * RT_WIDTH_MAX + 1,
    RT_TASKS_MAX = 64, /* of all parts, from 1; acker tasks among them */
    RT_STREAMS_MAX = 3,
    RT_INPUTS_MAX = 4,
    RT_KEYS = 32,
};

/* What a stream carries: one number, one short text, or a key, a number and a load of any size. */
typedef enum rt_shape { RT_NUMBER, RT_TEXT, RT_WIDE } rt_shape;

typedef enum rt_habit {
    RT_SOURCE, /* a spout */
    RT_PASS,   /* simple */
    RT_WORK,   /* manual, answers at once; fails when an emit of its failed */
    RT_BLIND,  /* the same, but acks all the same */
    RT_JOIN,   /* holds two or three and emits anchored to all; the rest at a tick or in finish */
    RT_LOOSE,  /* manual; emits unanchored, fails, rejects, answers twice, forgets where that times out soon */
    RT_KEEP,   /* holds, and answers at ticks and in finish */
    RT_WINDOW, /* holds, and emits anchored to all that it holds at a tick */
    RT_HAND,   /* holds, and hands what it holds to the application's threads */
    RT_BURY,   /* takes dead letters */
} rt_habit;

typedef struct rt_stream {
    rt_shape shape;
    bool direct; /* who takes it is named by the emitter */
} rt_stream;

typedef struct rt_input {
    uint32_t part; /* the source */
    uint32_t stream;
    int32_t grouping;
    int32_t drop;
    bool by_key; /* fields or partial key of a wide stream: the key alone */
} rt_input;

typedef struct rt_part {
    char name[24];
    rt_habit habit;
    uint32_t layer; /* 0: spouts */
    uint32_t tasks;
    rt_stream streams[RT_STREAMS_MAX];
    uint32_t stream_count;
    rt_input inputs[RT_INPUTS_MAX];
    uint32_t input_count;
    uint32_t to_emit;   /* by each task of a spout, tracked */
    uint32_t energy;    /* of a spout's tuple, at the most: about how many tuples come of it */
    uint32_t fan;       /* a bolt's emits for one input, at the most */
    int64_t tick;       /* ns; 0: none */
    int64_t slow;       /* ns that a call takes now and then */
    int executor;       /* where its tasks are placed; -1: anywhere */
    uint32_t error_one; /* one call in so many returns an error; 0: none */
    bool blocking;
    bool remotes;   /* its tasks open remotes for the application's threads */
    bool talkative; /* emits from every callback from which one can be made */
    bool piped;     /* a spout that reads a pipe */
    bool retries;   /* a spout that emits what failed once more */
} rt_part;

typedef enum rt_end {
    RT_END_DRAINED, /* by itself: until_drained */
    RT_END_DRAIN,
    RT_END_STOP,
    RT_END_DRAIN_STOP,
    RT_END_SELF,  /* gale_stop from a component */
    RT_END_FREE,  /* without a word before */
    RT_END_NEVER, /* it is not even started */
    RT_END_COUNT
} rt_end;

typedef struct rt_plan {
    uint64_t seed;
    rt_part parts[RT_PARTS_MAX];
    uint32_t part_count;
    uint32_t layers; /* of bolts */
    uint32_t tasks;

    int64_t timeout; /* ns; 0: the default */
    int64_t deadline;
    int64_t pending; /* 0: no limit */
    int ackers;      /* -1: not set */
    bool progress;
    bool even; /* load-aware messaging is off */
    int64_t attempts;
    double backoff_initial, backoff_most; /* seconds */
    bool letters_file;
    bool heavy; /* loads that fill queues up to their marks */
    bool vast;  /* more trees than the acks of one ring */
    int hooked; /* a part; -1: none, -2: all */

    uint32_t executors;
    uint32_t spins;
    uint64_t ring_memory;
    uint64_t queue_limit;
    bool inactive;
    bool by_steps; /* on the main thread */

    uint32_t memory_one;  /* one allocation in so many fails; 0: none */
    bool memory_at_start; /* from the first on */

    rt_end end;
    int64_t end_after;      /* ns, at the latest */
    uint32_t end_executed;  /* or when so many tuples have been executed */
    uint32_t trouble_part;  /* who stops the run, or whose task 0 cannot be opened or finish */
    uint32_t trouble_after; /* calls */
    bool open_error, finish_error;

    uint32_t emitters, hands, watchers; /* threads of the application */
    uint32_t emits;                     /* an emitter's, tracked */
    bool early_threads;                 /* they begin before the start */
} rt_plan;

/* The run of this seed. */
void rt_draw(rt_plan *plan, uint64_t seed);

/* Its description, for people. */
void rt_plan_print(const rt_plan *plan, FILE *to);

const char *rt_end_name(rt_end end);
const char *rt_stream_name(uint32_t stream);
const char *rt_stream_fields(rt_shape shape);

/* How many tasks a tuple goes to that `part` emits to this stream; with a custom grouping it may be fewer. */
uint32_t rt_plan_fan(const rt_plan *plan, uint32_t part, uint32_t stream);

/* Does a consumer of the stream have this grouping? */
bool rt_plan_has_grouping(const rt_plan *plan, uint32_t part, uint32_t stream, int32_t grouping);

/* Does an input drop what it has no room for? */
bool rt_plan_drops(const rt_plan *plan);

/* Can a tuple of part `from` be what one of part `to` comes of? */
bool rt_plan_reaches(const rt_plan *plan, uint32_t from, uint32_t to);

/* May the engine stop the run by itself, because a dead letter cannot be kept? */
static inline bool rt_plan_stops_itself(const rt_plan *plan) {
    return plan->letters_file && plan->memory_one;
}

/* May the spout's tuples be emitted again by the engine, or be kept for it? */
static inline bool rt_plan_replays(const rt_plan *plan) {
    return plan->attempts > 1;
}

#endif
