/* When the process dies in a life of a durable run, and where: at the n-th time that it comes by a place. From then on
 * nothing that it does has an effect on what outlives it (sim/vault.h, sim/outside.h); whoever runs it takes it down.
 * Threads: one. Owner: a value. */
#ifndef GX_SIM_DEATH_H
#define GX_SIM_DEATH_H

#include "base/buf.h"

typedef enum gx_place {
    GX_PLACE_NONE,
    GX_PLACE_STEP,      /* between two steps of executors */
    GX_PLACE_HOLD,      /* the same, while a cut holds the spouts */
    GX_PLACE_STOP,      /* while it stops everybody */
    GX_PLACE_SAVE,      /* some executors have saved */
    GX_PLACE_CUT,       /* all have, and nothing is committed */
    GX_PLACE_SAVING,    /* in the middle of a component's save */
    GX_PLACE_PREPARE,   /* before a pledge is prepared */
    GX_PLACE_PREPARED,  /* after */
    GX_PLACE_PUT,       /* in a put or a remove of the store */
    GX_PLACE_COMMIT,    /* before the store commits */
    GX_PLACE_COMMITTED, /* after, before the first pledge is committed */
    GX_PLACE_KEEP,      /* before a pledge is committed */
    GX_PLACE_KEPT,      /* after */
    GX_PLACE_TIDY,      /* all is committed, and nobody told */
    GX_PLACE_TOLD,      /* in the middle of telling */
    GX_PLACE_READ,      /* a read of the store, at the start or later */
    GX_PLACE_OPEN,      /* before a task is opened */
    GX_PLACE_RESTORE,   /* in a restore, before anything */
    GX_PLACE_RESTORED,  /* after a restore */
    GX_PLACE_COUNT
} gx_place;

typedef struct gx_death {
    gx_place place; /* GX_PLACE_NONE: it does not die */
    uint64_t at;    /* from 1 */
    uint64_t seen;
    bool dead;
    void (*meanwhile)(void *user); /* NULL, or what others do at a place of the committer's */
    void *user;
    uint64_t passed[GX_PLACE_COUNT]; /* of all lives: how often they came by */
    uint64_t deaths[GX_PLACE_COUNT];
} gx_death;

/* A new life. */
void gx_death_plan(gx_death *death, gx_place place, uint64_t at);

/* It comes by a place. True when it is dead, from now on or since long. */
bool gx_death_comes(gx_death *death, gx_place place);

/* A table of places. */
void gx_death_print(const gx_death *death, gx_buf *out);

#endif
