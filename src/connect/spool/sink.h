/* Tuples into a disk buffer: gale.bolt.DiskBuffer. A tuple is acked when its record is safe.
 * Threads: any for the function here. Owner: arguments are copied. */
#ifndef GX_CONNECT_SPOOL_SINK_H
#define GX_CONNECT_SPOOL_SINK_H

#include "base/port.h"

#include <gale/component.h>
#include <gale/error.h>

typedef struct gx_spool_sink_options {
    const char *path; /* of the folder, which has one for each task */
    int64_t disk;     /* bytes, for each task: at least GX_SPOOL_LIMIT_LEAST */
    uint64_t memory;  /* bytes of tuples that wait to be safe; 0: 16 MiB */
} gx_spool_sink_options;

int gx_spool_sink(const gx_spool_sink_options *options, gale_bolt *ret_bolt, gale_error *error);

#endif
