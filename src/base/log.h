/* The logger handle, used from inside: is a level wanted at all? */
#ifndef GX_BASE_LOG_H
#define GX_BASE_LOG_H

#include "base/port.h"

#include <gale/error.h>
#include <gale/log.h>

/* A handle that an application gave (NULL, or without a function: silence), as gx_options_take takes it. `what` is how a
 * report calls it. */
int gx_logger_take(gale_logger *to, const gale_logger *given, const char *what, gale_error *error);

GX_INLINE bool gx_log_wanted(const gale_logger *logger, int32_t level) {
    return logger && logger->write && level >= logger->level && level < GALE_LOG_OFF;
}

const char *gx_log_level_name(int32_t level);

#endif
