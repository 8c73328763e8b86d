/* The inline functions of the public headers once more, as functions that libgale exports under their own names: for
 * languages that call functions but cannot include a header. Whoever includes the headers keeps copies of his own, so
 * nothing here is on anybody's way. A header with a GALE_INLINE that is missing below shows in meta/symbols. */
#include <gale/base.h>

#undef GALE_INLINE
#define GALE_INLINE GALE_API

/* Their only declaration is the definition in the header. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include <gale/component.h>
#include <gale/metric.h>
#include <gale/plugin.h>
#include <gale/remote.h>
#include <gale/state.h>
#include <gale/time_cache_map.h>
#include <gale/topology.h>
#include <gale/tuple.h>
#include <gale/value.h>
#include <gale/watch.h>
