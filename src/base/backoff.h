/* Pauses between attempts at what is away: they double, and are a quarter more or less, so that many who lost one server do not come back to it at
 * once. Threads: any. */
#ifndef GX_BASE_BACKOFF_H
#define GX_BASE_BACKOFF_H

#include "base/port.h"

#include <gale/clock.h>

#define GX_BACKOFF_FIRST (100 * GALE_MILLISECOND)
#define GX_BACKOFF_MOST (30 * GALE_SECOND)

/* Behind so many attempts, from 0; `random` is any number. */
GX_INLINE int64_t gx_backoff_pause(uint32_t attempts, uint64_t random) {
    int64_t pause = GX_BACKOFF_FIRST;
    for (uint32_t i = 0; i < attempts && pause < GX_BACKOFF_MOST; i++) pause *= 2;
    if (pause > GX_BACKOFF_MOST) pause = GX_BACKOFF_MOST;
    return pause - pause / 4 + (int64_t)(random % (uint64_t)(pause / 2));
}

#endif
