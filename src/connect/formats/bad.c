#include "connect/formats/bad.h"

#include <inttypes.h>

int fmt_bad_emit(fmt_bad *bad, gale_collector *out, const gale_value *line, const char *problem) {
    const gale_value values[2] = { *line, gale_text(problem) };
    int rc = gale_emit(out, 1, values, 2);
    if (rc == 0 && bad->unheard++ == 0)
        gale_log(bad->context->logger, GALE_LOG_WARN, bad->context->component, "no %s, %s", bad->what, problem);
    return rc < 0 ? rc : 0;
}

void fmt_bad_tell(const fmt_bad *bad) {
    if (!bad->unheard) return;
    gale_log(bad->context->logger, GALE_LOG_WARN, bad->context->component,
             "%" PRIu64 " tuple%s no %s; who subscribes to the stream '" FMT_BAD_STREAM "' gets them", bad->unheard,
             bad->unheard == 1 ? " was" : "s were", bad->what);
}
