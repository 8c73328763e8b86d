#include "connect/file/told.h"

#include "connect/file/blocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER = 40 };

void gx_file_told_tell(void *user, const gx_file_reader *reader, gx_file_odd what, uint64_t number, int64_t at,
                       int64_t bytes) {
    const gx_file_told *told = user;
    const gale_context *context = told->context;
    const char *name = strcmp(reader->path, "-") == 0 ? "standard input" : reader->path;
    if (at < told->before) return;
    if (told->block && gx_file_blocks_owner(told->block, at, context->task_count) != context->task_index) return;
    char line[NUMBER] = "", place[NUMBER] = "";
    if (!reader->uncounted)
        snprintf(line, sizeof line, ":%" PRIu64, number);
    else
        snprintf(place, sizeof place, " at byte %" PRId64, at);
    if (what == GX_FILE_LONG)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "%s%s: the line%s has more than %zu bytes (longest), and is %s", name, line, place,
                 reader->rule->longest, reader->rule->drops ? "dropped" : "cut");
    else
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "%s%s: %" PRId64 " bytes from byte %" PRId64
                 " on are skipped: a hole of NULs that nobody has written, and half a line before it, if there is one",
                 name, line, bytes, at);
}
