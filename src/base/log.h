/* The logger handle, used from inside: is a level wanted at all? */
#ifndef GX_BASE_LOG_H
#define GX_BASE_LOG_H

#include "base/port.h"

#include <gale/log.h>

GX_INLINE bool gx_log_wanted(const gale_logger *logger, int32_t level) {
    return logger && logger->write && level >= logger->level && level < GALE_LOG_OFF;
}

const char *gx_log_level_name(int32_t level);

#endif
