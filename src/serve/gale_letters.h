/* gale's own REST, dead letters: the newest of the run's file, and once more into the running topology.
 *
 * What:    a letter's id is its place in the file, which is only ever written at its end. A letter stays there when it is replayed: what
 *          is given up again is another one behind it.
 * Threads: as a route that waits: files are read. Limits: the last GX_LETTERS_TAIL bytes of the file; GX_LETTERS_IDS at a time.
 */
#ifndef GX_SERVE_GALE_LETTERS_H
#define GX_SERVE_GALE_LETTERS_H

#include "serve/served.h"

enum { GX_LETTERS_TAIL = 1 << 20, GX_LETTERS_IDS = 1000 };

gx_call_fn gx_gale_dead_letters;
gx_call_fn gx_gale_replay; /* {"ids": ["0", ...]} or {"all": true} */

#endif
