/* A topology set up for a test: fed spouts in the place of its own, bolts that stand in, streams that are cut.
 *
 * What:    a second topology of the same components and subscriptions. Spouts that are not kept, and whatever an edge begins at,
 *          are fed; of a component with edges only those streams stay; bolts that no stream or tick reaches any more are left out.
 * Threads: one. Owner: it borrows from the topology that it was made of; bolts that stand in are its own.
 */
#ifndef GX_SIM_STAGED_H
#define GX_SIM_STAGED_H

#include "sim/fed.h"

#include <gale_test.h>

typedef struct gx_staged {
    gale_topology *topology;
    gx_fed **fed; /* [component_count] of the topology that it was made of: NULL where nothing is fed */
    uint32_t component_count;
} gx_staged;

/* GALE_NOT_FOUND, GALE_INVALID, GALE_NO_MEMORY, what the builder says. Takes the bolts that stand in, also when it fails; what
 * was made then is freed by gx_staged_fini. */
int gx_staged_make(gx_staged *staged, const gale_topology *topology, const gale_test_options *options, gx_feed *feed,
                   gale_error *error);
void gx_staged_fini(gx_staged *staged);

/* The fed component of this name, or NULL. */
gx_fed *gx_staged_fed(const gx_staged *staged, const char *name);

#endif
