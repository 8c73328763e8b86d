/* Are two messages about the same problem? Numbers in them make no difference: "timed out after 5000 ms" and "after 5001 ms".
 *
 * What:    a number is digits, with points and commas between digits.
 * Threads: any.
 */
#ifndef GX_BASE_ALIKE_H
#define GX_BASE_ALIKE_H

#include "base/port.h"

bool gx_alike(const char *a, const char *b);

#endif
