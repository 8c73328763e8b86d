/* What a wrapped task was called for so far: each call is checked against it.
 *
 *     spout:  open -> (activate -> next* -> deactivate)* -> close        ack and fail at any time in between
 *     bolt:   prepare -> (execute* -> flush)* -> finish (once, when all is drained) -> cleanup
 *
 * Threads: one. Owner: a value. */
#ifndef GX_SIM_STAGE_H
#define GX_SIM_STAGE_H

#include "sim/oracle.h"

#include <gale/runtime.h>

typedef enum gx_sim_call {
    GX_SIM_CALL_ACTIVATE,
    GX_SIM_CALL_NEXT,
    GX_SIM_CALL_ANSWER, /* ack, fail */
    GX_SIM_CALL_DEACTIVATE,
    GX_SIM_CALL_EXECUTE,
    GX_SIM_CALL_FLUSH,
    GX_SIM_CALL_DRAIN,
    GX_SIM_CALL_FINISH,
    GX_SIM_CALL_WATCH,
    GX_SIM_CALL_CLOSE, /* or cleanup */
    GX_SIM_CALL_COUNT
} gx_sim_call;

typedef struct gx_sim_stage {
    bool active; /* a spout */
    bool finished;
    bool closed;
} gx_sim_stage;

/* Task `task` is called, in a step that sees `phase`. */
void gx_sim_stage_note(gx_sim_stage *stage, gx_oracle *oracle, uint32_t task, gx_sim_call call, int32_t phase);

/* The run is over; `drained`: to the end. `finishes`: it has a `finish`. */
void gx_sim_stage_end(const gx_sim_stage *stage, gx_oracle *oracle, uint32_t task, bool finishes, bool drained);

#endif
