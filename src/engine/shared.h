/* What the executors of a runtime share. Written by many only where it is atomic; everything else is frozen at the
 * start. */
#ifndef GX_ENGINE_SHARED_H
#define GX_ENGINE_SHARED_H

#include "base/os/thread.h"
#include "engine/flow.h"
#include "engine/metric.h"
#include "topology/plan.h"

#include <gale/runtime.h>
#include <gale/store.h>

/* What the simulator makes small, so that little work fills it. Zero: as always. */
typedef struct gx_knobs {
    uint32_t batch_room;    /* bytes for rows in a batch; one row is always possible */
    uint64_t ring_capacity; /* of a data ring, in weight of batches; a power of two */
    uint64_t ack_capacity;  /* of an ack ring */
    uint64_t queue_high;    /* the mark of flow control; the low one is half of it */
} gx_knobs;

/* When a drain is looked at, and what was seen; see runtime/drain_watch.h. */
typedef struct gx_drain_pace {
    gx_atomic64 look_due;  /* ns */
    gx_atomic64 progress;  /* as of the last look that saw some */
    gx_atomic64 since;     /* ns; of that look */
    gx_atomic64 say_after; /* ns without progress; 0: nothing drains */
} gx_drain_pace;

/* What the application wants of spouts, and whether tasks are being opened: a runtime that is inactive opens none, until
 * one executor has begun; then all do. One word, so that nobody sees the one without the other. */
enum { GX_INACTIVE = 1, GX_OPENING_BEGUN = 2 };

/* How far the cut of a checkpoint is (engine/cut.h); in a word with the number of the attempt above it. */
typedef enum gx_cut_stage {
    GX_CUT_NONE,
    GX_CUT_HOLD, /* spouts are held */
    GX_CUT_STOP, /* nothing runs any more */
    GX_CUT_SAVE, /* everybody saves, and does nothing else */
    GX_CUT_STAGES,
} gx_cut_stage;

/* Who looks at what is emitted (engine/taps.h). Under the monitor's lock, but for the epoch, which any thread reads. */
typedef struct gx_taps_shared {
    gx_atomic64 epoch;       /* of the newest set */
    struct gx_tap_set *sets; /* the newest first */
    struct gx_tap *live, *ended;
    uint64_t names; /* given so far */
} gx_taps_shared;

/* Of a durable run. */
typedef struct gx_cut_shared {
    const gale_store *store; /* NULL: the run is not durable */
    gale_clock clock;        /* the application's; the runtime's goes on from the checkpoint's time */
    int64_t clock_offset;
    const struct gx_restore *restore; /* what tasks are given when they open */
    const char *const *kept;          /* by component: the name of its keyed state in the store; NULL: their own */
    gale_str letters;                 /* records: what the checkpoint has of the file of dead letters */
    bool complete;                    /* the checkpoint that the run goes on from is of an end */
    uint64_t state_memory;
    uint64_t seed;       /* of sums of what checkpoints have (engine/chunks.h) */
    gx_atomic64 until;   /* ns; a hold or a stop that lasts longer is put off; INT64_MAX: none is */
    gx_atomic64 number;  /* of the checkpoint that is being made */
    gx_atomic32 saved;   /* executors that have saved */
    gx_atomic64 lasting; /* the number of the last checkpoint that lasts; 0: none */
    gx_atomic32 soon;    /* a component wishes that one is made now */
    _Atomic(const char *)
        owing; /* a component that has not committed what a checkpoint promises; NULL: none is known */
} gx_cut_shared;

/* What may be set of a component while it runs (engine/tune.h). */
typedef struct gx_tuned {
    uint64_t max_pending; /* UINT64_MAX: no bound */
    double rate;          /* 0: none */
    uint8_t drop;         /* gale_drop; GALE_DROP_NOTHING: as each input says */
} gx_tuned;

typedef struct gx_shared {
    gx_heap heap;
    const gx_plan *plan;
    struct gx_task **tasks; /* [1 .. task_count] */
    struct gx_executor **executors;
    uint32_t executor_count;
    gale_logger logger;
    gale_clock clock;
    uint64_t seed;
    bool until_drained;
    uint64_t queue_limit; /* bytes a task */
    char limit_text[160]; /* of what finds a queue there */
    gx_knobs knobs;
    gx_flow flow;

    gx_taps_shared taps;
    gx_metric_names metric_names; /* under the monitor's lock */
    gx_tuned *tuned;              /* by component; under the monitor's lock */
    gx_atomic32 tune_version;
    const gale_hook *debug; /* of components with topology.debug */
    gx_atomic64 *warned;    /* by component: when it was last warned of timeouts, ns + 1; 0: never */

    /* Mailboxes of queries: [asker * executor_count + executor], the last row for the application. */
    _Atomic(struct gx_locate_query *) *mailboxes;
    gx_atomic32 query_epoch;       /* how many were laid */
    gx_atomic32 asking;            /* a thread of the application asks */
    struct gx_locate_query *asked; /* its queries that were not answered by all */

    /* The life of the runtime; see runtime/control.h for who moves what. */
    alignas(GX_APART) gx_atomic32 phase; /* gale_phase */
    gx_atomic64 cut_stage;               /* attempt * GX_CUT_STAGES + gx_cut_stage */
    gx_atomic32 finish_rank;             /* finishing: components up to this rank may finish; their number: all have */
    gx_atomic32 activity;                /* GX_INACTIVE, GX_OPENING_BEGUN */
    gx_atomic32 reopen;                  /* how often files were to be opened again */
    gx_atomic32 drain_asked;             /* while it opened: it drains as soon as it runs */
    gx_atomic32 resumed;                 /* a spout goes on from an earlier run; known once all is open */
    gx_atomic32 tried;                   /* executors whose tasks were all asked to open */
    gx_atomic32 unopened;                /* tasks that were, and said "not now" */
    gx_atomic32 unopened_spouts;         /* of these */
    gx_atomic32 closed;                  /* executors whose tasks are all closed */
    gx_atomic64 started_at;              /* ns + 1; 0: not yet */
    gx_atomic64 ended_at;

    gx_drain_pace drain_pace;
    gx_cut_shared cut;

    struct gx_dead_letters *dead_letters; /* the file, when it is open; under the monitor's lock */

    /* The control plane: waiting for the end, and the first error that asked for it. */
    gx_monitor monitor;
    gale_error fatal; /* under the monitor's lock */
} gx_shared;

/* A word of a cut's stage, and what it says. */
GX_INLINE uint64_t gx_cut_word(gx_shared *shared) {
    return gx_load_acquire(&shared->cut_stage); /* A2 */
}

GX_INLINE gx_cut_stage gx_cut_stage_of(uint64_t word) {
    return (gx_cut_stage)(word % GX_CUT_STAGES);
}

GX_INLINE int32_t gx_phase(gx_shared *shared) {
    return (int32_t)gx_load_acquire(&shared->phase);
}

#endif
