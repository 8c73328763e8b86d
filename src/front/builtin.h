/* The classes of gale's own kit and file connector, with Storm's names for the same things as aliases. Static storage.
 */
#ifndef GX_FRONT_BUILTIN_H
#define GX_FRONT_BUILTIN_H

#include "front/registry.h"

const gx_registry *gx_registry_builtin(void);

#endif
