/* A runtime: the executors of one topology, their threads, and their end. */
#ifndef GX_RUNTIME_RUNTIME_H
#define GX_RUNTIME_RUNTIME_H

#include "runtime/control.h"
#include "runtime/loop.h"

#include <string.h>

struct gale_runtime {
    gx_mark mark;
    gale_topology *topology; /* referred to */
    gx_shared shared;
    gx_control control;
    gx_plan *plan;
    gx_checkpoint checkpoint; /* of a durable run */
    gx_thread *threads;       /* one an executor, when they were started */
    uint32_t threads_started; /* who starts, waits for the end and frees knows it */
    gx_atomic32 threaded; /* it was started: nobody may step its executors. Written before the first thread begins */
    uint32_t spins;
    gx_atomic64 *logged; /* by component: the tap of gale_runtime_log_events; 0: none */
    bool has_monitor;
    gx_loop loop; /* of a runtime that is stepped */
};

/* Is it a runtime? NULL is none. */
GX_INLINE bool gx_runtime_is(const gale_runtime *runtime) {
    return gx_mark_is(runtime, GX_KIND_RUNTIME);
}

/* The index of the component of this name; -1: there is none. */
GX_INLINE int gx_runtime_component(const gx_plan *plan, const char *name) {
    for (uint32_t i = 0; i < plan->component_count; i++)
        if (strcmp(plan->components[i].built->name, name) == 0) return (int)i;
    return -1;
}

/* gale_runtime_new; `knobs` may be NULL. */
int gx_runtime_make(gale_topology *topology, const gale_runtime_options *options, const gx_knobs *knobs,
                    gale_runtime **ret_runtime, gale_error *error);

#endif
