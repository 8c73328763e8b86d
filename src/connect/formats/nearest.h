/* "Did you mean": the nearest of some names. Threads: one. Owner: borrows. */
#ifndef GALE_CONNECT_FORMATS_NEAREST_H
#define GALE_CONNECT_FORMATS_NEAREST_H

#include <gale/base.h>

typedef struct fmt_nearest {
    gale_str wanted, best;
    size_t distance; /* of the best */
} fmt_nearest;

fmt_nearest fmt_nearest_to(gale_str wanted);
void fmt_nearest_offer(fmt_nearest *nearest, gale_str name);

/* Writes "; did you mean 'x'?" or "" to `out`, and returns it. */
enum { FMT_HINT = 100 };
const char *fmt_nearest_hint(const fmt_nearest *nearest, char out[FMT_HINT]);

#endif
