/* Tuples out of a disk buffer: gale.spout.DiskBuffer. Each record is emitted in order, as a tree of its own; it is done when that is
 * acked, and emitted again when it fails.
 * Threads: any for the function here. Owner: arguments are copied. */
#ifndef GX_CONNECT_SPOOL_SPOUT_H
#define GX_CONNECT_SPOOL_SPOUT_H

#include "base/port.h"

#include <gale/component.h>
#include <gale/error.h>

typedef struct gx_spool_spout_options {
    const char *path;   /* as the bolt has it */
    const char *fields; /* of what the bolt is given: "word, count" */
    uint64_t memory;    /* bytes of records that are emitted and not answered; 0: 8 MiB */
    uint32_t attempts;  /* 0: without end */
} gx_spool_spout_options;

int gx_spool_spout(const gx_spool_spout_options *options, gale_spout *ret_spout, gale_error *error);

#endif
