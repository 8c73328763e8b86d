/* Mutants: bugs put in on purpose, to show that the simulator finds them (test/system/mutants.c).
 *
 * What:    GX_MUTANT(name) stands in a condition of the engine. It is the constant 0, unless the sources are compiled
 *          with GALE_MUTANTS=1, as only that test does: then the test says on which occasions the bug strikes.
 * Threads: as what it stands in. */
#ifndef GX_BASE_MUTANT_H
#define GX_BASE_MUTANT_H

#include "base/port.h"

typedef enum gx_mutant {
    GX_MUTANT_NONE,
    GX_MUTANT_early_ack_forgotten, /* an ack before the init is forgotten at the acker task */
    GX_MUTANT_overflow_lost,       /* a batch that finds the queue at its limit is dropped, and nobody is told */
    GX_MUTANT_edge_twice,          /* an edge id is used a second time */
    GX_MUTANT_eviction_dropped,    /* the settling table drops what it evicts */
    GX_MUTANT_generation_ignored,  /* an answer to an old tree counts for the new one in its slot */
    GX_MUTANT_reset_revives,       /* a reset makes a failed tree live again */
    GX_MUTANT_attempt_too_many,    /* a tuple that is out of attempts is emitted once more */
    GX_MUTANT_reject_is_failure,   /* a tree that is rejected counts as one that failed, and may be emitted again */
    GX_MUTANT_wait_forgotten,      /* a tree that waits to be emitted again is in no list */
    GX_MUTANT_letter_twice,        /* a dead letter is posted twice */
    GX_MUTANT_drain_not_awaited,   /* bolts finish though an executor has not seen the drain, or still has work */
    GX_MUTANT_rank_not_awaited,    /* the next component finishes, or all is closed, while tuples are on their way */
    GX_MUTANT_command_untold,      /* a remote's tracked tuple that waits at the end is never told of */
    GX_MUTANT_letter_lost,         /* a tuple is given up though its letter could not be kept in the file */
    GX_MUTANT_lost_is_open,        /* a tree whose source is lost is as open as before */
    GX_MUTANT_row_lost,            /* the last row of a batch is lost when that is closed */
    GX_MUTANT_batch_freed_twice,   /* a batch that was read goes home twice */
    GX_MUTANT_part_edges_lost,   /* what a part has emitted does not count in the ack of its tuple, which comes again */
    GX_MUTANT_part_behind,       /* what waits behind a tuple that comes again is executed before it */
    GX_MUTANT_position_early,    /* the checkpoint has a spout's position of the one before, with the states of now */
    GX_MUTANT_held_not_saved,    /* the checkpoint forgets a tuple that is held */
    GX_MUTANT_sink_not_restored, /* a sink that goes on does not cut back, or does not commit what was prepared */
    GX_MUTANT_edges_again,       /* a run that goes on draws the same edges as the one before */
    GX_MUTANT_late_is_kept,      /* what a sink could not commit yet counts as committed */
    GX_MUTANT_late_end,          /* a run ends while a sink has not committed all */
    GX_MUTANT_COUNT
} gx_mutant;

#if defined(GALE_MUTANTS) && GALE_MUTANTS
bool gx_mutant_strikes(gx_mutant mutant);
#define GX_MUTANT(name) gx_mutant_strikes(GX_MUTANT_##name)
#else
#define GX_MUTANT(name) 0
#endif

#endif
