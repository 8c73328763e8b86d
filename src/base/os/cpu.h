/* What the process may use of the machine. */
#ifndef GX_BASE_OS_CPU_H
#define GX_BASE_OS_CPU_H

#include "base/port.h"

uint32_t gx_os_cpu_count(void); /* cores that this process may run on, at least 1 */
uint64_t gx_os_cpu_cache(void); /* bytes of the second cache, which a core has for itself; at least 512 KiB */
void gx_os_cpu_relax(void);     /* a pause inside a spin */
void gx_os_cpu_yield(void);     /* lets another thread run */

#endif
