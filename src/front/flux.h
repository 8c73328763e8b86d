/* Topologies from Flux files, Storm's YAML form of them.
 *
 * What:    reads name, config, includes, components, spouts, bolts and streams, with variables replaced
 *          (front/substitute.h), makes what the registry knows, and builds a checked topology. A component gets numTasks
 *          tasks, else parallelism, else one. What only Java can do (topologySource, workerHooks) is refused with its
 *          place, never skipped.
 * Threads: one at a time.
 * Owner:   the topology is the caller's; nothing of the file is needed once it is built.
 * Errors:  every message begins "file:line:column: ". Unlike Storm, a bolt that no stream reaches is an error. Where
 *          `problems` are wanted, all errors that can be told of are kept there, warnings too, and the report stays empty.
 */
#ifndef GX_FRONT_FLUX_H
#define GX_FRONT_FLUX_H

#include "front/flux_options.h"
#include "front/registry.h"

/* `options` may be NULL. */
int gx_flux_load(const char *path, const gx_registry *registry, const gx_flux_options *options,
                 gale_topology **ret_topology, gale_error *error);

/* The same from text; `name` is what errors call the file. */
int gx_flux_parse(const char *name, gale_str text, const gx_registry *registry, const gx_flux_options *options,
                  gale_topology **ret_topology, gale_error *error);

#endif
