#include "connect/file/told.h"

#include <inttypes.h>
#include <string.h>

void gx_file_told_tell(void *user, const gx_file_reader *reader, gx_file_odd what, uint64_t number, int64_t at,
                       int64_t bytes) {
    const gale_context *context = ((const gx_file_told *)user)->context;
    const char *name = strcmp(reader->path, "-") == 0 ? "standard input" : reader->path;
    uint32_t tasks = ((const gx_file_told *)user)->shared ? context->task_count : 1;
    if (tasks > 1 && (number - 1) % tasks != context->task_index) return;
    if (what == GX_FILE_LONG)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "%s:%" PRIu64 ": the line has more than %zu bytes (longest), and is %s", name, number,
                 reader->rule->longest, reader->rule->drops ? "dropped" : "cut");
    else
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "%s:%" PRIu64 ": %" PRId64 " bytes from byte %" PRId64
                 " on are skipped: a hole of NULs that nobody has written, and half a line before it, if there is one",
                 name, number, bytes, at);
}
