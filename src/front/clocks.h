/* Time and order in a topology file: what goes by the tuples' own time, and what keeps keys apart, gives wrong results without
 * a word where tuples come to it another way than it thinks.
 *
 *     clock --tuples, watermark--> window            as it must be
 *     clock --tuples--> map --> window               refused: the watermark, which comes straight, overtakes what is in `map`
 *     parse (2 tasks) --> clock                      warned of: in which order they come depends on how tasks run
 *     parse --SHUFFLE--> window (2 tasks, by key)    warned of: each keeps a part of what is equal
 *     lines --SHUFFLE--> join (2 tasks)              warned of: lines that belong together come to several tasks
 *
 * Threads: one at a time. Owner: all borrowed for the call. */
#ifndef GX_FRONT_CLOCKS_H
#define GX_FRONT_CLOCKS_H

#include "front/loading.h"

/* When all components and streams are there. GALE_TOPOLOGY for what cannot be right; the rest is warned of. */
int gx_clocks_check(const gx_loading *l);

#endif
