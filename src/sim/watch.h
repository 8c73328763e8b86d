/* Watches of wrapped components (gale/watch.h): the engine's own, whose functions are called as all of a component's are.
 * Threads: one. Owner: the task. */
#ifndef GX_SIM_WATCH_H
#define GX_SIM_WATCH_H

#include "sim/task.h"

#include <gale/watch.h>

int gx_sim_watch_new(gale_collector *out, const gale_watch_options *options, gale_watch *ret_watch);
int gx_sim_watch_set(gale_collector *out, gale_watch watch, int32_t events, int64_t at);
int gx_sim_watch_free(gale_collector *out, gale_watch watch);

#endif
