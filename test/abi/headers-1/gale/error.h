/* gale/error.h: one table of error codes, and a report that the caller owns.
 *
 * What:    a fallible function returns 0 (or a count) for success and a negative code from this table otherwise.
 *          Functions that build or start something also take a `gale_error *`, which gathers what was attempted and
 *          where in the user's input: the innermost line first, one line for every floor that it climbed.
 * Threads: a report belongs to one thread at a time. The code functions may be called from any thread.
 * Owner:   the caller owns the report, on the stack if it likes; nothing in it needs to be freed.
 * Misuse:  every function checks. A NULL `format` is an empty line.
 * Limits:  a report keeps the first GALE_ERROR_TEXT bytes; what does not fit is cut at a line's end.
 */
#ifndef GALE_ERROR_H
#define GALE_ERROR_H

#include <gale/base.h>

GALE_BEGIN

/* X(name, code, text). Codes are never renumbered; new ones are appended. */
#define GALE_ERROR_MAP(X)                                                                                              \
    X(NO_MEMORY, -1, "out of memory")                                                                                  \
    X(INVALID, -2, "invalid argument")                                                                                 \
    X(AGAIN, -3, "not now, try again")                                                                                 \
    X(STOPPED, -4, "the runtime has stopped")                                                                          \
    X(NOT_FOUND, -5, "not found")                                                                                      \
    X(EXISTS, -6, "already there")                                                                                     \
    X(TOPOLOGY, -7, "invalid topology")                                                                                \
    X(CONFIG, -8, "invalid configuration")                                                                             \
    X(SYNTAX, -9, "syntax error")                                                                                      \
    X(SETTLED, -10, "the tuple is settled already")                                                                    \
    X(FIELDS, -11, "values do not match the declared fields")                                                          \
    X(TYPE, -12, "wrong type of value")                                                                                \
    X(TOO_LARGE, -13, "too large")                                                                                     \
    X(IO, -14, "input or output failed")                                                                               \
    X(COMPONENT, -15, "a component reported an error")                                                                 \
    X(UNSUPPORTED, -16, "not supported")                                                                               \
    X(STATE, -17, "not possible in this state")                                                                        \
    X(TIMED_OUT, -18, "timed out")                                                                                     \
    X(THREAD, -19, "called from the wrong thread")                                                                     \
    X(CLOSED_PIPE, -20, "the reader of the output has gone")                                                           \
    X(DAMAGED, -21, "damaged")

typedef enum gale_error_code {
    GALE_OK = 0,
#define GALE_ERROR_ENUM(name, code, text) GALE_##name = (code),
    GALE_ERROR_MAP(GALE_ERROR_ENUM)
#undef GALE_ERROR_ENUM
} gale_error_code;

enum { GALE_ERROR_TEXT = 1000 };

/* A report. Initialise with GALE_ERROR_INIT; `size` lets the structure grow at its end. */
typedef struct gale_error {
    size_t size;
    int32_t code;
    uint32_t length;
    char text[GALE_ERROR_TEXT];
} gale_error;

#define GALE_ERROR_INIT                                                                                                \
    {                                                                                                                  \
        sizeof(gale_error), 0, 0, {                                                                                    \
            0                                                                                                          \
        }                                                                                                              \
    }

/* "NO_MEMORY" for GALE_NO_MEMORY; "UNKNOWN" for a number that is not in the table. Static storage. */
GALE_API const char *gale_error_name(int code);

/* "out of memory" for GALE_NO_MEMORY. Static storage. */
GALE_API const char *gale_error_text(int code);

/* Begins the report `error` (which may be NULL) with `code` and one line; what it held before is gone. Returns `code`,
 * so that a function can end with `return gale_error_set(error, GALE_INVALID, "...")`. */
GALE_API int gale_error_set(gale_error *error, int code, const char *format, ...) GALE_PRINTF(3, 4);

/* Adds a line of context to a report that holds an error; does nothing to NULL or to an empty report. Returns the
 * report's code. */
GALE_API int gale_error_add(gale_error *error, const char *format, ...) GALE_PRINTF(2, 3);

GALE_END

#endif
