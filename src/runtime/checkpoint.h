/* Checkpoints of a durable run: when one is cut, and how it comes to last.
 *
 *     cut:    idle --it is time--> (engine/cut.h: hold, stop, save) --all have saved--> cut
 *     image:  idle --cut--> cut --committer takes it--> committing --the store has it--> stored --it is told--> idle
 *                                                          +------ an error: the run stops
 *
 * What:    executor 0 moves the cut's stages on. What all have saved is the image, which belongs to the committer until it
 *          lasts: pledges are prepared, the store commits, pledges are committed, components are told. The run has gone on
 *          long since; the next cut waits for that.
 *          Pledges that may come late have keepers (runtime/keepers.h), one for each component. That a checkpoint lasts is told when all of them were
 *          asked to commit, but for components that owe some of the one before still; where that takes longer than GX_CHECKPOINT_LATE, it is told
 *          before. The checkpoint of the end waits for all of them.
 *          The first is made before anything runs: what is outside (a file that lines go behind) is known from then on, and a
 *          run that dies before it has changed nothing. All stay in `save` until it lasts.
 *          A cut that takes longer than GX_CHECKPOINT_PATIENCE is put off; after GX_CHECKPOINT_TRIES of them the next
 *          waits as long as it takes, and the log names who is waited for.
 *          The end of a run that has drained and finished is a checkpoint, too, and says so; none is cut while bolts finish.
 * Threads: gx_checkpoint_step and _pause executor 0's; gx_checkpoint_commit one at a time, the committer's; the others any.
 * Orderings: R5/A5 the image's state: who sees `cut` may read what the executors wrote, who sees `idle` may write again. */
#ifndef GX_RUNTIME_CHECKPOINT_H
#define GX_RUNTIME_CHECKPOINT_H

#include "ds/histogram.h"
#include "runtime/keepers.h"
#include "runtime/restore.h"
#include "runtime/shown.h"

enum {
    GX_CHECKPOINT_DRY = 5 * 1000 * 1000,       /* ns that spouts are held for, at the most, until queues have run dry */
    GX_CHECKPOINT_PATIENCE = 20 * 1000 * 1000, /* ns */
    GX_CHECKPOINT_TRIES = 3,
};

/* ns that what is promised may take until a checkpoint is told to last without it. */
#define GX_CHECKPOINT_LATE GALE_SECOND

typedef enum gx_image_state {
    GX_IMAGE_IDLE,
    GX_IMAGE_CUT,
    GX_IMAGE_COMMITTING,
    GX_IMAGE_STORED,
    GX_IMAGE_FAILED
} gx_image_state;

/* What somebody wants: one now; and then the end. */
enum { GX_CHECKPOINT_ASKED = 1, GX_CHECKPOINT_THEN_STOP = 2 };

/* Of all checkpoints of a run. */
typedef struct gx_checkpoint_times {
    gx_histogram held, took;
} gx_checkpoint_times;

typedef struct gx_checkpoint {
    gx_shared *shared;
    gale_store store;
    gx_restore restore;
    bool forgotten; /* keyed state that nobody has any more is gone from the store */
    int64_t interval;
    gx_thread thread;
    bool has_monitor;
    gx_monitor monitor; /* the image's state and what lasts, for whoever waits */
    bool quits;         /* under the monitor's lock: the committer ends when nothing is left to commit */
    gx_atomic32 image;  /* gx_image_state */
    gx_atomic32 wishes;
    gx_changes head; /* the image's */
    gx_image is;
    uint32_t wished; /* the wishes that the cut is for */

    /* The committer's. */
    gx_keepers keepers;
    int64_t commits_since; /* ns, monotonic */

    /* The control's. */
    int64_t due;
    int64_t began;      /* the attempt, or the first of several */
    int64_t held_since; /* this attempt */
    uint32_t tries;     /* that were put off */
    uint64_t word;      /* of the stage that it moved to last; 0: no cut is under way */
    gx_shown_before seen;
    bool told;   /* that it waits */
    bool starts; /* the one before anything runs does not last yet */
    bool ends;   /* the run has finished: this one is complete */

    /* Figures, under the monitor's lock. */
    gale_checkpoint_stats stats;
    gx_checkpoint_times *times;
} gx_checkpoint;

/* Reads what is there, and makes the run go on from it, with `words` for what has changed (runtime/adopt.h). To be ended in
 * any case. */
int gx_checkpoint_init(gx_checkpoint *checkpoint, gx_shared *shared, const gale_store *store, int64_t interval,
                       gx_adopt_words words, gale_error *error);

/* Drops what was not committed. No executor and no committer runs. */
void gx_checkpoint_fini(gx_checkpoint *checkpoint);

/* NULL is allowed in these five: the run is not durable. All is open: begins the first cut, before the phase lets anything
 * run. */
void gx_checkpoint_open(gx_checkpoint *checkpoint);

/* Does nothing run yet, since the first one does not last? */
GX_INLINE bool gx_checkpoint_starts(const gx_checkpoint *checkpoint) {
    return checkpoint && checkpoint->starts;
}

/* Moves a cut on, or begins one. Returns how much was done. */
size_t gx_checkpoint_step(gx_checkpoint *checkpoint);

/* For how long executor 0 may sleep; -1: for ever. */
int64_t gx_checkpoint_pause(const gx_checkpoint *checkpoint);

/* When all has finished: true when the checkpoint of the end lasts. */
bool gx_checkpoint_is_over(gx_checkpoint *checkpoint);

/* Makes an image last, and commits what is owed where no thread does. 1: one lasts now; 0; or an error, with which the run stops. */
int gx_checkpoint_commit(gx_checkpoint *checkpoint, gale_error *error);

/* A thread that does so, and others that commit what is owed, until gx_checkpoint_join. That waits at most `nanoseconds`, and says who has not ended:
 * GALE_TIMED_OUT. */
bool gx_checkpoint_start(gx_checkpoint *checkpoint);
int gx_checkpoint_join(gx_checkpoint *checkpoint, int64_t nanoseconds, gale_error *error);

/* Wishes. From any thread, also from a signal's handler. */
void gx_checkpoint_wish(gx_checkpoint *checkpoint, uint32_t wishes);

/* The figures, from any thread. */
gale_checkpoint_stats gx_checkpoint_stats(gx_checkpoint *checkpoint);

/* Waits until a checkpoint later than `number` lasts. GALE_TIMED_OUT, GALE_STOPPED. */
int gx_checkpoint_wait(gx_checkpoint *checkpoint, uint64_t number, int64_t nanoseconds, uint64_t *ret_number);

#endif
