/* Is a bolt that keeps something by a key grouped by that key? If not, what is equal comes to several tasks, and each
 * counts a part of it: nothing fails, and every result is wrong.
 *
 * What:    an input with FIELDS or PARTIAL_KEY grouping must go by fields that the key has, or by the first field where
 *          the class goes by that.
 * Threads: one at a time. Owner: all borrowed for the call.
 */
#ifndef GX_FRONT_KEYED_H
#define GX_FRONT_KEYED_H

#include "front/class.h"
#include "topology/builder.h"

/* A bolt of a class that has a key. */
typedef struct gx_keyed {
    const char *id;
    const gx_class *class_;
    const char *fields; /* as its parameter names them; NULL: the first field of what comes in */
} gx_keyed;

/* `fields` (names with commas between them) is what stream `output` of `source` is grouped by for the bolt.
 * GALE_TOPOLOGY when that is not its key. */
int gx_keyed_check(const gx_keyed *bolt, const char *source, const gx_output *output, const char *fields,
                   gale_error *error);

#endif
