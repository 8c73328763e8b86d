/* What the state of a durable run has of a file that a sink has written: under its path, its end and what its rotation goes on with.
 * Threads: one. Owner: values are borrowed. */
#ifndef GX_CONNECT_FILE_MADE_KNOWN_H
#define GX_CONNECT_FILE_MADE_KNOWN_H

#include "topology/file_end.h"

/* Behind those of its end: the number that it gets next (0: it is not rotated), the period of its lines, what it unpacks to. */
enum {
    GX_MADE_NEXT = GX_FILE_END_VALUES,
    GX_MADE_PERIOD,
    GX_MADE_PLAIN,
    GX_MADE_VALUES,
};

gale_value gx_made_key(const char *path);

/* Takes apart what the state has. False: no sink has put it there. */
bool gx_made_take(const gale_value *list, const char *path, gale_value values[GX_MADE_VALUES]);

/* What gale_state_put says, with a report. */
int gx_made_put(gale_state *state, const char *path, const gale_value values[GX_MADE_VALUES], gale_error *error);

/* The report of what a state says of a path. */
int gx_made_refuse(int rc, const char *path, gale_error *error);

#endif
