/* The stream "bad" (line, problem): where goes what is no message. Nobody need subscribe to it: then the first is logged at once, and how many
 * there were at the end. Threads: the task's. Owner: borrows. */
#ifndef GALE_CONNECT_FORMATS_BAD_H
#define GALE_CONNECT_FORMATS_BAD_H

#include <gale/component.h>

#define FMT_BAD_STREAM "bad"
#define FMT_BAD_FIELDS "line, problem"

typedef struct fmt_bad {
    const char *what;
    const gale_context *context;
    uint64_t unheard;
} fmt_bad;

/* To stream 1. 0, or an error. */
int fmt_bad_emit(fmt_bad *bad, gale_collector *out, const gale_value *line, const char *problem);
void fmt_bad_tell(const fmt_bad *bad);

#endif
