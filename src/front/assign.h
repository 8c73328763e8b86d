/* One "key=value" of a command line, laid over a topology that was read from a file.
 *
 * What:    a file may hold keys that are its own components' affair; a command line is typed, and what no component can
 *          read is a mistake of the typist. Known keys are set; the file's own keys too; the keys of Storm's daemons have
 *          no effect; every other one is refused, with the nearest key, or with the place in the file where it belongs.
 * Threads: one.
 */
#ifndef GX_FRONT_ASSIGN_H
#define GX_FRONT_ASSIGN_H

#include "front/yaml.h"

#include <gale/topology.h>

/* Sets it in the topology's configuration. Returns 1 for a key without effect here, GALE_CONFIG for one that is refused
 * (then nothing is set). */
int gx_assign(const gx_yaml_doc *doc, gale_topology *topology, const char *assignment, gale_error *error);

/* The key of an assignment, without blanks around it. */
gale_str gx_assign_key(const char *assignment);

#endif
