/* Does a run move? Executors that have something to do do it, unless one does not come back from a component's call.
 * Threads: any. */
#ifndef GX_CLI_PULSE_H
#define GX_CLI_PULSE_H

#include "base/port.h"

#include <gale/runtime.h>

/* The call that lasts longest, where the run does not move. Names live as long as the runtime. */
typedef struct gx_pulse {
    uint32_t executor, task;
    const char *component;
    int64_t lasts; /* ns */
} gx_pulse;

/* False: a call lasts longer than `bound`, of a component that does not block (gale.blocking). */
bool gx_pulse_feel(const gale_runtime *runtime, int64_t bound, gx_pulse *ret_pulse);

#endif
