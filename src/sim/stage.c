#include "sim/stage.h"

static const struct {
    const char *name;
    int32_t from, to; /* phases in which it may come */
} calls[] = {
    [GX_SIM_CALL_ACTIVATE] = { "activate", GALE_PHASE_RUNNING, GALE_PHASE_RUNNING },
    [GX_SIM_CALL_NEXT] = { "next", GALE_PHASE_RUNNING, GALE_PHASE_RUNNING },
    [GX_SIM_CALL_ANSWER] = { "ack or fail", GALE_PHASE_RUNNING, GALE_PHASE_CLOSING },
    [GX_SIM_CALL_DEACTIVATE] = { "deactivate", GALE_PHASE_RUNNING, GALE_PHASE_CLOSING },
    [GX_SIM_CALL_EXECUTE] = { "execute", GALE_PHASE_RUNNING, GALE_PHASE_FINISHING },
    [GX_SIM_CALL_FLUSH] = { "flush", GALE_PHASE_RUNNING, GALE_PHASE_FINISHING },
    [GX_SIM_CALL_DRAIN] = { "drain", GALE_PHASE_RUNNING, GALE_PHASE_FINISHING },
    [GX_SIM_CALL_FINISH] = { "finish", GALE_PHASE_FINISHING, GALE_PHASE_FINISHING },
    [GX_SIM_CALL_WATCH] = { "a watch", GALE_PHASE_RUNNING, GALE_PHASE_FINISHING },
    [GX_SIM_CALL_CLOSE] = { "close", GALE_PHASE_CLOSING, GALE_PHASE_CLOSING },
};

static_assert(sizeof calls / sizeof *calls == GX_SIM_CALL_COUNT, "every call has its phases");

/* What is wrong with the call, or NULL. */
static const char *misplaced(const gx_sim_stage *stage, gx_sim_call call, int32_t phase) {
    if (stage->closed) return "after its close";
    if (phase < calls[call].from || phase > calls[call].to) return "in the wrong phase";
    switch (call) {
    case GX_SIM_CALL_ACTIVATE: return stage->active ? "while it is active" : NULL;
    case GX_SIM_CALL_NEXT:
    case GX_SIM_CALL_DEACTIVATE: return stage->active ? NULL : "while it is not active";
    case GX_SIM_CALL_FINISH: return stage->finished ? "twice" : NULL;
    case GX_SIM_CALL_CLOSE: return stage->active ? "while it is active" : NULL;
    default: return NULL;
    }
}

void gx_sim_stage_note(gx_sim_stage *stage, gx_oracle *oracle, uint32_t task, gx_sim_call call, int32_t phase) {
    const char *wrong = misplaced(stage, call, phase);
    if (wrong)
        gx_oracle_violated(oracle, "task %u was called %s, for %s (%s)", task, wrong, calls[call].name,
                           gale_phase_name(phase));
    switch (call) {
    case GX_SIM_CALL_ACTIVATE: stage->active = true; break;
    case GX_SIM_CALL_DEACTIVATE: stage->active = false; break;
    case GX_SIM_CALL_FINISH: stage->finished = true; break;
    case GX_SIM_CALL_CLOSE: stage->closed = true; break;
    default: break;
    }
}

void gx_sim_stage_end(const gx_sim_stage *stage, gx_oracle *oracle, uint32_t task, bool finishes, bool drained) {
    if (!stage->closed) gx_oracle_violated(oracle, "the run is over, but task %u was not closed", task);
    if (finishes && drained && !stage->finished)
        gx_oracle_violated(oracle, "the run is drained, but task %u has not finished", task);
}
