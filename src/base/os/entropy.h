/* A seed from the machine's entropy. */
#ifndef GX_BASE_OS_ENTROPY_H
#define GX_BASE_OS_ENTROPY_H

#include "base/port.h"

uint64_t gx_os_entropy(void);

#endif
