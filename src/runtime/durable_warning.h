/* What a durable run cannot promise, and what one that is not durable forgets: said once, at the start, by component.
 * Threads: one; no executor runs, or executor 0's when all is open. */
#ifndef GX_RUNTIME_DURABLE_WARNING_H
#define GX_RUNTIME_DURABLE_WARNING_H

#include "engine/shared.h"

/* Warns of components that do not say what they keep, and of spouts that save no position. */
void gx_durable_warning(const gx_shared *shared);

/* When all is open, and the run is not durable: warns of spouts that remember their place while what is behind them forgets
 * what came before it. */
void gx_durable_warning_forgets(const gx_shared *shared);

#endif
