/* What must hold of a simulated run's dead-letter file (engine/dead_letter.h), which lies on a disk in memory.
 *
 * What:    when a spout hears that its tuple is given up, its letter is the last line of the file, whole; there is one
 *          such line for each, and none else. What earlier runs have written stays as it was; half a letter that one of them
 *          left at the end is cut off, and at the end of this one stands one only when the disk has failed.
 *          Behind a change by somebody else (gx_sim_disk_meddle) that holds again from the second letter on.
 * Threads: one. Owner: memory is the simulator's. */
#ifndef GX_SIM_LETTERS_H
#define GX_SIM_LETTERS_H

#include "sim/disk.h"
#include "sim/oracle.h"

#define GX_SIM_LETTERS GX_SIM_DISK "/letters"

typedef struct gx_sim_letters {
    gx_oracle *oracle;
    gx_sim_disk *disk;
    gx_buf known; /* whole lines that must be there */
    gx_buf torn;  /* what stood behind them as the run began */
    bool excused; /* one letter was: the first that was written since somebody else changed the file */
} gx_sim_letters;

/* Begins a run that appends to GX_SIM_LETTERS. */
void gx_sim_letters_begin(gx_sim_letters *letters, gx_heap *heap, gx_oracle *oracle, gx_sim_disk *disk);
void gx_sim_letters_fini(gx_sim_letters *letters);

/* A spout of this component hears that its tuple is given up. */
void gx_sim_letters_told(gx_sim_letters *letters, const char *component, uint64_t message_id);

/* The run is over. */
void gx_sim_letters_end(gx_sim_letters *letters);

#endif
