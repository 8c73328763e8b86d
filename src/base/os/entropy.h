/* Seeds and secrets from the machine's entropy. */
#ifndef GX_BASE_OS_ENTROPY_H
#define GX_BASE_OS_ENTROPY_H

#include "base/port.h"

uint64_t gx_os_entropy(void);

/* Bytes that nobody can guess. False: the system has none to give. */
bool gx_os_secret(void *bytes, size_t size);

#endif
