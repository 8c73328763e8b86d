/* `components`, `spouts` and `bolts` of a Flux file: read, made and added. Bolts are made behind their sources, so that one
 * which passes fields on knows them, and added in the file's order. */
#ifndef GX_FRONT_VERTICES_H
#define GX_FRONT_VERTICES_H

#include "front/loading.h"

int gx_loading_components(gx_loading *l, const gx_yaml *root);
int gx_loading_vertices(gx_loading *l, const gx_yaml *root);

#endif
