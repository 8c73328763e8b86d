/* "Did you mean": the nearest of some names. Threads: one. Owner: borrows. */
#ifndef GALE_CONNECT_FORMATS_NEAREST_H
#define GALE_CONNECT_FORMATS_NEAREST_H

#include "connect/formats/format.h"

typedef struct fmt_nearest {
    gale_str wanted, best;
    size_t distance; /* of the best */
} fmt_nearest;

fmt_nearest fmt_nearest_to(gale_str wanted);
void fmt_nearest_offer(fmt_nearest *nearest, gale_str name);

/* Writes "; did you mean 'x'?" or "" to `out`, and returns it. */
enum { FMT_HINT = 100 };
const char *fmt_nearest_hint(const fmt_nearest *nearest, char out[FMT_HINT]);

/* Of a map in which a key is none of `count` names: says which one, and the nearest name; `who` has the names. GALE_DAMAGED. */
typedef gale_str fmt_name_at_fn(const void *names, size_t index);
int fmt_unknown_name(fmt_problem *problem, gale_str who, const gale_value *map, fmt_name_at_fn *name_at,
                     const void *names, size_t count);

#endif
