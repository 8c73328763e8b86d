/* The classes of gale's own: kit, expressions, file and socket connectors, commands, values; with Storm's names for the same things as aliases. Each table
 * stands in a file of its own. Static storage.
 */
#ifndef GX_FRONT_BUILTIN_H
#define GX_FRONT_BUILTIN_H

#include "front/registry.h"

extern const gx_class_table gx_builtin_spouts, gx_builtin_net, gx_builtin_bolts, gx_builtin_parsers, gx_builtin_sinks,
    gx_builtin_exec, gx_builtin_exec_sinks, gx_builtin_net_sinks, gx_builtin_packing, gx_builtin_spool,
    gx_builtin_spool_sinks, gx_builtin_values;
extern const gx_class_table gx_builtin_script; /* where there is libgale-script */

const gx_registry *gx_registry_builtin(void);

#endif
