/* How full a disk buffer is, for who looks at the run: figures (gale/metric.h) and words.
 *
 * What:    gauges of the bolt's task: disk_buffer_records that wait, disk_buffer_bytes of the disk, and disk_buffer_limit_bytes of what
 *          it may take. From GX_SPOOL_NEARLY % of that on it is nearly full, until it is below GX_SPOOL_NEARLY_OVER %: segments go
 *          whole, and words that change with each are none.
 * Threads: the bolt's. Owner: metrics are the engine's.
 */
#ifndef GX_CONNECT_SPOOL_FILL_H
#define GX_CONNECT_SPOOL_FILL_H

#include "connect/spool/log.h"

#include <gale/metric.h>

enum { GX_SPOOL_NEARLY = 90, GX_SPOOL_NEARLY_OVER = 80 };

typedef struct gx_spool_fill {
    gale_metric *records, *bytes, *limit; /* NULL: without it all else goes on */
    uint64_t records_now;
    int64_t bytes_now;
    bool nearly;
} gx_spool_fill;

void gx_spool_fill_begin(gx_spool_fill *fill, gale_collector *out);

/* Looks and notes. */
void gx_spool_fill_look(gx_spool_fill *fill, gx_spool_log *log);

/* The words for what it found, when it is nearly full. */
void gx_spool_fill_say(const gx_spool_fill *fill, const gx_spool_log *log, char words[GALE_FAILURE_TEXT]);

#endif
