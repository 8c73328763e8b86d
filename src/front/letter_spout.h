/* A topology whose spouts emit dead letters: each spout is replaced by one of the same name, tasks and configuration,
 * that emits the letters of that name into the streams that they came from, tracked, shared among its tasks, and then
 * is done. What fails again is reported, once.
 * Threads: as spouts. Owner: the letters must outlive the topology. */
#ifndef GX_FRONT_LETTER_SPOUT_H
#define GX_FRONT_LETTER_SPOUT_H

#include "front/dead_letter_file.h"

#include <gale/topology.h>

/* Checks every letter before anything is replaced. GALE_NOT_FOUND, GALE_FIELDS, GALE_UNSUPPORTED with
 * "file:line: what"; GALE_NO_MEMORY. */
int gx_letter_spouts(gale_topology *topology, const gx_dead_letter_file *letters, gale_error *error);

#endif
