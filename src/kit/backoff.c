/* Pauses between attempts: gale_backoff. */
#include "base/backoff.h"

#include <gale/connect.h>

int64_t gale_backoff_next(gale_backoff *backoff, const gale_context *context) {
    if (!backoff || !context) return GX_BACKOFF_MOST;
    int64_t pause = gx_backoff_pause(backoff->tries, gale_context_random(context));
    backoff->tries += backoff->tries < UINT32_MAX;
    return pause;
}
