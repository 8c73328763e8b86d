/* gale/gale.h: everything, for applications. Nothing inside gale includes this header. */
#ifndef GALE_GALE_H
#define GALE_GALE_H

#include <gale/alloc.h>
#include <gale/base.h>
#include <gale/clock.h>
#include <gale/component.h>
#include <gale/config.h>
#include <gale/connect.h>
#include <gale/error.h>
#include <gale/exec.h>
#include <gale/file.h>
#include <gale/hook.h>
#include <gale/json.h>
#include <gale/kit.h>
#include <gale/log.h>
#include <gale/metric.h>
#include <gale/net.h>
#include <gale/plugin.h>
#include <gale/remote.h>
#include <gale/rotating_map.h>
#include <gale/runtime.h>
#include <gale/state.h>
#include <gale/store.h>
#include <gale/time_cache_map.h>
#include <gale/topology.h>
#include <gale/tuple.h>
#include <gale/value.h>
#include <gale/watch.h>

#endif
