/* topology.debug: what the tasks of a component do, in the runtime's log at level info, as Storm has it: every tuple that they
 * emit and execute, and every ack and failure. A hook like an application's (gale/hook.h), so that without the key it costs
 * nothing. Threads: each task's own. */
#ifndef GX_RUNTIME_DEBUG_H
#define GX_RUNTIME_DEBUG_H

#include <gale/hook.h>

/* Static storage. It finds task and logger in the context that it is called with. */
const gale_hook *gx_debug_hook(void);

#endif
