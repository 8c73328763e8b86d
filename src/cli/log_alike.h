/* Log lines that are alike: of one level and component, the same but for digits and what stands in quotes.
 *
 *     line 1 given up after 1 attempt: rejected: no queue takes it (out)       GX_LOG_ALIKE_SHOWN of a second are shown,
 *     line 2 given up after 1 attempt: rejected: no queue takes it (out)       and one of each second behind one with more;
 *     ...
 *     line 971 given up after 1 attempt: rejected: no queue takes it (out) (and 960 more like it)      of the others the last
 *
 * What:    who has very many of them is shown a few, and how many there were. So many kinds are known: GX_LOG_ALIKE_KINDS.
 * Threads: one at a time. Owner: gx_log_alike_fini.
 */
#ifndef GX_CLI_LOG_ALIKE_H
#define GX_CLI_LOG_ALIKE_H

#include "base/buf.h"

enum { GX_LOG_ALIKE_SHOWN = 10, GX_LOG_ALIKE_KINDS = 8 };

typedef struct gx_log_kind {
    uint64_t shape; /* 0: none */
    int64_t since;  /* its second began */
    uint32_t shown; /* in it */
    bool many;      /* more came in it than were shown */
    uint64_t more;  /* so many wait to be told */
    gx_buf last;    /* of those */
} gx_log_kind;

typedef struct gx_log_alike {
    gx_log_kind kinds[GX_LOG_ALIKE_KINDS];
} gx_log_alike;

/* What lines that are alike have in common; not 0. */
uint64_t gx_log_alike_shape(int32_t level, const char *component, const char *text);

/* That of the shape, or the oldest. */
gx_log_kind *gx_log_alike_find(gx_log_alike *alike, uint64_t shape);

/* Begins its second, or another shape's; nothing of it waits to be told. */
void gx_log_kind_begin(gx_log_kind *kind, uint64_t shape, int64_t now);

/* One more line of it. False: it is to be shown; otherwise it waits. */
bool gx_log_kind_waits(gx_log_kind *kind, const gx_buf *body);

void gx_log_alike_fini(gx_log_alike *alike);

#endif
