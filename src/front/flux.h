/* Topologies from Flux files, Storm's YAML form of them.
 *
 * What:    reads name, config, components, spouts, bolts and streams, makes what the registry knows, and builds a
 * checked topology. A component gets numTasks tasks, else parallelism, else one. What gale does not do yet (includes,
 *          topologySource, workerHooks, some groupings, ${...}) is refused with its place, never skipped.
 * Threads: one at a time.
 * Owner:   the topology is the caller's; nothing of the file is needed once it is built.
 * Errors:  every message begins "file:line:column: ". Unlike Storm, a bolt that no stream reaches is an error.
 */
#ifndef GX_FRONT_FLUX_H
#define GX_FRONT_FLUX_H

#include "front/overlap.h"

#include <gale/topology.h>

/* What the command line lays over the file. All borrowed for the call; zero is nothing. */
typedef struct gx_flux_options {
    const char *const *assignments; /* "key=value", for the topology's configuration */
    size_t assignment_count;
    const gale_setting *settings; /* the same with typed values; a key that no component reads is an error */
    size_t setting_count;
    bool *ret_prints;           /* may be NULL: does a component write to the standard output? */
    const gale_logger *logger;  /* for warnings about keys without effect, once a key */
    const gx_named_file *files; /* that the command line names, to see whether they are in the way of others */
    size_t file_count;
    bool dry; /* it is not to be run: its spouts neither go on with a state nor keep one */
} gx_flux_options;

/* `options` may be NULL. */
int gx_flux_load(const char *path, const gx_registry *registry, const gx_flux_options *options,
                 gale_topology **ret_topology, gale_error *error);

/* The same from text; `name` is what errors call the file. */
int gx_flux_parse(const char *name, gale_str text, const gx_registry *registry, const gx_flux_options *options,
                  gale_topology **ret_topology, gale_error *error);

#endif
