/* The plugins that this program has in it; cmake/plugins.cmake writes the table. */
#ifndef GX_CLI_LINKED_H
#define GX_CLI_LINKED_H

#include "front/linked_plugins.h"

extern const gx_linked_plugin gx_cli_linked[];
extern const size_t gx_cli_linked_count;

#endif
