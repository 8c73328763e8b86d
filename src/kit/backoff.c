/* Pauses between attempts: gale_backoff. They double and are a quarter more or less, so that many who lost one server do not come back to it
 * at once. */
#include "base/port.h"

#include <gale/connect.h>

int64_t gale_backoff_next(gale_backoff *backoff, const gale_context *context) {
    enum { DOUBLINGS = 9 };
    static const int64_t first = 100 * GALE_MILLISECOND, most = 30 * GALE_SECOND;
    if (!backoff || !context) return most;
    int64_t pause = first << backoff->tries;
    if (backoff->tries < DOUBLINGS) backoff->tries++;
    if (pause > most) pause = most;
    int64_t more = (int64_t)(gale_context_random(context) % (uint64_t)(pause / 2));
    return pause - pause / 4 + more;
}
