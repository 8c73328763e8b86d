/* What a wrapped task emits, by its component or by a remote's command: announced to the oracle, sent with its number,
 * and checked.
 * Threads: one. */
#ifndef GX_SIM_EMIT_H
#define GX_SIM_EMIT_H

#include "sim/task.h"

typedef struct gx_sim_outgoing {
    uint32_t direct; /* the task that is named; 0: by grouping */
    bool is_direct;
    uint32_t stream;
    const gale_value *values;
    size_t count;
    bool tracked;
    uint64_t message_id;
    bool anchored; /* to the handles, else to what is in execution */
    const gale_handle *handles;
    size_t handle_count;
} gx_sim_outgoing;

/* Returns what the engine says; GALE_NO_MEMORY is the simulator's own, too. */
int gx_sim_send(gx_sim_task *task, const gx_sim_outgoing *outgoing);

/* Many in one call: `first` with all values of all. `message_ids` NULL: they are not tracked. At once where it is known
 * to whom each goes, else one after the other. */
int gx_sim_send_many(gx_sim_task *task, const gx_sim_outgoing *first, size_t rows, const uint64_t *message_ids,
                     size_t *emitted);

#endif
