/* Durations and sizes, as files and defaults say them. Threads: any. */
#ifndef GX_FRONT_UNITS_H
#define GX_FRONT_UNITS_H

#include "base/str.h"

/* A duration: 10 (seconds), 1.5, 250ms, 10s, 5m, 1h30m, 2d. False when it is none. */
bool gx_duration_read(gale_str text, double *ret_seconds);

/* A size: 5000, 64 KB, 1.5 MB, 2GiB. False when it is none, or no whole number of bytes. */
bool gx_size_read(gale_str text, int64_t *ret_bytes);

#endif
