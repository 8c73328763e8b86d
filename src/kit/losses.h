/* Connections that end behind what a sink sends: how many one tuple or row may have (`gale.sink.losses`), and the reason of the one that had them. */
#ifndef GX_KIT_LOSSES_H
#define GX_KIT_LOSSES_H

#include "base/port.h"

#include <gale/connect.h>
#include <inttypes.h>
#include <stdio.h>

GX_INLINE uint32_t gx_losses_most(const gale_context *context) {
    return (uint32_t)gale_config_i64(context->config, "gale.sink.losses", GALE_SINK_LOSSES);
}

/* `what` has ended, "connection". */
GX_INLINE void gx_losses_text(char text[GALE_FAILURE_TEXT], uint32_t losses, const char *what, const char *why) {
    snprintf(text, GALE_FAILURE_TEXT, "%" PRIu32 " %s%s ended behind it while nothing else was on its way (%s): %.*s",
             losses, what, losses == 1 ? "" : "s", "gale.sink.losses", GALE_FAILURE_TEXT - 150,
             why ? why : "the system ended it");
}

#endif
