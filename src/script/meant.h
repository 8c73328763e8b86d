/* Which function of the library is meant by a name that is none: "floor" means math.floor, "substr" string.sub.
 * Threads: any. Owner: the caller's memory. */
#ifndef GX_SCRIPT_MEANT_H
#define GX_SCRIPT_MEANT_H

#include "base/str.h"

/* As gx_nearest_hint. `names` are those of the library, as gx_box_names has them. */
const char *gx_meant_hint(gale_str names, gale_str said, char *out, size_t size);

/* The same for a member of a table of the library's: "string.fnd". */
const char *gx_meant_member_hint(gale_str names, gale_str table, gale_str said, char *out, size_t size);

/* The same for a function that was called as one of a value: "line.contains('x')" means contains(x, ...). */
const char *gx_meant_method_hint(gale_str names, gale_str said, char *out, size_t size);

#endif
