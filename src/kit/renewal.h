/* What a sink holds while those it serves are away is no tuple that got lost: its trees do not time out, and nothing is sent twice.
 *
 *          idle --note--> armed --every T/3: the timeouts begin anew--> armed
 *           ^------------- nothing is held any more ---------------------'
 *
 * What:    T is topology.message.timeout.secs. A timer runs only while something is held. What limits a tree's whole age
 *          (topology.message.timeout.ceiling.secs, a deadline) does so still.
 * Threads: the task's. Owner: the timer is the engine's, which frees it at the task's end; gx_renewal_end does so before. */
#ifndef GX_KIT_RENEWAL_H
#define GX_KIT_RENEWAL_H

#include "base/port.h"

#include <gale/component.h>
#include <gale/watch.h>

/* gale_reset_timeout for each that is held. Are there any? */
typedef bool gx_renewal_fn(const void *held, gale_collector *out);

typedef struct gx_renewal {
    gale_collector *out;
    const gale_context *context;
    gx_renewal_fn *renew;
    const void *held;
    int64_t every;
    gale_watch timer; /* 0: none yet */
    bool armed;
} gx_renewal;

void gx_renewal_init(gx_renewal *renewal, gx_renewal_fn *renew, const void *held, const gale_context *context,
                     gale_collector *out);

/* Something is to be held. What gale_watch_new says. */
int gx_renewal_note(gx_renewal *renewal);

void gx_renewal_end(gx_renewal *renewal);

#endif
