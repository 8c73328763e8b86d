/* The faults that the simulator injects: their names and odds, how often each struck and where, and an allocator that
 * fails when it is drawn.
 *
 *     slow    a call takes long: the clock moves while it runs
 *     hold    a tuple is kept beyond execute and answered later
 *     fail    a bolt fails its tuple, before or after its work; a spout's `next` returns an error
 *     forget  a tuple is never answered (where the engine would answer for the bolt: it is answered very late)
 *     twice   a tuple is answered a second time, and used as an anchor after that
 *     reset   a tuple asks for its tree's timeout to begin anew
 *     stall   an executor makes no step for a while
 *     late    what an executor has written for another is seen some steps later
 *     alloc   an allocation fails
 *     open    `open` or `prepare` returns an error
 *     later   `open` or `prepare` says "not now"
 *     disk    a call of the disk fails, or moves half of its bytes
 *     stop    a component asks the whole runtime to stop, and goes on with its call
 *
 * Threads: one. */
#ifndef GX_SIM_FAULTS_H
#define GX_SIM_FAULTS_H

#include "base/alloc.h"
#include "base/buf.h"
#include "base/random.h"
#include "ds/bytes_map.h"

#include <gale/error.h>

typedef enum gx_fault {
    GX_FAULT_SLOW,
    GX_FAULT_HOLD,
    GX_FAULT_FAIL,
    GX_FAULT_FORGET,
    GX_FAULT_TWICE,
    GX_FAULT_RESET,
    GX_FAULT_STALL,
    GX_FAULT_LATE,
    GX_FAULT_ALLOC,
    GX_FAULT_OPEN,
    GX_FAULT_DISK,
    GX_FAULT_STOP,
    GX_FAULT_LATER,
    GX_FAULT_COUNT
} gx_fault;

/* The odds of each, in 2^-32 a chance. */
typedef struct gx_faults {
    uint32_t odds[GX_FAULT_COUNT];
} gx_faults;

const char *gx_fault_name(int fault);

/* "slow=0.01,fail=0.1" into `faults`, which keeps what is not named. GALE_INVALID, GALE_NOT_FOUND with the nearest
 * name: nothing changed. */
int gx_faults_parse(const char *text, gx_faults *faults, gale_error *error);

/* Some of the faults, at odds that suit runs of a few hundred trees. */
gx_faults gx_faults_draw(gx_random *random);

/* What few runs of random topologies have. */
typedef struct gx_sim_rarities {
    bool listens;  /* all tasks have a hook */
    bool hoards;   /* bolts hold many tuples, of as many trees as there are */
    bool scarce;   /* there is very little memory, and flushes fail often */
    bool timeless; /* no tree times out: what is forgotten stays open, and no spout waits for it */
    bool seconds;  /* ticks come in whole seconds */
    bool many;     /* bolts take many tuples in one call */
} gx_sim_rarities;

gx_sim_rarities gx_sim_rarities_draw(gx_random random);

/* Where each fault struck, and how often. */
typedef struct gx_coverage {
    gx_bytes_map *places; /* name to uint64_t[GX_FAULT_COUNT] */
} gx_coverage;

int gx_coverage_init(gx_coverage *coverage, gx_heap *heap);
void gx_coverage_fini(gx_coverage *coverage);

/* Fault `fault` struck at `place`; for want of memory the figure is lost. */
void gx_coverage_count(gx_coverage *coverage, const char *place, int fault);

/* A table of places and faults, in order of names; places with no faults are not named. */
void gx_coverage_print(const gx_coverage *coverage, gx_buf *out);

/* The runtime's memory: malloc that fails at drawn moments while it is armed. `failed` counts how often. */
typedef struct gx_sim_memory {
    gx_random random;
    uint32_t odds;
    bool armed;
    uint64_t fail_at; /* the call to fail, from 1; 0: none */
    uint64_t calls;
    uint64_t failed;
    uint64_t blocks, bytes; /* live */
} gx_sim_memory;

gale_allocator gx_sim_memory_handle(gx_sim_memory *memory);

GX_INLINE bool gx_fault_strikes(gx_random *random, uint32_t odds) {
    return odds && (uint32_t)(gx_random_next(random) >> 32) < odds;
}

#endif
