#include "connect/file/meddled.h"

#include "base/log.h"
#include "base/os/fate.h"

#include <inttypes.h>

#define WARN(context, ...) gale_log((context)->logger, GALE_LOG_WARN, (context)->component, __VA_ARGS__)

static void note_longer(const gale_context *context, gx_file_output *output, int64_t size) {
    WARN(context, "%s: somebody else has written to it; its %" PRId64 " bytes more stay where they are", output->path,
         size - output->size);
    output->size = size;
    if (!output->codec) output->plain = size;
}

static int mend_cut(const gale_context *context, gx_outputs_file *file, int64_t size, gale_error *error) {
    gx_file_torn torn;
    WARN(context,
         "%s: was cut by somebody to %" PRId64 " bytes while it is written to: %" PRId64
         " bytes that were written before are gone; the run goes on behind the cut",
         file->output.path, size, file->output.size - size);
    int rc = gx_outputs_begin_again(file, &torn, error);
    if (rc == 0 && torn.size)
        WARN(context, "%s: the line that was cut %s (%" PRId64 " bytes)", file->output.path,
             torn.cut ? "was removed" : "was given an end", torn.size);
    return rc;
}

static int note_removed(const gale_context *context, const gx_file_output *output, bool replaced) {
    WARN(context, "%s: was %s by somebody while it is written to: the %" PRId64 " bytes that it held are gone; %s",
         output->path, replaced ? "replaced with another file" : "removed", output->size,
         replaced ? "lines go behind what that one holds" : "what comes goes to a new one");
    return 1;
}

static int note_renamed(const gale_context *context, gx_outputs_file *file, bool renamed) {
    bool swaps = file->swap.asked || file->successor.fd >= 0;
    if (!file->renamed && !swaps)
        WARN(context, "%s: was renamed, moved or replaced by somebody, and is written to on; SIGHUP opens '%s' anew",
             file->output.path, file->path);
    file->renamed = true;
    return renamed;
}

int gx_meddled_look(const gale_context *context, gx_outputs_file *file, bool renamed, gale_error *error) {
    gx_file_output *output = &file->output;
    gx_file_about about;
    if (!output->begun || !output->regular) return 0;
    int fate = gx_fate_of(output->fd, output->path, output->size, &about, error);
    if (fate < 0) return fate;
    if (about.size > output->size) note_longer(context, output, about.size);
    if (fate != GX_FATE_RENAMED) file->renamed = false;
    if (fate == GX_FATE_RENAMED) return note_renamed(context, file, renamed && !context->durable);
    if (context->durable) return 0;
    if (fate == GX_FATE_CUT) return mend_cut(context, file, about.size, error);
    return fate < GX_FATE_REMOVED ? 0 : note_removed(context, output, fate == GX_FATE_REPLACED);
}
