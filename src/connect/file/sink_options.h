/* The options of a file sink, checked, in a block of their own: the user block of its definition.
 * Threads: one that is made is constant; any. Owner: who made it; free gives it back. */
#ifndef GX_CONNECT_FILE_SINK_OPTIONS_H
#define GX_CONNECT_FILE_SINK_OPTIONS_H

#include "kit/fields.h"

#include <gale/file.h>

enum { GX_SINK_OPEN = 64, GX_SINK_OPEN_MAX = 10000 };

typedef struct gx_sink_options {
    gale_file_sink_options given; /* whose texts are NULL: they are below */
    gx_fields fields;
    gale_clock wall;
    char path[];
} gx_sink_options;

int gx_sink_options_make(const gale_file_sink_options *options, gx_sink_options **ret_made, gale_error *error);

/* Of a codec, where the standard output is written to. */
int gx_sink_refuse_packed(gale_error *error);

#endif
