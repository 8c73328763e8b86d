/* Who looks on while a topology is simulated.
 * Threads: one. Owner: what is told is borrowed for the call. */
#ifndef GX_SIM_WATCHER_H
#define GX_SIM_WATCHER_H

#include "topology/builder.h"

/* Is told of what components emitted, as they gave it, and of what they reported. Each function may be NULL. */
typedef struct gx_sim_watcher {
    void *user;
    void (*emitted)(void *user, const gx_component *component, uint32_t stream, const gale_value *values, size_t count);
    void (*reported)(void *user, const gx_component *component, const char *text);
} gx_sim_watcher;

#endif
