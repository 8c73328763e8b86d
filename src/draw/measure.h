/* How wide a text is when it is drawn with a font that is not known: as wide as in the widest that are common (DejaVu Sans).
 * Threads: any. */
#ifndef GX_DRAW_MEASURE_H
#define GX_DRAW_MEASURE_H

#include "base/port.h"

#include <gale/base.h>

/* Pixels, of text that is `size` pixels high. */
int32_t gx_measure(gale_str text, int32_t size, bool bold);

#endif
