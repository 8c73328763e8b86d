/* A time as a file says it: 2026-11-01T00:00:00Z, or an age, -1h.
 * Threads: any. */
#ifndef GALE_CONNECT_KAFKA_MOMENT_H
#define GALE_CONNECT_KAFKA_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

/* Milliseconds since 1970, or before now. */
typedef struct kafka_moment {
    int64_t ms;
    bool ago;
} kafka_moment;

/* A date; a date, T or a blank, and a time of the day, to the minute, the second or the millisecond; behind it Z or +01:00 (UTC where there is
 * none). Or a minus, and a duration: 250ms, 10s, 5m, 1h30m, 2d. False: it is none, or before 1970. */
bool kafka_moment_read(const char *text, kafka_moment *ret_moment);

/* Milliseconds since 1970, by the clock of the wall. */
int64_t kafka_moment_now(void);

#endif
