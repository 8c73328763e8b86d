/* What was left of the work when a checkpoint was cut (engine/rest.h) is brought back into a runtime that is not started
 * yet, in two passes: trees first, which get new roots, then everything that belongs to them.
 *
 * What:    the records are checked as though anybody had written them. Components are those of the plan that saved;
 *          `components` says what they are now. Where a component has another number of tasks, rows go where their
 *          grouping brings them now; what cannot go anywhere else is refused.
 *          What was on its way to a component that is there no more is taken as done, if nobody took anything of that one;
 *          otherwise, and where it cannot arrive for another reason, its trees fail, and begin again.
 *          A root that no tree has any more (its answer was on its way to nobody, or its spout cannot go on) is left out:
 *          the tuple is executed, and answers nothing.
 * Threads: one; no executor runs. */
#ifndef GX_ENGINE_REST_BACK_H
#define GX_ENGINE_REST_BACK_H

#include "engine/rest.h"

enum { GX_REST_NO_STREAM = UINT16_MAX };

/* An input of a component that is not what it was: what is on its way there goes where the grouping leads now, or, where
 * that cannot be said, begins again. */
typedef struct gx_rest_input {
    uint32_t from; /* component of then */
    uint16_t stream;
    bool again;
} gx_rest_input;

/* A component of the plan that saved. */
typedef struct gx_rest_component {
    const char *name;
    uint32_t tasks;
    int32_t now;           /* its number in this plan; -1: it is there no more, and what belongs to it goes */
    uint32_t stream_count; /* that it had */
    uint16_t *streams;     /* their numbers now, or GX_REST_NO_STREAM; NULL: as they were */
    gx_rest_input *inputs; /* those that changed */
    uint32_t input_count;
    bool feeds;     /* somebody took what it emitted */
    bool regrouped; /* a tuple with the same values may come to another of its tasks than before */
    bool anew;      /* what it had saved was removed: it goes on with nothing */
} gx_rest_component;

typedef struct gx_rest_back {
    gx_shared *shared;
    const gx_rest_component *components;
    uint32_t component_count;
    struct gx_bytes_map *roots; /* of then, to those of now */
    uint64_t dropped;           /* rows, held tuples and commands that have nowhere to go any more */
    uint64_t again;             /* trees that begin again, because what became of one of their tuples cannot be said */
} gx_rest_back;

/* GALE_NO_MEMORY. */
int gx_rest_back_begin(gx_rest_back *back);
void gx_rest_back_end(gx_rest_back *back);

/* One piece of whole records (gx_records_are_whole); for all pieces with `trees`, then for all without. GALE_DAMAGED,
 * GALE_STATE (another number of tasks is not possible), GALE_NO_MEMORY. */
int gx_rest_back_take(gx_rest_back *back, gale_str records, bool trees, gale_error *error);

/* When all was taken. */
void gx_rest_back_finish(gx_rest_back *back);

#endif
