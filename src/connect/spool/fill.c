#include "connect/spool/fill.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>

static gale_metric *make(gale_collector *out, const char *name, const char *help) {
    gale_metric_options options = GALE_METRIC_OPTIONS_INIT;
    gale_metric *metric;
    options.name = name;
    options.kind = GALE_METRIC_GAUGE;
    options.help = help;
    return gale_metric_new(out, &options, &metric) < 0 ? NULL : metric;
}

void gx_spool_fill_begin(gx_spool_fill *fill, gale_collector *out) {
    fill->records = make(out, "disk_buffer_records", "Records that wait in a disk buffer");
    fill->bytes = make(out, "disk_buffer_bytes", "Bytes of the disk that a disk buffer takes");
    fill->limit = make(out, "disk_buffer_limit_bytes", "Bytes of the disk that a disk buffer may take");
}

static bool is_above(const gx_spool_fill *fill, const gx_spool_log *log, int64_t percent) {
    return fill->bytes_now >= log->limit / 100 * percent;
}

void gx_spool_fill_look(gx_spool_fill *fill, gx_spool_log *log) {
    fill->records_now = gx_spool_log_waiting(log);
    fill->bytes_now = gx_spool_log_bytes(log);
    fill->nearly = is_above(fill, log, fill->nearly ? GX_SPOOL_NEARLY_OVER : GX_SPOOL_NEARLY);
    (void)gale_metric_note(fill->records, (double)fill->records_now);
    (void)gale_metric_note(fill->bytes, (double)fill->bytes_now);
    (void)gale_metric_note(fill->limit, (double)log->limit);
}

/* Figures first: a long path is cut. */
void gx_spool_fill_say(const gx_spool_fill *fill, const gx_spool_log *log, char words[GALE_FAILURE_TEXT]) {
    snprintf(words, GALE_FAILURE_TEXT,
             "is nearly full: %" PRIu64 " record%s wait%s in %" PRId64 " of %" PRId64 " bytes (disk) of '%.60s'",
             fill->records_now, gx_plural(fill->records_now), fill->records_now == 1 ? "s" : "", fill->bytes_now,
             log->limit, log->path);
}
