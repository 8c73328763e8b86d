/* The key `plugins` of a topology file: a list of names and paths, which are beside the file that has it. */
#ifndef GX_FRONT_PLUGIN_KEY_H
#define GX_FRONT_PLUGIN_KEY_H

#include "front/loading.h"

/* Loads them, before a class is looked for. From then on the loading knows their classes. */
int gx_loading_plugins(gx_loading *l, const gx_yaml *root);

#endif
