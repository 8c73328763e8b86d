/* gale/log.h: where messages for people go.
 *
 * What:    a handle that is given one finished line at a time. The library itself prints nothing: without a handle,
 *          messages are dropped.
 * Threads: `write` is called from every thread that runs executors or waits for a runtime's end, at the same time.
 * Owner:   the text is borrowed for the call; the handle is copied.
 * Misuse:  every function checks. A logger without a function is silent.
 */
#ifndef GALE_LOG_H
#define GALE_LOG_H

#include <gale/base.h>

GALE_BEGIN

typedef enum gale_log_level {
    GALE_LOG_TRACE,
    GALE_LOG_DEBUG,
    GALE_LOG_INFO,
    GALE_LOG_WARN,
    GALE_LOG_ERROR,
    GALE_LOG_OFF,
} gale_log_level;

typedef struct gale_logger {
    size_t size;
    int32_t level; /* what is below this gale_log_level is not even formatted */
    void (*write)(void *user, int32_t level, const char *component, const char *text);
    void *user;
} gale_logger;

/* A ready-made logger: lines on the standard error, with the time of day and the level, from `level` on. */
GALE_API gale_logger gale_logger_stderr(int32_t level);

/* Formats a line of at most 1000 bytes and hands it on, if `level` is wanted. `logger` may be NULL; `component` names
 * who speaks and may be NULL. A NULL `format` says nothing. */
GALE_API void gale_log(const gale_logger *logger, int32_t level, const char *component, const char *format, ...)
    GALE_PRINTF(4, 5);

GALE_END

#endif
