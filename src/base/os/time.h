/* The machine's clocks. */
#ifndef GX_BASE_OS_TIME_H
#define GX_BASE_OS_TIME_H

#include "base/port.h"

int64_t gx_os_monotonic(void);  /* ns */
int64_t gx_os_wall(void);       /* ns since 1970, UTC */
int64_t gx_os_thread_cpu(void); /* ns that the calling thread has computed */

/* The monotonic moment in so many ns; negative, or beyond what a clock can say: the end of time, INT64_MAX. */
int64_t gx_os_deadline(int64_t nanoseconds);

#endif
