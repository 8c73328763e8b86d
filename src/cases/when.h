/* `when` of a mock: is it about tuples that the bolt can get?
 *
 * What:    a list has as many values as an input has fields, a map names fields of one; ticks are an input where they are asked for.
 * Threads: one at a time. Owner: keeps nothing.
 */
#ifndef GX_CASES_WHEN_H
#define GX_CASES_WHEN_H

#include "front/shape.h"
#include "topology/builder.h"

/* `node` is a list or a map. GALE_FIELDS or GALE_NOT_FOUND, with the place and the nearest field. */
int gx_when_check(const gx_yaml_doc *doc, const gale_topology *topology, const gx_component *bolt, const gx_yaml *node,
                  gale_error *error);

#endif
