/* The stream "bad" (line, problem) of what reads text: where goes what cannot be read. Nobody need subscribe to it:
 * then the first is logged at once, and how many there were at the end.
 * Threads: one's own. Owner: borrows. */
#ifndef GX_KIT_BAD_H
#define GX_KIT_BAD_H

#include "kit/define.h"

#define GX_BAD_STREAM "bad"
#define GX_BAD_FIELDS "line, problem"

typedef struct gx_bad {
    const char *what; /* what it is none of: "line of an access log" */
    uint64_t unheard; /* that nobody subscribed to */
} gx_bad;

/* Emits the value that could not be read to `stream`, with the problem (UTF-8). Where the tuple that it came in has the fields
 * `file` and `number` (gale.spout.File, `emit`), or one of them, the problem begins with that place; `tuple` may be NULL. */
int gx_bad_emit(gx_bad *bad, const gale_context *context, gale_collector *out, uint32_t stream, const gale_tuple *tuple,
                const gale_value *line, const char *problem);

/* The same, anchored to tuples that are held. */
int gx_bad_emit_anchored(gx_bad *bad, const gale_context *context, gale_collector *out, uint32_t stream,
                         const gale_tuple *tuple, const gale_value *line, const char *problem,
                         const gale_handle *anchors, size_t count);

/* Tells how many nobody heard of; for cleanup. */
void gx_bad_tell(const gx_bad *bad, const gale_context *context);

#endif
