/* A session from its first topology to its last: one runtime after another, each going on where the one before has stopped.
 *
 * What:    what a change asks for is loaded and checked while the old topology runs (cli/watching.h). Then that one stops, with a checkpoint if
 *          the run is durable, and the new one begins; where it cannot, the old one begins again, and who asked is told why. Doors stay
 *          open meanwhile.
 * Threads: the main thread, once it has called gx_signals_prepare and before any other is started.
 */
#ifndef GX_CLI_SERVICE_H
#define GX_CLI_SERVICE_H

#include "cli/session.h"

/* Runs until the end. Returns the exit code; everything has been said by then. */
int gx_service_run(const gx_session *session, gale_topology *topology);

#endif
