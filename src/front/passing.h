/* The fields that a bolt passes on: those that a file names as its `fields`, or all that every input has.
 * Threads: one at a time. Owner: borrows. */
#ifndef GX_FRONT_PASSING_H
#define GX_FRONT_PASSING_H

#include "front/class.h"
#include "front/table.h"

enum { GX_PASSING_TEXT = 1024 };

#define GX_PASSING_ROW                                                                                                 \
    GX_ROW(FIELDS, "fields", "", "the fields that come in and may be used; none: all that every input has",            \
           .roles = GX_PARAM_INPUT | GX_PARAM_PASSES, .example = "[path, status, ms]")

/* Those that the parameter `fields` names, or else what all inputs have, in the order of the first; from the arguments
 * or in `room`. GALE_INVALID when there are none, GALE_TOO_LARGE. */
int gx_passing_fields(const gx_args *args, char room[GX_PASSING_TEXT], const char **ret_fields, gale_error *error);

#endif
